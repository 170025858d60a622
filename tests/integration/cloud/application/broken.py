"""A module that cannot be imported: the function's init phase fails."""

raise RuntimeError("the init phase fails")
