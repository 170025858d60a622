"""One import from file to catalog: check all, then write batch by batch."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from oria_runtime.catalog.loading.batches import import_batch
from oria_runtime.catalog.loading.checks import check_rows
from oria_runtime.catalog.loading.embedding import Embedder
from oria_runtime.catalog.loading.errors import ErrorLog, ImportStoppedError
from oria_runtime.catalog.loading.ledger import Ledger, open_ledger
from oria_runtime.catalog.loading.rows import CatalogRow
from oria_runtime.catalog.loading.sources import Source
from oria_runtime.catalog.loading.summary import Summary
from oria_runtime.db.pool import TenantDatabase

# Bounds memory (a row may be some 40 kB with its vector) and a statement's time: the vector index takes 3 ms a row
BATCH_ROWS = 256

Progress = Callable[[Summary], None]


def stay_silent(_: Summary) -> None:
    """The progress of an import that nobody watches."""


@dataclass(frozen=True)
class ImportOptions:
    """How to import. `strict`: write nothing when any row has an error. `dry_run`: write nothing at all."""

    strict: bool = False
    dry_run: bool = False
    batch_rows: int = BATCH_ROWS


async def import_rows(
    database: TenantDatabase,
    source: Source,
    embedder: Embedder,
    log: ErrorLog,
    *,
    options: ImportOptions = ImportOptions(),
    progress: Progress = stay_silent,
) -> Summary:
    """Import people, skills, jobs, trainings or opportunities into a tenant's catalog.

    `progress` is called after each batch with what has been done so far. Rows with errors go to `log` and are left out.
    Raises ImportStoppedError, or the model's or the database's error; what was written until then stays.
    """
    started = time.monotonic()
    summary = Summary()
    with open_ledger() as ledger:
        await check_rows(database, source, ledger, log)
        summary.failed = log.rows
        if not (options.strict and log.rows):
            for batch in read_batches(source, ledger, options.batch_rows):
                done = await import_batch(database, source.kind, batch, embedder, dry_run=options.dry_run)
                add_counts(summary, done)
                summary.seconds = time.monotonic() - started
                progress(summary)
    summary.seconds = time.monotonic() - started
    return summary


def read_batches(source: Source, ledger: Ledger, size: int) -> Iterator[list[CatalogRow]]:
    """The accepted rows, read for the second time."""
    batch: list[CatalogRow] = []
    for number, row in source.rows():
        if ledger.is_rejected(number):
            continue
        if not isinstance(row, CatalogRow):
            raise ImportStoppedError(f"row {number} changed while it was imported: run the import again")
        batch.append(row)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def add_counts(summary: Summary, done: Summary) -> None:
    """Add a batch to the sum."""
    summary.inserted += done.inserted
    summary.updated += done.updated
    summary.unchanged += done.unchanged
    summary.embedded += done.embedded
