"""Knowledge of a tenant: sources, refreshes, content, the index and its search."""
