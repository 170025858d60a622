"""People: every column and section, in both formats alike, and errors inside sections that name row and column."""

import json
from pathlib import Path
from typing import Any

from oria_runtime.catalog.loading.rows import KINDS
from oria_runtime.catalog.people import Profile, ProfileSections, read_profile
from oria_runtime.db.pool import TenantDatabase
from tests.integration.catalog.files import SeededEmbedder, import_path, write_csv, write_ndjson

WHOLE: dict[str, Any] = {
    "external_id": "zoe",
    "language": "fr",
    "first_name": "Zoë",
    "last_name": "Lefèvre",
    "email": "zoe@globex.example",
    "job_title": "Exploitante",
    "job_code": "J1",
    "department": "Transport",
    "location": "Lille",
    "work_mode": "hybrid",
    "classification": "Specialist",
    "hire_date": "2021-05-03",
    "active": True,
    "skills": [{"code": "S1", "label": "Tournées", "level": 4}, {"code": "S2", "label": "SQL", "level": 1}],
    "gaps": [{"code": "S2", "label": "SQL", "level": 1, "target_level": 3}],
    "objectives": [
        {
            "id": "O1",
            "title": "Apprendre SQL",
            "description": "Deux rapports.",
            "status": "current",
            "skills": [{"code": "S2", "label": "SQL"}],
            "due": "2027-01-31",
        },
        {"id": "O2", "title": "Permis C", "description": "", "status": "archived", "skills": [], "due": None},
    ],
    "experiences": [
        {
            "title": "Exploitante",
            "company": "Globex",
            "department": "Transport",
            "location": "Lille",
            "work_mode": "hybrid",
            "start": "2021-05-03",
            "end": None,
            "description": "Quarante conducteurs.",
        },
        {
            "title": "Agente",
            "company": "Rail Nord",
            "department": "Régulation",
            "location": "Douai",
            "work_mode": "on_site",
            "start": "2014-09-01",
            "end": "2021-04-30",
            "description": "",
        },
    ],
    "departments": ["Transport", "Qualité"],
    "interests": ["trains", "course à pied"],
    "bookmarks": [
        {"kind": "training", "id": "T1", "title": "SQL"},
        {"kind": "job", "id": "J2", "title": ""},
        {"kind": "opportunity", "id": "OP1", "title": "Ligne de train"},
    ],
    "training_history": [{"id": "T9", "title": "Sécurité", "status": "completed", "completed_on": "2024-02-02"}],
    "mandatory_training_ids": ["T9", "T8"],
}


def as_cells(row: dict[str, Any]) -> list[str]:
    """A person as a spreadsheet holds them: texts in lists with `|`, objects as JSON."""

    def write(value: Any) -> str:
        if isinstance(value, list):
            texts = all(isinstance(item, str) for item in value)
            return "|".join(value) if texts else json.dumps(value, ensure_ascii=False)
        return json.dumps(value) if isinstance(value, bool) else str(value)

    return [write(value) for value in row.values()]


async def read_back(database: TenantDatabase, user_id: str) -> Profile:
    async with database.transaction() as connection:
        profile = await read_profile(connection, user_id)
    assert profile is not None
    return profile


async def test_csv_and_ndjson_bring_the_same_whole_person(database: TenantDatabase, tmp_path: Path) -> None:
    assert WHOLE.keys() == KINDS["people"].row.model_fields.keys()
    await import_path(database, "people", write_ndjson(tmp_path / "people.ndjson", [WHOLE]))
    profile = await read_back(database, "zoe")
    told = profile.model_dump(mode="json")
    assert {name: told[name] for name in ProfileSections.model_fields} == {
        name: WHOLE[name] for name in ProfileSections.model_fields
    }
    basics = {"location", "work_mode", "classification", "department", "job_code", "hire_date", "language"}
    assert {name: told[name] for name in basics} == {name: WHOLE[name] for name in basics}
    path = write_csv(tmp_path / "people.csv", list(WHOLE), as_cells(WHOLE | {"external_id": "zoe-2"}))
    summary, log = await import_path(database, "people", path)
    assert (summary.inserted, log.first) == (1, [])
    assert await read_back(database, "zoe-2") == profile.model_copy(update={"user_id": "zoe-2"})
    again, _ = await import_path(database, "people", write_csv(tmp_path / "again.csv", list(WHOLE), as_cells(WHOLE)))
    assert (again.unchanged, again.embedded) == (1, 0)


async def test_what_a_person_did_and_can_do_is_embedded_again_when_it_changes(
    database: TenantDatabase, tmp_path: Path
) -> None:
    embedder = SeededEmbedder()
    await import_path(database, "people", write_ndjson(tmp_path / "a.ndjson", [WHOLE]), embedder)
    moved = WHOLE | {"location": "Lyon", "bookmarks": []}
    summary, _ = await import_path(database, "people", write_ndjson(tmp_path / "b.ndjson", [moved]), embedder)
    assert (summary.updated, summary.embedded) == (1, 0)
    learned = moved | {"skills": [*WHOLE["skills"], {"code": "S3", "label": "Python", "level": 2}]}
    summary, _ = await import_path(database, "people", write_ndjson(tmp_path / "c.ndjson", [learned]), embedder)
    assert (summary.updated, summary.embedded) == (1, 1)
    assert "Python" in embedder.texts[-1]
    assert "Lefèvre" not in embedder.texts[-1]


BAD_SECTIONS: list[tuple[str, list[Any], str, str]] = [
    ("experiences", [{"title": "Driver", "work_mode": "anywhere"}], "experiences.0.work_mode", "'on_site'"),
    ("experiences", [{"title": "Driver", "employer": "x"}], "experiences.0.employer", "not permitted"),
    ("experiences", [{"company": "Globex"}], "experiences.0.title", "is missing"),
    ("bookmarks", [{"kind": "film", "id": "F1"}], "bookmarks.0.kind", "'opportunity'"),
    ("objectives", [{"id": "O1", "title": "x", "due": "soon"}], "objectives.0.due", "should be a date"),
    ("gaps", [{"code": "S1"}], "gaps.0.target_level", "is missing"),
    ("training_history", [{"id": "T1", "status": "passed"}], "training_history.0.status", "'completed'"),
    ("departments", [""], "departments.0", "at least 1"),
]


async def test_errors_inside_sections_are_named_and_the_rest_is_taken(database: TenantDatabase, tmp_path: Path) -> None:
    header = ["external_id", *dict.fromkeys(section for section, *_ in BAD_SECTIONS)]
    rows = [
        [f"p{number}", *(json.dumps(items) if name == section else "" for name in header[1:])]
        for number, (section, items, *_) in enumerate(BAD_SECTIONS)
    ]
    path = write_csv(tmp_path / "p.csv", header, *rows, ["good", *[""] * (len(header) - 1)])
    summary, log = await import_path(database, "people", path)
    assert (summary.inserted, summary.failed) == (1, len(BAD_SECTIONS))
    for error, (number, (_, _, column, says)) in zip(log.first, enumerate(BAD_SECTIONS, start=2), strict=True):
        assert (error.row, error.column) == (number, column)
        assert says in error.reason
