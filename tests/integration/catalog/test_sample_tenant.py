"""The sample tenant: large enough, coherent, and loaded once."""

import json
from collections import Counter
from pathlib import Path
from typing import Any, get_args

from local.sample_tenant.load import DATA, DEMO_USER, EMPTY_USERS, TENANT_ID, load_sample_tenant
from oria_runtime.catalog.fields import WorkMode
from oria_runtime.catalog.opportunities import EmploymentType, OpportunityKind, read_opportunities
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
    least = {
        "people": 75, "skills": 150, "jobs": 80, "trainings": 200, "training_parents": 50, "opportunities": 120,
    }  # fmt: skip
    for table, expected in least.items():
        [found] = await fetch(database, f"select count(*) as n from {table}")
        assert found["n"] >= expected, table
    for table in ("skills", "job_titles", "trainings", "opportunities"):
        assert await fetch(database, f"select 1 from {table} where embedding is null") == []
    async with database.transaction() as connection:
        tenant = await read_tenant(connection, TENANT_ID)
        amira = await read_profile(connection, DEMO_USER)
        empty = [await read_profile(connection, user) for user in EMPTY_USERS]
        assert amira is not None
        history = await read_trainings(connection, [r.id for r in amira.training_history], include_inactive=True)
        kept = [bookmark.id for bookmark in amira.bookmarks if bookmark.kind == "opportunity"]
        bookmarked = await read_opportunities(connection, kept)
    assert (tenant.slug, tenant.config.company_name, tenant.config.chatbot.agents) == (
        "northwind",
        "Northwind Logistics",
        None,
    )
    sections = (amira.skills, amira.gaps, amira.objectives, amira.experiences, amira.bookmarks, amira.interests)
    assert all(sections)
    assert len(history) == len(amira.training_history)
    assert kept
    assert [opportunity.id for opportunity in bookmarked] == kept
    assert all(profile is not None and profile.is_empty for profile in empty)


def test_everything_that_is_named_exists() -> None:
    skills = {row["external_id"]: row["label"] for row in read_rows("skills")}
    jobs = {row["external_id"]: row for row in read_rows("jobs")}
    trainings = {row["external_id"]: row for row in read_rows("trainings")}
    opportunities = {row["external_id"]: row for row in read_rows("opportunities")}
    for job in jobs.values():
        assert {skill["code"] for skill in job["skills"]} <= skills.keys()
    for training in trainings.values():
        assert set(training["skills"]) <= skills.keys()
        assert set(training.get("parents", ())) <= trainings.keys()
    for opportunity in opportunities.values():
        assert all(skills[skill["code"]] == skill["label"] for skill in opportunity["skills"])
        assert opportunity["job_code"] in jobs
    catalogs = {"training": trainings, "job": jobs, "opportunity": opportunities}
    for person in read_rows("people"):
        objectives = [skill for objective in person.get("objectives", ()) for skill in objective["skills"]]
        named = [*person.get("skills", ()), *person.get("gaps", ()), *objectives]
        assert all(skills[skill["code"]] == skill["label"] for skill in named)
        records = person.get("training_history", ())
        marked = person.get("bookmarks", ())
        assert all(trainings[record["id"]]["title"] == record["title"] for record in records)
        assert all(catalogs[bookmark["kind"]][bookmark["id"]]["title"] == bookmark["title"] for bookmark in marked)
        assert set(person.get("mandatory_training_ids", ())) <= trainings.keys()
        if "job_code" in person:
            assert jobs[person["job_code"]]["title"] == person["job_title"]


def test_opportunities_cover_every_value_and_most_stay_open() -> None:
    rows = read_rows("opportunities")
    values = {
        name: Counter(row[name] for row in rows) for name in ("kind", "work_mode", "employment_type", "department")
    }
    assert values["kind"].keys() == set(get_args(OpportunityKind))
    assert values["work_mode"].keys() == set(get_args(WorkMode))
    assert values["employment_type"].keys() == set(get_args(EmploymentType))
    people = [row for row in read_rows("people") if "location" in row]
    assert values["department"].keys() >= {row["department"] for row in people}
    for name in ("location", "classification"):
        assert {row[name] for row in rows} >= {row[name] for row in people if name in row}
    assert {row["language"] for row in rows} == {"en", "fr", "es"}
    assert len({row["title"] for row in rows}) == len({row["description"] for row in rows}) == len(rows)
    # Dates pass while the repository is read: what the demonstration needs has none.
    assert sum("closes_on" not in row for row in rows) >= 100
    assert any(not row.get("active", True) for row in rows)


def test_openings_fit_the_demo_user_and_each_of_her_current_objectives() -> None:
    amira = next(row for row in read_rows("people") if row["external_id"] == DEMO_USER)
    levels = {skill["code"]: skill["level"] for skill in amira["skills"]}
    openings = [row for row in read_rows("opportunities") if "closes_on" not in row and row.get("active", True)]
    fitting = [
        row["external_id"]
        for row in openings
        if all(levels.get(skill["code"], 0) >= skill["level"] - 1 for skill in row["skills"])
        and row["location"] == amira["location"]
    ]
    assert len(fitting) >= 5
    current = [objective for objective in amira["objectives"] if objective["status"] == "current"]
    assert len(current) >= 3
    for objective in current:
        wanted = {skill["code"] for skill in objective["skills"]}
        near = [row for row in openings if len(wanted & {skill["code"] for skill in row["skills"]}) >= 2]
        assert len(near) >= 2, objective["title"]
    assert any(objective["status"] == "archived" for objective in amira["objectives"])


def test_people_have_a_past_with_employers_places_and_arrangements() -> None:
    people = [row for row in read_rows("people") if row["external_id"] not in EMPTY_USERS]
    for person in people:
        for experience in person["experiences"]:
            assert {"company", "department", "location", "work_mode", "start"} <= experience.keys()
        ongoing = [experience for experience in person["experiences"] if "end" not in experience]
        assert [(e["department"], e["location"]) for e in ongoing] == [(person["department"], person["location"])]
        starts = [experience["start"] for experience in person["experiences"]]
        assert starts == sorted(starts, reverse=True)
        assert (
            min(e["start"] for e in person["experiences"] if e["company"] == "Northwind Logistics")
            == (person["hire_date"])
        )
    assert len({e["company"] for person in people for e in person["experiences"]}) >= 60
    statuses = Counter(o["status"] for person in people for o in person.get("objectives", ()))
    assert min(statuses["current"], statuses["archived"]) >= 30
    kinds = Counter(bookmark["kind"] for person in people for bookmark in person.get("bookmarks", ()))
    assert min(kinds[kind] for kind in ("training", "job", "opportunity")) >= 10


def test_some_people_share_names_and_some_names_carry_accents() -> None:
    people = read_rows("people")
    first = Counter(row.get("first_name") for row in people)
    full = Counter((row.get("first_name"), row.get("last_name")) for row in people)
    assert first["Thomas"] >= 3
    assert first["Sarah"] == 2
    assert full["Thomas", "Becker"] == full["Nadia", "Benali"] == 2
    names = "".join(f"{row.get('first_name', '')}{row.get('last_name', '')}" for row in people)
    assert {"é", "è", "ñ", "ë", "ü", "ø", "Ł", "ń"} <= set(names)


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
