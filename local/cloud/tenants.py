"""Which tenants of this data folder have a short name, for tokens."""

import json
from pathlib import Path
from uuid import UUID

from local.sample_tenant.load import SLUG, TENANT_ID


class UnknownTenantError(Exception):
    """No tenant of that name was loaded into this data folder."""


class Tenants:
    """Tenant ids by slug, kept in the data folder so that `make token` works while the cloud does not run.

    The sample tenant's id is known before it is loaded.
    """

    def __init__(self, data: Path) -> None:
        self._path = data / "tenants.json"

    def read(self) -> dict[str, str]:
        return dict(json.loads(self._path.read_text())) if self._path.exists() else {}

    def write(self, slug: str, tenant_id: UUID) -> None:
        self._path.write_text(json.dumps(self.read() | {slug: str(tenant_id)}))

    def find(self, tenant: str | None) -> str:
        """The id of a tenant named by id or slug; None is the sample tenant. Raises UnknownTenantError."""
        name = tenant or SLUG
        try:
            return str(UUID(name))
        except ValueError:
            known = {SLUG: str(TENANT_ID)} | self.read()
        if name not in known:
            raise UnknownTenantError(
                f"no tenant {name} was loaded here; name one by its id, or by a slug of {', '.join(known)}"
            )
        return known[name]
