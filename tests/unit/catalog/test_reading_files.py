"""Reading files as customers write them: encodings, separators, broken rows, and words that help."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from oria_runtime.catalog.loading.errors import ImportStoppedError, RowRejectedError
from oria_runtime.catalog.loading.files import MAX_LINE_BYTES, guess_format
from oria_runtime.catalog.loading.mapping import ColumnMapping, load_mapping
from oria_runtime.catalog.loading.rows import KINDS, PersonRow, SkillRow, TrainingRow
from oria_runtime.catalog.loading.sources import Source


def read(path: Path, kind: str = "skills", **mapping: Any) -> list[tuple[int, Any]]:
    """Row numbers with rows, or with the texts of what is wrong."""
    source = Source(KINDS[kind], path, guess_format(path), ColumnMapping(**mapping))
    return [(number, row.detail if isinstance(row, RowRejectedError) else row) for number, row in source.rows()]


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_csv_of_every_office_program_is_read(tmp_path: Path, mark: str, delimiter: str, newline: str) -> None:
    lines = ["external_id{d}label", 'S1{d}"Écoute, {d} ""active"""', "", "S2{d}SQL", ""]
    path = write(tmp_path / "s.csv", mark + newline.join(lines).replace("{d}", delimiter))
    rows = read(path)
    assert [number for number, _ in rows] == [2, 4]
    assert rows[0][1].label == f'Écoute, {delimiter} "active"'


def test_a_cell_may_span_lines_and_rows_are_counted_as_in_a_spreadsheet(tmp_path: Path) -> None:
    path = write(tmp_path / "s.csv", 'external_id,label,description\nS1,A,"two\nlines"\nS2,,\n')
    rows = read(path)
    assert rows[0][1].description == "two\nlines"
    assert rows[1] == (3, "row 3, label: is missing")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("external_id,label\nS1,Qualité\n".encode("latin-1"), "line 2 is not UTF-8 .*0xE9"),
        ("external_id,label\nS1,a\n".encode("utf-16"), "UTF-16"),
        (b"", "is empty: its first row must name the columns: external_id"),
        (b'external_id,label\nS1,"open\nS2,b\n', "Is a quote left open"),
        (b'external_id,label\nS1,"a"b\n', "line 2 is not valid CSV"),
        (b"external_id,lable\nS1,a\n", "unknown column 'lable'; no column 'label'.*--mapping"),
        (b"external_id,label,label\nS1,a,b\n", "'label' comes twice"),
        (b"external_id,label\nS1," + b"x" * MAX_LINE_BYTES, "longer than"),
    ],
)
def test_a_file_that_cannot_be_trusted_stops_with_words_that_help(tmp_path: Path, content: bytes, says: str) -> None:
    with pytest.raises(ImportStoppedError, match=says):
        read(write(tmp_path / "s.csv", content))


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "is not JSON"),
        ("[1]", "should be a JSON object"),
        ("[" * 100_000, "nested too deeply"),
        ('{"external_id": "S1", "label": NaN}', "NaN"),
        ('{"external_id": "S1", "label": 7}', "label: Input should be a valid string"),
        ('{"external_id": "S1", "label": "a", "tag": 1}', "tag: unknown column; columns of skills: external_id"),
        ('{"external_id": "S1", "label": "a\\u0000"}', "label: contains a NUL"),
        ('{"external_id": "S1", "label": "\\ud83d"}', "label: contains half of a surrogate pair"),
        (
            '{"external_id": "S1", "label": "a", "alternative_labels": ["\\u0000"]}',
            "alternative_labels: contains a NUL",
        ),
        ('{"external_id": "S1", "label": "a", "alternative_labels": "b"}', "alternative_labels: Input should be"),
        ('{"external_id": "S1", "label": "a", "description": %s}' % ("[" * 50 + "]" * 50), "nested too deeply"),
        ('{"external_id": "S1", "label": "a", "description": "%s"}' % ("d" * 20_001), "description: .*20000"),
        ('{"external_id": "S1", "label": "%s"}' % ("d" * MAX_LINE_BYTES), "the line is longer than"),
        ('{"external_id": "S1", "label": "a", "language": "english please"}', "language: "),
    ],
)
def test_a_bad_line_is_an_error_of_its_row_only(tmp_path: Path, line: str, says: str) -> None:
    path = write(
        tmp_path / "s.ndjson", f'{{"external_id": "S0", "label": "a"}}\n\n{line}\n{{"external_id": "S9", "label": "b"}}'
    )
    (_, first), (number, error), (last_number, last) = read(path)
    assert first.external_id == "S0"
    assert number == 3
    assert error.startswith("row 3, ")
    assert re.search(says, error)
    assert (last_number, last.label) == (4, "b")


@pytest.mark.parametrize(
    "person",
    [
        {"hire_date": "86400"},
        {"hire_date": 86_400},
        {"hire_date": "31.12.2023"},
        {"skills": [{"code": "S1", "level": True}]},
        {"skills": [{"code": "S1", "level": 6}]},
        {"objectives": [{"id": "O1", "title": "x", "status": "done"}]},
        {"training_history": [{"id": "T1"}]},
        {"email": "no address"},
    ],
)
def test_values_of_the_wrong_type_are_not_guessed(tmp_path: Path, person: dict[str, Any]) -> None:
    path = write(tmp_path / "p.ndjson", json.dumps({"external_id": "ana"} | person))
    [(_, error)] = read(path, "people")
    assert next(iter(person)) in error


def test_a_mapping_renames_fills_splits_and_translates(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.csv", "Code;Titre;Niveau;Mots;Interne\nT1;Négociation;Débutant;vente#écoute;x\nT2;Bruit;;;\n"
    )
    rows = read(
        path,
        "trainings",
        columns={"external_id": "Code", "title": "Titre", "level": "Niveau", "keywords": "Mots"},
        constants={"language": "fr", "level": "advanced"},
        separators={"keywords": "#"},
        values={"level": {"Débutant": "beginner"}},
    )
    first, second = (row for _, row in rows)
    assert isinstance(first, TrainingRow)
    assert (first.level, first.keywords, first.language) == ("beginner", ("vente", "écoute"), "fr")
    assert (second.level, second.keywords) == ("advanced", ())


def test_errors_under_a_mapping_name_both_columns(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "Code,Titre,Minutes\nT1,A,long\n")
    columns = {"external_id": "Code", "title": "Titre", "duration_minutes": "Minutes"}
    [(_, error)] = read(path, "trainings", columns=columns)
    assert error.startswith("row 2, duration_minutes (Minutes): ")
    with pytest.raises(ImportStoppedError, match="no column 'Titel'"):
        read(path, "trainings", columns=columns | {"title": "Titel"})


def test_an_unusable_mapping_says_why(tmp_path: Path) -> None:
    with pytest.raises(ImportStoppedError, match="delimiter"):
        load_mapping(write(tmp_path / "m.json", '{"delimiter": "::"}'))
    with pytest.raises(ImportStoppedError, match="not usable"):
        load_mapping(write(tmp_path / "m.json", "{"))
    with pytest.raises(ImportStoppedError, match="unknown columns: titel"):
        ColumnMapping(columns={"titel": "x"}).check(KINDS["jobs"])


def test_the_format_follows_the_extension(tmp_path: Path) -> None:
    assert [guess_format(Path(name)) for name in ("a.CSV", "a.tsv", "a.jsonl", "a.ndjson")] == [
        "csv",
        "csv",
        "ndjson",
        "ndjson",
    ]
    with pytest.raises(ImportStoppedError, match="--format"):
        guess_format(Path("a.xlsx"))


def test_what_is_embedded_has_no_name_and_is_bounded() -> None:
    person = PersonRow.model_validate(
        {"external_id": "a", "first_name": "Ana", "job_title": "Driver", "skills": ["S1"]}
    )
    assert person.embedded_text() == "Driver\nS1"
    skill = SkillRow(external_id="S1", label="a", description="d" * 20_000)
    assert len(skill.embedded_text()) == 8_000


def test_the_documentation_names_every_column() -> None:
    text = (Path(__file__).parents[3] / "docs" / "import.md").read_text(encoding="utf-8")
    for kind in KINDS.values():
        assert [name for name in kind.row.model_fields if f"`{name}`" not in text] == []
