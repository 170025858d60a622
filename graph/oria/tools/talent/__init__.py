"""The parts of `talent_finder_tool` and `person_disambiguation_tool`."""
