"""Which schema a database has, and which one this release needs. Health and the migrator compare the two."""

from pathlib import Path
from typing import Any, LiteralString

from psycopg import AsyncConnection, errors
from psycopg.rows import DictRow

VERSIONS = Path(__file__).with_name("migrations") / "versions"

# The ledgers of the pinned LangGraph packages: constants, because functions without the graph layer compare them too.
# A test holds them against the installed packages.
VENDOR_HEADS = {"checkpoints": 9, "store": 3}

LEDGERS: dict[str, LiteralString] = {
    "schema": "select max(version_num) as version from alembic_version",
    "checkpoints": "select max(v) as version from checkpoint_migrations",
    "store": "select max(v) as version from store_migrations",
}


async def read_versions(connection: AsyncConnection[DictRow]) -> dict[str, Any]:
    """`{schema, checkpoints, store}`: what the ledgers say, None where a ledger is missing."""
    found: dict[str, Any] = {}
    for name, query in LEDGERS.items():
        try:
            async with connection.transaction():
                row = await (await connection.execute(query)).fetchone()
        except (errors.UndefinedTable, errors.InsufficientPrivilege):
            row = None
        found[name] = row["version"] if row else None
    return found


def fits(found: dict[str, Any]) -> bool:
    """Whether a database has at least what this release needs: after a rollback of the code it is ahead, and serves."""
    return all(found[name] is not None and found[name] >= version for name, version in expected_versions().items())


def expected_versions() -> dict[str, Any]:
    """What `read_versions` gives when the database fits this release."""
    return {"schema": max(path.stem[:4] for path in VERSIONS.glob("0*.py"))} | VENDOR_HEADS
