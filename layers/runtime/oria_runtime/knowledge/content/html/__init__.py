"""Web pages: the parsed page, its main part, its sections, links and what its head says."""
