"""The first reading of a file: every row is checked before anything is written."""

from oria_runtime.catalog.loading.errors import ErrorLog, RowError, RowRejectedError
from oria_runtime.catalog.loading.ledger import Ledger
from oria_runtime.catalog.loading.lineage import find_broken_links
from oria_runtime.catalog.loading.rows import CatalogRow
from oria_runtime.catalog.loading.sources import Source
from oria_runtime.db.pool import TenantDatabase


async def check_rows(database: TenantDatabase, source: Source, ledger: Ledger, log: ErrorLog) -> None:
    """Note in the ledger which rows are rejected, and in the log why."""
    children: dict[str, tuple[int, tuple[str, ...]]] = {}
    for number, row in source.rows():
        if isinstance(row, RowRejectedError):
            reject_row(ledger, log, number, *row.errors)
        elif isinstance(row, CatalogRow):
            if (first := ledger.claim(row.external_id, number)) is not None:
                column = source.mapping.describe("external_id")
                reject_row(ledger, log, number, RowError(number, column, f"the same id as in row {first}"))
            elif parents := row.parent_ids():
                children[row.external_id] = (number, parents)
    links = {child: parents for child, (_, parents) in children.items()}
    column = source.mapping.describe("parents")
    for child, reason in (await find_broken_links(database, links, ledger)).items():
        number = children[child][0]
        reject_row(ledger, log, number, RowError(number, column, reason))


def reject_row(ledger: Ledger, log: ErrorLog, number: int, *errors: RowError) -> None:
    """Keep a row from being written and say why."""
    ledger.reject(number)
    log.add(errors)
