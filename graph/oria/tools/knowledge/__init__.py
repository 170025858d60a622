"""Research in a tenant's knowledge: what was read as evidence, pages by opaque ids, and their budget."""
