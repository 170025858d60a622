"""The sample tenant: large enough, coherent, and loaded once."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from local.sample_tenant.load import DATA, DEMO_USER, EMPTY_USERS, TENANT_ID, load_sample_tenant
from oria_runtime.catalog.people import read_profile
from oria_runtime.catalog.trainings import read_trainings
from oria_runtime.db.pool import Pool, TenantDatabase
from oria_runtime.tenancy.tenants import read_tenant
from tests.integration.catalog.files import SeededEmbedder, fetch
from tests.support.database import DatabaseUrls


def read_rows(kind: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(DATA / f"{kind}.ndjson").read_text(encoding="utf-8").splitlines()]


async def test_it_is_loaded_once_and_stays(pool: Pool, database_urls: DatabaseUrls) -> None:
    embedder = SeededEmbedder()
    assert await load_sample_tenant(database_urls.app, embedder) == TENANT_ID
    first = len(embedder.texts)
    assert await load_sample_tenant(database_urls.app, embedder) == TENANT_ID
    assert len(embedder.texts) == first
    database = TenantDatabase(pool, TENANT_ID)
    least = {"people": 60, "skills": 150, "jobs": 80, "trainings": 200, "training_parents": 50}
    for table, expected in least.items():
        [found] = await fetch(database, f"select count(*) as n from {table}")
        assert found["n"] >= expected, table
    for table in ("skills", "jobs", "trainings"):
        assert await fetch(database, f"select 1 from {table} where embedding is null") == []
    async with database.transaction() as connection:
        tenant = await read_tenant(connection, TENANT_ID)
        amira = await read_profile(connection, DEMO_USER)
        empty = [await read_profile(connection, user) for user in EMPTY_USERS]
        assert amira is not None
        history = await read_trainings(connection, [r.id for r in amira.training_history], include_inactive=True)
    assert (tenant.slug, tenant.config.company_name, tenant.config.chatbot.agents) == (
        "northwind",
        "Northwind Logistics",
        None,
    )
    sections = (amira.skills, amira.gaps, amira.objectives, amira.experiences, amira.bookmarks, amira.interests)
    assert all(sections)
    assert len(history) == len(amira.training_history)
    assert all(profile is not None and profile.is_empty for profile in empty)


def test_everything_that_is_named_exists() -> None:
    skills = {row["external_id"] for row in read_rows("skills")}
    jobs = {row["external_id"]: row for row in read_rows("jobs")}
    trainings = {row["external_id"]: row for row in read_rows("trainings")}
    for job in jobs.values():
        assert {skill["code"] for skill in job["skills"]} <= skills
    for training in trainings.values():
        assert set(training["skills"]) <= skills
        assert set(training.get("parents", ())) <= trainings.keys()
    for person in read_rows("people"):
        objectives = [skill for objective in person.get("objectives", ()) for skill in objective["skills"]]
        named = [*person.get("skills", ()), *person.get("gaps", ()), *objectives]
        assert {skill["code"] for skill in named} <= skills
        assert {record["id"] for record in person.get("training_history", ())} <= trainings.keys()
        assert set(person.get("mandatory_training_ids", ())) <= trainings.keys()
        if "job_code" in person:
            assert jobs[person["job_code"]]["title"] == person["job_title"]
        for bookmark in person.get("bookmarks", ()):
            assert bookmark["id"] in (trainings if bookmark["kind"] == "training" else jobs)


def test_there_is_something_in_every_language_and_format() -> None:
    trainings = read_rows("trainings")
    languages = Counter(row["language"] for row in trainings)
    assert languages["fr"] >= 50
    assert languages["es"] >= 10
    assert {row["format"] for row in trainings} == {
        "online", "video", "virtual_class", "classroom", "blended", "on_the_job",
    }  # fmt: skip
    titles = [row["title"] for row in trainings]
    assert len(set(titles)) == len(titles)
    assert {row["language"] for row in read_rows("people")} == {"en", "fr", "es"}
    assert any(not row.get("active", True) for row in trainings)
