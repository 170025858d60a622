"""`python -m oria_runtime.catalog.importer`: loads a customer's file into the catalog (docs/import.md).

Exit codes: 0 everything was taken; 1 some rows have errors; 2 the import could not start or had to stop.
"""

import argparse
import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import psycopg
from psycopg_pool import PoolTimeout

from oria_runtime.catalog.loading.embedding import Embedder
from oria_runtime.catalog.loading.errors import ErrorLog, ImportStoppedError
from oria_runtime.catalog.loading.files import guess_format
from oria_runtime.catalog.loading.mapping import load_mapping
from oria_runtime.catalog.loading.rows import KINDS
from oria_runtime.catalog.loading.run import ImportOptions, import_rows
from oria_runtime.catalog.loading.sources import Source
from oria_runtime.catalog.loading.summary import Summary
from oria_runtime.catalog.loading.tenants import find_tenant, import_tenants
from oria_runtime.db.pool import Pool, TenantDatabase, create_pool
from oria_runtime.errors import OriaError
from oria_runtime.settings import ModelSettings
from oria_runtime.tenancy.tenants import read_tenant

EPILOG = """\
examples:
  %(prog)s --kind tenant --file acme.ndjson
  %(prog)s --kind trainings --tenant acme --file trainings.csv
  %(prog)s --kind jobs --tenant acme --file occupations.csv --mapping esco_occupations.json --errors errors.ndjson

Import in this order: tenant, skills, jobs, trainings, opportunities, people. Repeating an import is safe: rows that did
not change are not written and not embedded again, so a stopped import goes on where it stopped. docs/import.md has the
columns.
"""


def build_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m oria_runtime.catalog.importer",
        description="Load a CSV or NDJSON file into a tenant's catalog.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--kind", required=True, choices=list(KINDS), help="what the rows are")
    parser.add_argument("--file", required=True, type=Path, help="UTF-8, with or without a byte order mark")
    parser.add_argument("--tenant", default="northwind", help="slug or id of the tenant (default: %(default)s)")
    parser.add_argument("--format", choices=["csv", "ndjson"], help="default: by the file's extension")
    parser.add_argument("--mapping", type=Path, help="JSON file: your columns, constants, separators, values")
    parser.add_argument("--errors", type=Path, help="write every error to this file as NDJSON")
    parser.add_argument("--show-errors", type=int, default=20, metavar="N", help="errors to print (%(default)s)")
    parser.add_argument("--strict", action="store_true", help="write nothing when any row has an error")
    parser.add_argument("--dry-run", action="store_true", help="check and compare, write nothing")
    parser.add_argument("--database-url", help="of the application role (default: the variable DATABASE_URL)")
    return parser


def main(arguments: Sequence[str] | None = None, environ: Mapping[str, str] = os.environ) -> int:
    """Parse, import, report. Returns the exit code."""
    options = build_parser().parse_args(arguments)
    try:
        return asyncio.run(run(options, environ))
    except OriaError as error:
        reason = error.detail
    except OSError as error:
        reason = f"{error.filename or options.file}: {error.strerror or error}"
    except (psycopg.OperationalError, PoolTimeout) as error:
        reason = f"the database stopped answering ({error})"
    except KeyboardInterrupt:
        reason = "interrupted"
    print(f"import stopped: {reason}", file=sys.stderr)
    print("Nothing is half done; run the same command again when this is settled.", file=sys.stderr)
    return 2


async def run(options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Import one file and print the report."""
    url = options.database_url or environ.get("DATABASE_URL")
    if not url:
        raise ImportStoppedError("no database: give --database-url, or set DATABASE_URL (`make run` prints it)")
    await check_database(url)
    kind = KINDS[options.kind]
    mapping = load_mapping(options.mapping)
    mapping.check(kind)
    source = Source(kind, options.file, options.format or guess_format(options.file), mapping)
    with ExitStack() as stack:
        file = stack.enter_context(options.errors.open("w", encoding="utf-8")) if options.errors else None
        log = ErrorLog(shown=options.show_errors, file=file)
        async with create_pool(url, max_size=2, name="oria-import") as pool:
            summary = await import_source(pool, source, log, options, environ)
    report(summary, log, options)
    return 1 if log.rows else 0


async def check_database(url: str) -> None:
    """Say at once why a database cannot be reached; the pool would only say, after its timeout, that it had none."""
    try:
        async with await psycopg.AsyncConnection.connect(url, connect_timeout=5):
            return
    except psycopg.Error as error:
        raise ImportStoppedError(f"cannot connect ({error}): check --database-url or DATABASE_URL") from error


async def import_source(
    pool: Pool, source: Source, log: ErrorLog, options: argparse.Namespace, environ: Mapping[str, str]
) -> Summary:
    """Tenants go their own way: no tenant is set before they exist, and nothing of them is embedded."""
    if source.kind.name == "tenant":
        return await import_tenants(pool, source, log, strict=options.strict, dry_run=options.dry_run)
    database = TenantDatabase(pool, await find_tenant(pool, options.tenant))
    return await import_rows(
        database,
        source,
        await build_embedder(database, environ),
        log,
        options=ImportOptions(strict=options.strict, dry_run=options.dry_run),
        progress=show_progress,
    )


async def build_embedder(database: TenantDatabase, environ: Mapping[str, str]) -> Embedder:
    """The embedding model that the tenant's searches use."""
    from oria_runtime.models.client import build_models

    async with database.transaction() as connection:
        tenant = await read_tenant(connection, database.tenant_id)
    return build_models(ModelSettings.from_environ(environ), tenant.config, environ=environ)


def show_progress(summary: Summary) -> None:
    """One line that a terminal overwrites."""
    end = "\r" if sys.stderr.isatty() else "\n"
    rate = f"{summary.rows_per_second:,.0f} rows/s"
    print(f"{summary.rows:>9,} rows  {rate:>14}  {summary.embedded:>9,} embedded", end=end, file=sys.stderr, flush=True)


def report(summary: Summary, log: ErrorLog, options: argparse.Namespace) -> None:
    """The first errors on stderr, the sum on stdout."""
    for error in log.first:
        column = f", {error.column}" if error.column else ""
        print(f"row {error.row}{column}: {error.reason}", file=sys.stderr)
    if log.rows:
        hint = f"all errors: {options.errors}" if options.errors else "add --errors FILE to keep all of them"
        print(f"{log.rows:,} rows have errors ({hint})", file=sys.stderr)
    if log.rows and options.strict:
        print("nothing was written, because of --strict", file=sys.stderr)
    would = "would be " if options.dry_run else ""
    print(
        f"{options.kind}: {would}inserted {summary.inserted:,}, updated {summary.updated:,}, "
        f"unchanged {summary.unchanged:,}, failed {summary.failed:,}, embedded {summary.embedded:,} "
        f"in {summary.seconds:.1f} s ({summary.rows_per_second:,.0f} rows/s)"
    )


if __name__ == "__main__":
    sys.exit(main())
