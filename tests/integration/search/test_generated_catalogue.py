"""The benchmark's catalogue: the database and the importer take what it makes up, and its questions find something."""

from pathlib import Path

import psycopg

from local.bench.catalogue import SHARES, Writer, generate
from local.bench.catalogue_import import write_files
from local.bench.search import SEARCHES, make_question
from oria_runtime.catalog.loading.mapping import ColumnMapping
from oria_runtime.catalog.loading.rows import KINDS, CatalogRow
from oria_runtime.catalog.loading.sources import Source
from oria_runtime.db.pool import Pool, TenantDatabase
from tests.support.database import DatabaseUrls

SIZES = {"skills": 200, "jobs": 60, "trainings": 300, "opportunities": 500, "people": 500}


def read_hnsw_indexes(url: str) -> int:
    with psycopg.connect(url) as connection:
        [row] = connection.execute("select count(*) from pg_indexes where indexdef like '%USING hnsw%'").fetchall()
    return int(row[0])


async def test_every_search_finds_something_in_a_generated_catalogue(pool: Pool, database_urls: DatabaseUrls) -> None:
    indexes = read_hnsw_indexes(database_urls.owner)
    catalogue = generate(database_urls.owner, lambda _: None, sizes=SIZES)
    assert read_hnsw_indexes(database_urls.owner) == indexes > 0
    assert len(catalogue.tenants) == len(SHARES)
    found = dict.fromkeys(SEARCHES, 0)
    for name, search in SEARCHES.items():
        for _ in range(10):
            async with TenantDatabase(pool, catalogue.tenants[0]).transaction() as connection:
                rows = await search(connection, make_question(catalogue.writer))
            found[name] += sum(row is not None for row in rows)
    assert min(found.values()) > 0, found


def test_the_importer_takes_every_row_of_the_files(tmp_path: Path) -> None:
    for kind, path in write_files(tmp_path, Writer(2)).items():
        rows = [row for _, row in Source(KINDS[kind], path, "ndjson", ColumnMapping()).rows()]
        assert rows
        assert all(isinstance(row, CatalogRow) for row in rows), kind


def test_the_same_seed_makes_the_same_questions() -> None:
    assert make_question(Writer(7)) == make_question(Writer(7))
    assert make_question(Writer(7)) != make_question(Writer(8))
