"""Row ids are derived from the customer's ids, so that importing a file again finds the same rows."""

from uuid import UUID, uuid5

TENANTS = UUID("6f0c1a3e-5d0b-5c52-9d0c-0f1a7b6f2a11")


def derive_tenant_id(slug: str) -> UUID:
    """The id of a tenant whose file names none."""
    return uuid5(TENANTS, slug)


def derive_row_id(tenant_id: UUID, kind: str, external_id: str) -> UUID:
    """The id of a person, skill, job, training or opportunity of a tenant."""
    return uuid5(tenant_id, f"{kind}:{external_id}")
