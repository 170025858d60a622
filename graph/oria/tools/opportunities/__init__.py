"""The parts of `search_opportunities_tool` and `suggest_opportunities_based_on_objective_tool`."""
