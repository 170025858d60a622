"""Loads the tenant `northwind`, a logistics company that does not exist, through the importer that customers use."""

import asyncio
from hashlib import sha256
from pathlib import Path
from uuid import UUID

from oria_runtime.catalog.loading.embedding import Embedder
from oria_runtime.catalog.loading.errors import ErrorLog, ImportStoppedError
from oria_runtime.catalog.loading.mapping import ColumnMapping
from oria_runtime.catalog.loading.rows import KINDS
from oria_runtime.catalog.loading.run import import_rows
from oria_runtime.catalog.loading.sources import Source
from oria_runtime.catalog.loading.tenants import import_tenants
from oria_runtime.db.pool import TenantDatabase, create_pool

DATA = Path(__file__).with_name("data")
# Files to upload into a conversation; documents belong to conversations and are not imported.
DOCUMENTS = Path(__file__).with_name("documents")
# Documents of the company, for its knowledge: `make knowledge` serves them.
HANDBOOK = Path(__file__).with_name("handbook")
IMPORTED = ("trainings", "jobs", "opportunities", "people", "skills")
SLUG = "northwind"
# The id in data/tenant.ndjson, fixed so that tokens and bookmarks outlive a fresh database.
TENANT_ID = UUID("0b9d5f3e-6c1a-4a57-9c3e-2f7d1e4a8b60")
DEMO_USER = "amira.haddad"
# People without anything to say about them: only a name; not even that.
EMPTY_USERS = ("noor.visser", "temp.0417")


def read_version() -> str:
    """A digest of the data files: another one means that a database with an older one lacks something."""
    digest = sha256()
    for path in sorted(DATA.glob("*.ndjson")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


async def load_sample_tenant(app_url: str, models: Embedder) -> UUID:
    """Bring the sample tenant up to date and return its id; unchanged rows are neither written nor embedded again.

    `app_url` is of the application role, `models` embeds. Raises ImportStoppedError for a row that is not taken.
    """
    log = ErrorLog()
    async with create_pool(app_url, max_size=2, name="oria-sample") as pool:
        await import_tenants(pool, read_source("tenant"), log, strict=True, dry_run=False)
        database = TenantDatabase(pool, TENANT_ID)
        await import_kinds(database, models, log)
    if log.rows:
        raise ImportStoppedError(f"the sample tenant has {log.rows} bad rows, first: {log.first[0]}")
    return TENANT_ID


async def import_kinds(database: TenantDatabase, models: Embedder, log: ErrorLog) -> None:
    """Every kind at once: none waits for rows of another, and Postgres indexes vectors while the model makes more.

    Raises the first failure of a kind; the other kinds are cancelled.
    """
    try:
        async with asyncio.TaskGroup() as group:
            for kind in IMPORTED:
                group.create_task(import_rows(database, read_source(kind), models, log))
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from failures


def read_source(kind: str) -> Source:
    """One of the data files."""
    name = f"{kind}.ndjson"
    return Source(KINDS[kind], DATA / name, "ndjson", ColumnMapping())
