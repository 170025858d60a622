"""The occupations of ESCO by the shipped mapping; skipped where their file is not beside the repository."""

from itertools import islice
from pathlib import Path

import pytest

from oria_runtime.catalog.jobs import read_jobs
from oria_runtime.catalog.loading.mapping import load_mapping
from oria_runtime.db.pool import TenantDatabase
from tests.integration.catalog.files import fetch, import_path

ROOT = Path(__file__).parents[3]
OCCUPATIONS = ROOT.parent / "shared" / "data" / "esco" / "occupations_en.csv"
MAPPING = ROOT / "local" / "sample_tenant" / "mappings" / "esco_occupations.json"
DIRECTOR = "http://data.europa.eu/esco/occupation/00030d09-2b3a-4efd-87cc-c4ea39d27c34"

pytestmark = pytest.mark.skipif(not OCCUPATIONS.exists(), reason="../shared/data/esco/occupations_en.csv is not there")


async def test_every_occupation_is_a_job_that_can_be_taken(database: TenantDatabase) -> None:
    summary, log = await import_path(database, "jobs", OCCUPATIONS, mapping=load_mapping(MAPPING), dry_run=True)
    assert (summary.inserted, log.rows) == (2942, 0)
    assert await fetch(database, "select 1 from jobs") == []


async def test_occupations_become_jobs_once(database: TenantDatabase, tmp_path: Path) -> None:
    path = tmp_path / "occupations.csv"
    # Alternative titles span lines. Each has a vector of its own, and all 35,000 of them would take minutes.
    with OCCUPATIONS.open(encoding="utf-8", newline="") as file:
        path.write_text("".join(islice(file, 900)).rpartition("\nOccupation")[0] + "\n", encoding="utf-8")
    summary, log = await import_path(database, "jobs", path, mapping=load_mapping(MAPPING))
    assert summary.inserted >= 50
    assert (summary.embedded >= summary.inserted, log.first) == (True, [])
    async with database.transaction() as connection:
        [job] = await read_jobs(connection, [DIRECTOR])
    assert job.title == "technical director"
    assert job.classification_code == "2166"
    assert "head of technical" in job.alternative_titles
    assert job.description.startswith("Technical directors realise")
    again, _ = await import_path(database, "jobs", path, mapping=load_mapping(MAPPING))
    assert (again.unchanged, again.embedded) == (summary.inserted, 0)
    [found] = await fetch(database, "select count(*) as n from job_titles where embedding is not null")
    assert found["n"] == summary.embedded
