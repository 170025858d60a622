"""Opportunities: import in both formats, changes only, errors that name their row, reading in the caller's order."""

from datetime import date
from pathlib import Path
from typing import Any

from oria_runtime.catalog.loading.mapping import ColumnMapping
from oria_runtime.catalog.opportunities import read_opportunities
from oria_runtime.db.pool import Pool, TenantDatabase
from tests.integration.catalog.files import SeededEmbedder, fetch, import_path, write_csv, write_ndjson
from tests.support.database import create_tenant

MENTORING: dict[str, Any] = {
    "external_id": "O1",
    "language": "fr",
    "title": "Mentorat : premiers pas en données",
    "description": "Deux heures par mois avec une analyste.",
    "kind": "mentoring",
    "department": "IT and Data",
    "location": "Lyon",
    "work_mode": "hybrid",
    "classification": "Professional",
    "employment_type": "fixed_term",
    "company": "Globex Data",
    "job_code": "J1",
    "skills": [{"code": "S1", "label": "Requêtes", "level": 2, "weight": 3}, "S2", {"code": "S3", "label": "Écoute"}],
    "languages": ["fr", "en"],
    "starts_on": "2027-01-04",
    "posted_on": "2026-11-02",
    "closes_on": "2026-12-18",
    "url": "https://jobs.example/o1",
}


async def test_an_opportunity_keeps_every_column_and_takes_its_labels_from_the_library(
    database: TenantDatabase, tmp_path: Path
) -> None:
    await import_path(database, "skills", write_csv(tmp_path / "s.csv", ["external_id", "label"], ["S1", "SQL"]))
    embedder = SeededEmbedder()
    summary, log = await import_path(
        database, "opportunities", write_ndjson(tmp_path / "o.ndjson", [MENTORING]), embedder
    )
    assert (summary.inserted, summary.embedded, log.rows) == (1, 1, 0)
    assert embedder.texts == [
        "Mentorat : premiers pas en données\nIT and Data\nRequêtes, S2, Écoute\nDeux heures par mois avec une analyste."
    ]
    async with database.transaction() as connection:
        [found] = await read_opportunities(connection, ["O1"])
    kept = found.model_dump(mode="json", exclude={"skills", "id", "active"})
    assert kept == {key: value for key, value in MENTORING.items() if key not in {"skills", "external_id"}}
    assert [(s.code, s.label, s.level, s.weight) for s in found.skills] == [
        ("S1", "SQL", 2, 3.0),
        ("S2", "S2", None, 1.0),  # neither the library nor the row has a label
        ("S3", "Écoute", None, 1.0),
    ]
    [row] = await fetch(
        database, "select skill_codes from opportunities where search @@ to_tsquery('french', 'requête')"
    )
    assert row == {"skill_codes": ["S1", "S2", "S3"]}
    assert len(await fetch(database, "select 1 from opportunities where search @@ to_tsquery('french', 'globex')")) == 1


async def test_a_customers_csv_is_read_with_a_mapping(database: TenantDatabase, tmp_path: Path) -> None:
    path = write_csv(
        tmp_path / "stellen.csv",
        ["Nr", "Titel", "Art", "Ort", "Fähigkeiten", "Sprachen", "Frist", "intern"],
        ["7", "Schichtleitung", "Stelle", "Köln", "S1#S2", "de|en", "2027-02-28", "x"],
        ["8", "Praktikum Lager", "Praktikum", "", '[{"code": "S3", "level": 1}]', "", "", "x"],
    )
    mapping = ColumnMapping(
        columns={
            "external_id": "Nr", "title": "Titel", "kind": "Art", "location": "Ort", "skills": "Fähigkeiten",
            "languages": "Sprachen", "closes_on": "Frist",
        },
        constants={"language": "de", "company": "Globex"},
        separators={"skills": "#"},
        values={"kind": {"Stelle": "job", "Praktikum": "internship"}},
    )  # fmt: skip
    summary, log = await import_path(database, "opportunities", path, mapping=mapping)
    assert (summary.inserted, log.first) == (2, [])
    async with database.transaction() as connection:
        internship, job = await read_opportunities(connection, ["8", "none", "7", "8"])
    assert (job.kind, job.language, job.location, job.languages) == ("job", "de", "Köln", ("de", "en"))
    assert ([skill.code for skill in job.skills], job.closes_on) == (["S1", "S2"], date(2027, 2, 28))
    assert (internship.kind, internship.company, internship.location) == ("internship", "Globex", None)
    assert [(skill.code, skill.level) for skill in internship.skills] == [("S3", 1)]


async def test_a_repeated_import_writes_and_embeds_nothing_and_a_changed_row_does(
    database: TenantDatabase, tmp_path: Path
) -> None:
    rows = [MENTORING | {"external_id": f"O{n}"} for n in range(4)]
    embedder = SeededEmbedder()
    await import_path(database, "opportunities", write_ndjson(tmp_path / "a.ndjson", rows), embedder)
    before = await fetch(database, "select external_id, xmin::text, embedding::text from opportunities order by 1")
    again, _ = await import_path(database, "opportunities", tmp_path / "a.ndjson", embedder)
    assert (again.unchanged, again.embedded, len(embedder.texts)) == (4, 0, 4)
    rows[1] = rows[1] | {"title": "Mentorat : logistique"}
    rows[2] = rows[2] | {"closes_on": "2027-01-15", "location": "Lille"}  # not part of the embedded text
    changed, _ = await import_path(database, "opportunities", write_ndjson(tmp_path / "b.ndjson", rows), embedder)
    assert (changed.updated, changed.unchanged, changed.embedded) == (2, 2, 1)
    after = await fetch(database, "select external_id, xmin::text, embedding::text from opportunities order by 1")
    assert [b["xmin"] == a["xmin"] for b, a in zip(before, after, strict=True)] == [True, False, False, True]
    assert [b["embedding"] == a["embedding"] for b, a in zip(before, after, strict=True)] == [True, False, True, True]


async def test_malformed_rows_are_named_with_row_column_and_reason(database: TenantDatabase, tmp_path: Path) -> None:
    path = write_csv(
        tmp_path / "o.csv",
        ["external_id", "title", "kind", "work_mode", "employment_type", "skills", "closes_on", "languages", "url"],
        ["O1", "Good", "", "", "", "", "", "", ""],
        ["O2", "Bad", "gig", "moon", "forever", "", "", "", ""],
        ["O3", "Bad", "", "", "", '[{"code": "S1", "level": 9}]', "31.12.2026", "", "ftp://x"],
        ["O4", "Bad", "", "", "", '[{"code": "S1"', "", "", ""],
        ["O5", "Bad", "", "", "", '[{"code": "S1", "wheight": 2}]', "", "not a language", ""],
        ["O1", "Twice", "", "", "", "", "", "", ""],
        ["O7", "", "", "", "", "", "", "", ""],
    )
    summary, log = await import_path(database, "opportunities", path)
    assert (summary.inserted, summary.failed) == (1, 6)
    reasons = {(error.row, error.column): error.reason for error in log.first}
    assert "'mentoring'" in reasons[3, "kind"]
    assert "'hybrid'" in reasons[3, "work_mode"]
    assert "'fixed_term'" in reasons[3, "employment_type"]
    assert "less than or equal to 5" in reasons[4, "skills.0.level"]
    assert reasons[4, "closes_on"] == "should be a date like 2024-03-31"
    assert (4, "url") in reasons
    assert reasons[5, "skills"].startswith("is not JSON: ")
    assert "not permitted" in reasons[6, "skills.0.wheight"]
    assert (6, "languages.0") in reasons
    assert reasons[7, "external_id"] == "the same id as in row 2"
    assert reasons[8, "title"] == "is missing"
    strict, _ = await import_path(database, "opportunities", path, strict=True)
    dry, _ = await import_path(
        database, "opportunities", write_ndjson(tmp_path / "d.ndjson", [MENTORING | {"external_id": "D"}]), dry_run=True
    )
    assert (strict.unchanged, dry.inserted) == (0, 1)
    assert [row["external_id"] for row in await fetch(database, "select external_id from opportunities")] == ["O1"]


async def test_an_inactive_opportunity_is_read_only_when_asked_for(database: TenantDatabase, tmp_path: Path) -> None:
    rows = [MENTORING, MENTORING | {"external_id": "O2", "active": False}]
    await import_path(database, "opportunities", write_ndjson(tmp_path / "o.ndjson", rows))
    async with database.transaction() as connection:
        shown = await read_opportunities(connection, ["O2", "O1"])
        kept = await read_opportunities(connection, ["O2", "O1"], include_inactive=True)
    assert [opportunity.id for opportunity in shown] == ["O1"]
    assert [(opportunity.id, opportunity.active) for opportunity in kept] == [("O2", False), ("O1", True)]


async def test_another_tenant_sees_and_changes_no_opportunity(
    pool: Pool, database: TenantDatabase, tmp_path: Path
) -> None:
    path = write_ndjson(tmp_path / "o.ndjson", [MENTORING])
    await import_path(database, "opportunities", path)
    other = TenantDatabase(pool, await create_tenant(pool, "globex"))
    assert await fetch(other, "select 1 from opportunities") == []
    assert await fetch(other, "update opportunities set title = 'x' returning 1") == []
    assert await fetch(other, "delete from opportunities returning 1") == []
    async with other.transaction() as connection:
        assert await read_opportunities(connection, ["O1"], include_inactive=True) == []
    summary, _ = await import_path(other, "opportunities", path)
    assert summary.inserted == 1
    [found] = await fetch(database, "select title, tenant_id from opportunities")
    assert found == {"title": MENTORING["title"], "tenant_id": database.tenant_id}
