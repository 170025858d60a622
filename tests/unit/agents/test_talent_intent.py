"""The deterministic parts of the search for people: conditions, evidence, sentences, the question after a miss."""

from typing import Any

import pytest

from graph.oria.tools.criteria_question import CriterionOption
from graph.oria.tools.rationales import Evidence, Fact, is_supported
from graph.oria.tools.talent.change import list_options
from graph.oria.tools.talent.evidence import gather_evidence
from graph.oria.tools.talent.intent import (
    TalentField,
    TalentSearchIntent,
    bound_intent,
    compile_criteria,
    drop_criteria,
    list_ignored,
    list_skills,
    merge_intents,
)
from graph.oria.tools.talent.no_result import invents_nothing
from graph.oria.tools.talent.query import list_words
from graph.oria.tools.talent.rationales import describe, list_facts
from graph.oria.tools.talent.texts import write_ignored
from oria_runtime.catalog.people import Experience, ProfileSkill
from oria_runtime.catalog.talent_search import Candidate, Criterion

CANDIDATE = Candidate(
    person_id="p-1",
    job_title="Senior Data Analyst",
    department="Finance",
    location="Lyon, France",
    classification="Professional",
    work_mode="hybrid",
    skills=(ProfileSkill(code="py", label="Python", level=4), ProfileSkill(code="S-9", label="")),
    experiences=(Experience(title="Auditor", company="Globex SA", department="Audit"),),
)


def intend(*conditions: tuple[str, str, list[str]]) -> TalentSearchIntent:
    criteria: list[dict[str, Any]] = [{"field": f, "operator": o, "values": v} for f, o, v in conditions]
    return bound_intent(TalentSearchIntent.model_validate({"criteria": criteria}))


def test_conditions_compile_in_order_each_to_a_group_of_its_own_field() -> None:
    intent = intend(
        ("classification", "any", ["Professional"]),
        ("location", "any", ["Lyon", "Paris"]),
        ("work_arrangement", "any", ["remote"]),
        ("skill", "all", ["Python", "SQL"]),
        ("skill", "any", ["AWS", "Azure"]),
        ("role", "any", ["analyst"]),
        ("employer", "any", ["Globex"]),
        ("department", "any", ["Finance"]),
    )
    assert compile_criteria(intent, {"Python": "py", "Azure": "az"}) == [
        Criterion("classification", "any", ["Professional"]),
        Criterion("location", "any", ["Lyon", "Paris"]),
        Criterion("work_mode", "any", ["remote"]),
        Criterion("skill", "all", ["py", "SQL"]),
        Criterion("skill", "any", ["AWS", "az"]),
        Criterion("role", "any", ["analyst"]),
        Criterion("employer", "any", ["Globex"]),
        Criterion("department", "any", ["Finance"]),
    ]
    assert list_skills(intent) == ["Python", "SQL", "AWS", "Azure"]


@pytest.mark.parametrize("field", ["education", "certification", "experience_duration"])
def test_what_cannot_be_searched_is_dropped_and_never_remapped(field: str) -> None:
    intent = intend((field, "any", ["Python"]), ("location", "any", ["Lyon"]))
    assert compile_criteria(intent, {"Python": "py"}) == [Criterion("location", "any", ["Lyon"])]
    assert list_skills(intent) == []
    assert [condition.field for condition in list_ignored(intent)] == [field]
    assert "Python" in write_ignored(list_ignored(intent), "fr")
    assert [option.label for option in list_options(intent, "en")] == ["location: Lyon"]


@pytest.mark.parametrize(
    ("written", "searched"),
    [("Remote", "remote"), ("télétravail", "remote"), ("on-site", "on_site"), ("Hybride", "hybrid"), ("boat", "boat")],
)
def test_work_arrangements_get_the_catalogues_names(written: str, searched: str) -> None:
    assert compile_criteria(intend(("work_arrangement", "any", [written])), {})[0].values == [searched]


def test_conditions_are_bounded_and_say_something() -> None:
    values = ["", " \x00 ", "Lyon", "LYON", *(f"Town {number}" for number in range(20)), "x" * 500]
    [condition] = intend(("location", "any", values), ("role", "any", [" "])).criteria
    assert condition.values[:2] == ["Lyon", "Town 0"]
    assert len(condition.values) == 10
    assert len(intend(*[("role", "any", [str(number)]) for number in range(30)]).criteria) == 12


def test_an_answer_drops_by_position_and_adds() -> None:
    intent = intend(("location", "any", ["Lyon"]), ("education", "any", ["PhD"]), ("skill", "any", ["Go"]))
    assert list_options(intent, "en") == [CriterionOption("c0", "location: Lyon"), CriterionOption("c2", "skills: Go")]
    kept = drop_criteria(intent, {"c0"})
    assert [condition.field for condition in kept.criteria] == ["education", "skill"]
    merged = merge_intents(kept, intend(("location", "any", ["Paris"])))
    assert [condition.values for condition in merged.criteria] == [["PhD"], ["Go"], ["Paris"]]


def test_another_place_replaces_the_place_and_another_skill_joins() -> None:
    """ "Paris instead", without a tick at Lyon: both together would be met by nobody."""
    intent = intend(("location", "any", ["Lyon"]), ("skill", "any", ["Go"]))
    merged = merge_intents(intent, intend(("location", "any", ["Paris"]), ("skill", "any", ["SQL"])))
    assert [condition.values for condition in merged.criteria] == [["Go"], ["Paris"], ["SQL"]]


@pytest.mark.parametrize(
    ("field", "wanted", "facts"),
    [
        ("skill", ["py"], ["Python"]),
        ("skill", ["python", "SQL"], ["Python"]),
        ("skill", ["S-9"], ["S-9"]),
        ("skill", ["Pyth"], []),
        ("role", ["analyst", "auditor"], ["Senior Data Analyst", "Auditor"]),
        ("employer", ["globex"], ["Globex SA"]),
        ("department", ["finance", "Audit"], ["Finance", "Audit"]),
        ("location", ["Lyon"], ["Lyon, France"]),
        ("classification", ["professional"], ["Professional"]),
        ("classification", ["Prof"], []),
        ("work_arrangement", ["hybrid"], ["hybrid"]),
        ("work_arrangement", ["remote"], []),
    ],
)
def test_evidence_is_what_the_candidates_own_data_holds(field: str, wanted: list[str], facts: list[str]) -> None:
    intent = intend((field, "any", wanted))
    evidence = gather_evidence(CANDIDATE, intent, compile_criteria(intent, {}))
    assert [list(fact.values) for fact in evidence.facts] == ([facts] if facts else [])


def test_what_no_fact_holds_is_unsupported_also_when_it_was_ignored() -> None:
    intent = intend(("skill", "any", ["Python", "Java"]), ("education", "any", ["PhD"]))
    evidence = gather_evidence(CANDIDATE, intent, compile_criteria(intent, {"Python": "py"}))
    assert evidence == Evidence([Fact("skill", ["Python"])], ["Java", "PhD"])


FOUND: Evidence[TalentField] = Evidence([Fact("skill", ["Python"]), Fact("role", ["Data Analyst"])], ["Java", "PhD"])


@pytest.mark.parametrize(
    ("text", "supported"),
    [
        ("This person lists Python and has worked as data analyst.", True),
        ("This person would be a great fit.", False),
        ("Knows Python and Java.", False),
        ("Knows Python and holds a PhD.", False),
        ("Knows Python for 10 years.", False),
        ("Knows Python for ten years.", False),
        ("This person is an expert in Python.", False),
        ("Cette personne maîtrise Python.", False),
        ("Esta persona domina Python.", False),
        ("Knows Python: https://evil.example.", False),
        ("Knows Python, was Finance Analyst.", False),
        ("Python " + "and so on " * 60 + ".", False),
    ],
)
def test_a_sentence_may_name_supported_facts_alone(text: str, supported: bool) -> None:
    assert is_supported(text, describe(FOUND, "en"), ["Python", "Data Analyst", "Finance Analyst"]) is supported


def test_a_level_that_is_in_a_fact_may_be_named() -> None:
    senior = describe(Evidence([Fact("role", ["Senior Analyst"])]), "en")
    assert is_supported("This person is a Senior Analyst.", senior, [])
    assert not is_supported("This Senior Analyst is an expert.", senior, [])


@pytest.mark.parametrize(("locale", "word"), [("en", "discussion"), ("fr", "échange"), ("es", "conversación")])
def test_without_facts_a_discussion_is_suggested_and_nothing_claimed(locale: str, word: str) -> None:
    text = list_facts(Evidence([], ["Java"]), locale)
    assert word in text
    assert "Java" not in text


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Nobody here lists Rust in Lyon. Perhaps loosen the place.", True),
        ("Nobody works on Rust in Lyon at Globex Data.", True),
        ("You could ask Maria Schmidt instead.", False),
        ("Demandez à Éric de la Tour.", False),
        ("Three people, or 42, know it.", False),
        ("See [this](https://evil.example).", False),
        ("", False),
        ("x" * 501, False),
    ],
)
def test_an_answer_without_a_result_invents_nobody(text: str, plain: bool) -> None:
    assert invents_nothing(text, "Rust in Lyon at Globex Data") is plain


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ("Find people in the company who know machine learning", "in machine learning"),
        ("Qui maîtrise Kubernetes ?", "Kubernetes"),
        ("¿Quién sabe C++ y C#?", "C++ y C#"),
    ],
)
def test_words_of_asking_match_nobody(request_: str, words: str) -> None:
    assert list_words(request_) == words
