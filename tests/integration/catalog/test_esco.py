"""The occupations of ESCO by the shipped mapping; skipped where their file is not beside the repository."""

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


@pytest.mark.skipif(not OCCUPATIONS.exists(), reason="../shared/data/esco/occupations_en.csv is not there")
async def test_all_occupations_become_jobs(database: TenantDatabase) -> None:
    summary, log = await import_path(database, "jobs", OCCUPATIONS, mapping=load_mapping(MAPPING))
    assert (summary.inserted, summary.embedded, log.rows) == (2942, 2942, 0)
    async with database.transaction() as connection:
        [job] = await read_jobs(connection, [DIRECTOR])
    assert job.title == "technical director"
    assert job.classification_code == "2166"
    assert "head of technical" in job.alternative_titles
    assert job.description.startswith("Technical directors realise")
    again, _ = await import_path(database, "jobs", OCCUPATIONS, mapping=load_mapping(MAPPING))
    assert (again.unchanged, again.embedded) == (2942, 0)
    [found] = await fetch(database, "select count(*) as n from jobs where embedding is not null")
    assert found["n"] == 2942
