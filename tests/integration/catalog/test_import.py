"""Importing files: each kind in both formats, changes only, errors that name their row, and going on after a stop."""

from pathlib import Path
from typing import Any

import pytest

from oria_runtime.catalog.jobs import read_jobs
from oria_runtime.catalog.loading.errors import ImportStoppedError
from oria_runtime.catalog.people import read_profile
from oria_runtime.catalog.skills import read_skills
from oria_runtime.catalog.trainings import expand_related, read_trainings
from oria_runtime.db.pool import Pool, TenantDatabase
from oria_runtime.errors import UnavailableError
from tests.integration.catalog.files import SeededEmbedder, fetch, import_path, write_csv, write_ndjson
from tests.support.database import create_tenant

Row = dict[str, Any]

PERSON: Row = {
    "external_id": "ana",
    "first_name": "Ana",
    "job_title": "Dispatcher",
    "hire_date": "2021-05-03",
    "skills": [{"code": "S1", "label": "Routing", "level": 4}, "S2"],
    "objectives": [{"id": "O1", "title": "Learn SQL", "due": "2027-01-31"}],
    "training_history": [{"id": "T1", "status": "completed", "completed_on": "2024-02-02"}],
    "mandatory_training_ids": ["T9"],
}


async def test_people_come_from_ndjson_with_every_section(database: TenantDatabase, tmp_path: Path) -> None:
    summary, log = await import_path(database, "people", write_ndjson(tmp_path / "people.ndjson", [PERSON]))
    assert (summary.inserted, summary.embedded, log.rows) == (1, 1, 0)
    async with database.transaction() as connection:
        profile = await read_profile(connection, "ana")
    assert profile is not None
    assert [(skill.code, skill.level) for skill in profile.skills] == [("S1", 4), ("S2", None)]
    assert profile.objectives[0].title == "Learn SQL"
    assert profile.mandatory_training_ids == ("T9",)
    assert str(profile.hire_date) == "2021-05-03"
    assert not profile.is_empty


async def test_people_come_from_csv_with_lists_and_json_in_cells(database: TenantDatabase, tmp_path: Path) -> None:
    path = write_csv(
        tmp_path / "people.csv",
        ["external_id", "job_title", "skills", "objectives", "interests"],
        ["bo", "Driver", "S1|S2", '[{"id": "O1", "title": "Licence CE"}]', "maps | trucks"],
        ["cy", "", "", "", ""],
    )
    summary, _ = await import_path(database, "people", path)
    assert summary.inserted == 2
    async with database.transaction() as connection:
        profile, empty = await read_profile(connection, "bo"), await read_profile(connection, "cy")
        unknown = await read_profile(connection, "nobody")
    assert profile is not None
    assert [skill.code for skill in profile.skills] == ["S1", "S2"]
    assert profile.objectives[0].id == "O1"
    assert profile.interests == ("maps", "trucks")
    assert empty is not None
    assert empty.is_empty
    assert unknown is None


async def test_skills_and_jobs_come_from_both_formats(database: TenantDatabase, tmp_path: Path) -> None:
    skills = write_csv(
        tmp_path / "skills.csv",
        ["external_id", "label", "alternative_labels"],
        ["S1", "Routing", "Tour planning|Tournées"],
    )
    more = write_ndjson(tmp_path / "skills.ndjson", [{"external_id": "S2", "label": "SQL"}])
    jobs = write_ndjson(
        tmp_path / "jobs.ndjson",
        [{"external_id": "J1", "title": "Dispatcher", "skills": [{"code": "S1", "level": 3, "weight": 2}, "S2", "S3"]}],
    )
    more_jobs = write_csv(tmp_path / "jobs.csv", ["external_id", "title", "skills"], ["J2", "Analyst", "S2"])
    for kind, path in (("skills", skills), ("skills", more), ("jobs", jobs), ("jobs", more_jobs)):
        summary, _ = await import_path(database, kind, path)
        assert summary.inserted == 1
    async with database.transaction() as connection:
        found = await read_skills(connection, ["S2", "none", "S1", "S2"])
        dispatcher, analyst = await read_jobs(connection, ["J1", "J2"])
    assert [skill.code for skill in found] == ["S2", "S1"]
    assert found[1].alternative_labels == ("Tour planning", "Tournées")
    assert [(s.code, s.label, s.level, s.weight) for s in dispatcher.skills] == [
        ("S1", "Routing", 3, 2.0),
        ("S2", "SQL", None, 1.0),
        ("S3", "S3", None, 1.0),
    ]
    assert [skill.label for skill in analyst.skills] == ["SQL"]


async def test_trainings_keep_the_callers_order_and_know_their_family(database: TenantDatabase, tmp_path: Path) -> None:
    path = write_csv(
        tmp_path / "trainings.csv",
        ["external_id", "title", "duration_minutes", "level", "parents", "price", "language"],
        ["T2", "SQL joins", "45", "beginner", "T1", "9.50", "en"],
        ["T1", "SQL path", "", "", "", "", "en"],
        ["T3", "Les jointures", "30", "", "T1", "", "fr"],
    )
    summary, _ = await import_path(database, "trainings", path)
    assert summary.inserted == 3
    async with database.transaction() as connection:
        trainings = await read_trainings(connection, ["T3", "none", "T1", "T2"])
        assert await expand_related(connection, ["T2"]) == ["T2", "T1"]
        assert await expand_related(connection, ["T1", "unknown"]) == ["T1", "unknown", "T2", "T3"]
    assert [training.id for training in trainings] == ["T3", "T1", "T2"]
    assert trainings[1].children == ("T2", "T3")
    assert trainings[2].parents == ("T1",)
    assert str(trainings[2].price) == "9.50"
    stems = await fetch(database, "select external_id from trainings where search @@ to_tsquery('french', 'jointure')")
    assert [row["external_id"] for row in stems] == ["T3"]


async def test_only_changes_are_written_and_embedded(database: TenantDatabase, tmp_path: Path) -> None:
    rows = [{"external_id": f"S{n}", "label": f"Skill {n}"} for n in range(5)]
    embedder = SeededEmbedder()
    await import_path(database, "skills", write_ndjson(tmp_path / "a.ndjson", rows), embedder)
    before = await fetch(database, "select external_id, xmin::text, embedding::text from skills order by 1")
    rows[1]["label"] = "Skill renamed"
    rows[2]["category"] = "craft"  # not part of the embedded text
    path = write_ndjson(tmp_path / "b.ndjson", rows)
    summary, _ = await import_path(database, "skills", path, embedder)
    assert (summary.inserted, summary.updated, summary.unchanged, summary.embedded) == (0, 2, 3, 1)
    assert embedder.texts[5:] == ["Skill renamed"]
    after = await fetch(database, "select external_id, xmin::text, embedding::text from skills order by 1")
    assert [b == a for b, a in zip(before, after, strict=True)] == [True, False, False, True, True]
    assert before[2]["embedding"] == after[2]["embedding"]


async def test_another_embedding_model_embeds_again_without_touching_the_rows(
    database: TenantDatabase, tmp_path: Path
) -> None:
    path = write_ndjson(tmp_path / "a.ndjson", [{"external_id": "S1", "label": "Routing"}])
    await import_path(database, "skills", path)
    [before] = await fetch(database, "select updated_at, embedding_hash from skills")
    summary, _ = await import_path(database, "skills", path, SeededEmbedder("seeded-2"))
    assert (summary.unchanged, summary.embedded) == (1, 1)
    [after] = await fetch(database, "select updated_at, embedding_hash, embedding_model from skills")
    assert after["embedding_model"] == "seeded-2"
    assert after["updated_at"] == before["updated_at"]
    assert after["embedding_hash"] != before["embedding_hash"]


async def test_a_stopped_import_goes_on_where_it_stopped(database: TenantDatabase, tmp_path: Path) -> None:
    path = write_ndjson(tmp_path / "s.ndjson", [{"external_id": f"S{n}", "label": f"Skill {n}"} for n in range(50)])
    with pytest.raises(UnavailableError):
        await import_path(database, "skills", path, SeededEmbedder(fails_after=25), batch_rows=10)
    [kept] = await fetch(database, "select count(*) as n, count(embedding) as embedded from skills")
    assert kept == {"n": 20, "embedded": 20}
    summary, _ = await import_path(database, "skills", path, batch_rows=10)
    assert (summary.inserted, summary.unchanged, summary.embedded) == (30, 20, 30)


async def test_errors_name_row_and_column_and_the_rest_is_taken(database: TenantDatabase, tmp_path: Path) -> None:
    path = write_csv(
        tmp_path / "trainings.csv",
        ["external_id", "title", "duration_minutes", "level", "parents"],
        ["T1", "Good", "60", "", ""],
        ["T2", "Bad", "an hour", "expert", ""],
        ["", "No id", "", "", ""],
        ["T1", "Again", "", "", ""],
        ["T4", "N\0L", "", "", ""],
        ["T5", "Orphan", "", "", "T404"],
        ["T6", "Child of an orphan", "", "", "T5"],
        ["T7", "Circle", "", "", "T8"],
        ["T8", "Circle", "", "", "T7"],
        ["T9", "Too few cells"],
        ["T10", "x" * 501, "", "", ""],
    )
    summary, log = await import_path(database, "trainings", path)
    assert (summary.inserted, summary.failed) == (1, 10)
    reasons = {(error.row, error.column): error.reason for error in log.first}
    assert "integer" in reasons[3, "duration_minutes"]
    assert "beginner" in reasons[3, "level"]
    assert reasons[4, "external_id"] == "is missing"
    assert reasons[5, "external_id"] == "the same id as in row 2"
    assert "NUL" in reasons[6, "title"]
    assert "T404" in reasons[7, "parents"]
    assert "T5" in reasons[8, "parents"]
    assert reasons[9, "parents"] in {f"its parents form a circle: {c}" for c in ("T7 > T8 > T7", "T8 > T7 > T8")}
    assert (10, "parents") in reasons
    assert reasons[11, ""] == "has 2 cells, the header has 5"
    assert "500" in reasons[12, "title"]


async def test_a_circle_through_stored_rows_is_found(database: TenantDatabase, tmp_path: Path) -> None:
    rows: list[Row] = [{"external_id": "A", "title": "a"}, {"external_id": "B", "title": "b", "parents": ["A"]}]
    await import_path(database, "trainings", write_ndjson(tmp_path / "a.ndjson", rows))
    changed = [{"external_id": "A", "title": "a", "parents": ["B"]}]
    summary, log = await import_path(database, "trainings", write_ndjson(tmp_path / "b.ndjson", changed))
    assert (summary.updated, summary.failed) == (0, 1)
    assert "circle" in log.first[0].reason
    turned: list[Row] = [{"external_id": "A", "title": "a", "parents": ["B"]}, {"external_id": "B", "title": "b"}]
    summary, _ = await import_path(database, "trainings", write_ndjson(tmp_path / "c.ndjson", turned))
    assert (summary.updated, summary.failed) == (2, 0)
    async with database.transaction() as connection:
        [training] = await read_trainings(connection, ["B"])
    assert (training.parents, training.children) == ((), ("A",))


async def test_strict_and_dry_run_write_nothing(database: TenantDatabase, tmp_path: Path) -> None:
    path = write_ndjson(tmp_path / "s.ndjson", [{"external_id": "S1", "label": "Good"}, {"external_id": "S2"}])
    embedder = SeededEmbedder()
    strict, log = await import_path(database, "skills", path, embedder, strict=True)
    assert (strict.inserted, strict.failed, log.first[0].reason) == (0, 1, "is missing")
    dry, _ = await import_path(database, "skills", path, embedder, dry_run=True)
    assert (dry.inserted, dry.failed, dry.embedded, embedder.texts) == (1, 1, 1, [])
    assert await fetch(database, "select 1 from skills") == []


async def test_a_wrong_vector_stops_before_anything_of_the_batch_is_written(
    database: TenantDatabase, tmp_path: Path
) -> None:
    class Short(SeededEmbedder):
        def embed_one(self, text: str) -> list[float]:
            return [0.5] * 3

    path = write_ndjson(tmp_path / "s.ndjson", [{"external_id": "S1", "label": "Good"}])
    with pytest.raises(ImportStoppedError, match="512"):
        await import_path(database, "skills", path, Short())
    assert await fetch(database, "select 1 from skills") == []


async def test_another_tenant_sees_and_changes_nothing(pool: Pool, database: TenantDatabase, tmp_path: Path) -> None:
    files: dict[str, list[Row]] = {
        "people": [PERSON],
        "skills": [{"external_id": "S1", "label": "Routing"}],
        "jobs": [{"external_id": "J1", "title": "Dispatcher"}],
        "trainings": [
            {"external_id": "T1", "title": "Path"},
            {"external_id": "T2", "title": "Part", "parents": ["T1"]},
        ],
    }
    for kind, rows in files.items():
        await import_path(database, kind, write_ndjson(tmp_path / f"{kind}.ndjson", rows))
    other = TenantDatabase(pool, await create_tenant(pool, "globex"))
    for table in (*files, "training_parents"):
        assert await fetch(other, f"select 1 from {table}") == []
        assert await fetch(other, f"delete from {table} returning 1") == []
    async with other.transaction() as connection:
        assert await read_profile(connection, "ana") is None
        assert await read_skills(connection, ["S1"]) == []
        assert await read_jobs(connection, ["J1"]) == []
        assert await read_trainings(connection, ["T1", "T2"]) == []
        assert await expand_related(connection, ["T2"]) == ["T2"]
    summary, _ = await import_path(other, "trainings", tmp_path / "trainings.ndjson")
    assert summary.inserted == 2
    orphan = write_ndjson(tmp_path / "o.ndjson", [{"external_id": "J9", "title": "x"}])
    await import_path(other, "jobs", orphan)
    assert len(await fetch(database, "select 1 from jobs")) == 1
