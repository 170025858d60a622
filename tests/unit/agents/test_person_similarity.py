"""How similar a name as somebody wrote it is to a person's, and what counts as the name itself."""

import pytest

from oria_runtime.catalog.person_lookup import classify_fit, fold_name, measure_similarity

THRESHOLD = 0.55  # seeds/oria_tools.md, person_disambiguation_tool


@pytest.mark.parametrize(
    ("asked", "first", "last", "fit"),
    [
        ("Zoë Müller", "Zoe", "Muller", "full"),
        ("MULLER zoe", "Zoë", "Müller", "full"),
        ("Ludwig Beethoven", "Ludwig", "van Beethoven", "full"),
        ("Ana de la Cruz", "Ana", "Cruz", "full"),
        ("jean pierre dupont", "Jean-Pierre", "Dupont", "full"),
        ("Jeanpierre Dupont", "Jean-Pierre", "Dupont", "full"),
        ("王小明", "小明", "王", "full"),
        ("Иван Петров", "Иван", "ПЕТРОВ", "full"),
        ("محمد علي", "مُحَمَّد", "علي", "full"),
        ("Søren Kjær", "Soren", "Kjaer", "full"),
        ("Zoë", "Zoe", "Müller", "part"),
        ("Müller", "Zoe", "Muller", "part"),
        ("小明", "小明", "王", "part"),
        ("Zoe Mueller", "Zoe", "Muller", "similar"),
        ("Zoe Zoe", "Zoe", "Muller", "part"),
        ("", "Zoe", "Muller", "similar"),
    ],
)
def test_the_words_of_a_name_decide_how_it_fits(asked: str, first: str, last: str, fit: str) -> None:
    assert classify_fit(asked, first, last) == fit


@pytest.mark.parametrize(
    ("asked", "first", "last"),
    [
        ("Jon Smith", "John", "Smith"),
        ("Smtih John", "John", "Smith"),
        ("Cristina Gonzales", "Kristina", "González"),
        ("Mria", "Maria", "Gonzalez"),
        ("J. Smith", "John", "Smith"),
        ("Ivan Petrof", "Ivan", "Petrov"),
        ("Петр Иваново", "Пётр", "Иванов"),
        ("王小", "小明", "王"),
        ("Maria Elena Gonzalez", "Maria", "Gonzalez"),
        ("Zoe Mueller", "Zoë", "Müller"),
    ],
)
def test_typos_initials_and_parts_stay_above_the_threshold(asked: str, first: str, last: str) -> None:
    assert THRESHOLD < measure_similarity(asked, first, last) < 1


@pytest.mark.parametrize(
    ("asked", "first", "last"),
    [
        ("John Smith", "Maria", "Gonzalez"),
        ("Maria Schmidt", "Maria", "Gonzalez"),
        ("Иван Петров", "Ivan", "Petrov"),
        ("", "Maria", "Gonzalez"),
        ("???", "Maria", "Gonzalez"),
        ("Maria", "", ""),
    ],
)
def test_other_names_stay_below_it(asked: str, first: str, last: str) -> None:
    assert measure_similarity(asked, first, last) <= THRESHOLD


def test_a_whole_name_fits_better_than_a_part_of_it() -> None:
    similarities = [measure_similarity(asked, "Zoe", "Muller") for asked in ("Zoe Muller", "Zoe", "Zo")]
    assert similarities == sorted(similarities, reverse=True)
    assert similarities[:2] == [1.0, 0.9]


def test_names_are_folded_beyond_latin_accents() -> None:
    assert fold_name("Łukasz ÆRØ Straße Ёлка") == "lukasz aero strasse елка"
