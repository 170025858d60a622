"""The import gives every title of a job an embedding of its own, once."""

from pathlib import Path
from typing import Any

import pytest

from oria_runtime.catalog.job_search import match_jobs
from oria_runtime.db.pool import TenantDatabase
from oria_runtime.errors import UnavailableError
from tests.integration.catalog.files import SeededEmbedder, fetch, import_path, write_ndjson

JOBS: list[dict[str, Any]] = [
    {"external_id": "A", "title": "Data analyst", "alternative_titles": ["Reporting analyst", "DATA ANALYST"]},
    {"external_id": "B", "title": "Welder", "description": "Joins metal"},
]
TITLES = {"Data analyst", "Reporting analyst", "Welder"}


async def read_titles(database: TenantDatabase, model: str) -> set[str]:
    query = "select title from job_titles where embedding is not null and embedding_model = %s"
    return {row["title"] for row in await fetch(database, query, model)}


async def test_titles_are_embedded_once_and_again_for_another_model(database: TenantDatabase, tmp_path: Path) -> None:
    path = write_ndjson(tmp_path / "jobs.ndjson", JOBS)
    first, second = SeededEmbedder(), SeededEmbedder("seeded-2")
    summary, _ = await import_path(database, "jobs", path, first)
    assert await read_titles(database, "seeded-1") == TITLES
    assert summary.embedded == len(first.texts) == len(TITLES)
    again, _ = await import_path(database, "jobs", path, first)
    assert again.embedded == 0
    await import_path(database, "jobs", path, second)
    assert await read_titles(database, "seeded-2") == TITLES


async def test_a_new_alternative_title_is_the_only_title_embedded(database: TenantDatabase, tmp_path: Path) -> None:
    await import_path(database, "jobs", write_ndjson(tmp_path / "jobs.ndjson", JOBS))
    changed = [JOBS[0] | {"alternative_titles": ["Insight analyst"]}, JOBS[1]]
    embedder = SeededEmbedder()
    await import_path(database, "jobs", write_ndjson(tmp_path / "changed.ndjson", changed), embedder)
    assert embedder.texts == ["Insight analyst"]
    assert await read_titles(database, "seeded-1") == {"Data analyst", "Insight analyst", "Welder"}


async def test_titles_that_a_stopped_import_left_out_are_embedded_by_the_next(
    database: TenantDatabase, tmp_path: Path
) -> None:
    path = write_ndjson(tmp_path / "jobs.ndjson", JOBS)
    with pytest.raises(UnavailableError):
        await import_path(database, "jobs", path, SeededEmbedder(fails_after=0))
    assert await read_titles(database, "seeded-1") == set()
    summary, _ = await import_path(database, "jobs", path)
    assert (summary.unchanged, summary.embedded) == (2, 3)
    assert await read_titles(database, "seeded-1") == TITLES


async def test_imported_titles_are_mapped_by_their_own_embedding(database: TenantDatabase, tmp_path: Path) -> None:
    await import_path(database, "jobs", write_ndjson(tmp_path / "jobs.ndjson", JOBS))
    vector = SeededEmbedder().embed_one("Reporting analyst")
    async with database.transaction() as connection:
        [found] = await match_jobs(connection, ["another wording"], [vector], "seeded-1", threshold=0.99)
    assert found is not None
    assert (found.mapped_title, found.job_code) == ("Data analyst", "A")


async def test_a_dry_run_embeds_no_title(database: TenantDatabase, tmp_path: Path) -> None:
    embedder = SeededEmbedder()
    await import_path(database, "jobs", write_ndjson(tmp_path / "jobs.ndjson", JOBS), embedder, dry_run=True)
    assert embedder.texts == []
