"""The deterministic parts of the opportunity searches."""

from datetime import date
from typing import Any, get_args

import pytest
from pydantic import ValidationError

from graph.oria.tools.comparison import contains, fold, unite
from graph.oria.tools.opportunities import texts
from graph.oria.tools.opportunities.criteria import (
    CRITERIA,
    NO_CRITERIA,
    CriteriaUpdate,
    OpportunitySearchCriteria,
    bound_criteria,
    drop_criteria,
    list_used,
    merge_criteria,
)
from graph.oria.tools.opportunities.evidence import FactName, Wishes, gather_evidence
from graph.oria.tools.opportunities.limits import build_filters, list_limits
from graph.oria.tools.opportunities.query import describe_person, list_profile_terms, resolve_query
from graph.oria.tools.opportunities.ranking import rank_by_profile
from graph.oria.tools.opportunities.rationales import describe, list_facts
from graph.oria.tools.rationales import Evidence, Fact, is_supported
from graph.policy import OPPORTUNITY_CRITERION_VALUES, OPPORTUNITY_PROFILE_TERMS
from oria_runtime.catalog.fields import WorkMode
from oria_runtime.catalog.jobs import JobSkill
from oria_runtime.catalog.opportunities import EmploymentType, Opportunity, OpportunityKind
from oria_runtime.catalog.people import Objective, Profile
from oria_runtime.tenancy.tenants import OpportunityConfig

TODAY = date(2026, 11, 30)
GRADES = ["L1", "L2", "L3", "L4"]


def wish(**criteria: Any) -> OpportunitySearchCriteria:
    return OpportunitySearchCriteria.model_validate(NO_CRITERIA.model_dump() | criteria)


def update(**criteria: Any) -> CriteriaUpdate:
    return CriteriaUpdate.model_validate(NO_CRITERIA.model_dump() | {"dropped": []} | criteria)


def opening(row_id: str = "a", **values: Any) -> Opportunity:
    return Opportunity.model_validate({"id": row_id, "language": "en", "title": "Work"} | values)


def skill(code: str, label: str, level: int = 1) -> JobSkill:
    return JobSkill(code=code, label=label, level=level)


def person(**values: Any) -> Profile:
    return Profile.model_validate({"user_id": "u"} | values)


def test_names_are_compared_without_case_accents_and_punctuation() -> None:
    assert fold("  Ingénieur·e, C++ / C# ") == "ingenieur e c++ c#"
    assert contains("Lyon, France", "LYON")
    assert not contains("Lyonnais", "Lyon")
    assert not contains("anything", " ")
    assert unite(["Élan", "elan", " ", "Two"]) == ["Élan", "Two"]


def test_the_schema_of_criteria_is_strict() -> None:
    with pytest.raises(ValidationError):
        wish(salary=1)
    with pytest.raises(ValidationError):
        OpportunitySearchCriteria.model_validate({"topic": "data"})
    schema = OpportunitySearchCriteria.model_json_schema()
    assert schema["additionalProperties"] is False
    assert set(schema["required"]) == set(schema["properties"]) == {*CRITERIA, "topic", "all_skills"}


def test_criteria_are_bounded_and_storable() -> None:
    places = ["Ly\x00on", "lyon", "  ", *(f"Place {number}" for number in range(30))]
    bounded = bound_criteria(wish(topic=" a\n b ", locations=places, posted_within_days=-3))
    assert bounded.locations[:2] == ["Lyon", "Place 0"]
    assert len(bounded.locations) == OPPORTUNITY_CRITERION_VALUES
    assert (bounded.topic, bounded.posted_within_days) == ("a b", None)


def test_an_answer_replaces_what_it_names_and_drops_what_it_gives_up() -> None:
    criteria = wish(topic="data", locations=["Paris"], kinds=["job"], skills=["SQL"], all_skills=True)
    merged = merge_criteria(criteria, update(locations=["Lyon"], dropped=["kinds"]))
    assert merged == wish(topic="data", locations=["Lyon"], skills=["SQL"], all_skills=True)
    assert merge_criteria(criteria, update()) == criteria
    assert merge_criteria(criteria, update(skills=["R"])).all_skills is False
    assert drop_criteria(criteria, ["locations", "unknown"]).locations == []
    assert list_used(criteria) == ["kinds", "locations", "skills"]


@pytest.mark.parametrize(
    ("config", "profile", "expected"),
    [
        ({}, None, {}),
        ({"kinds": ["project"]}, None, {"kinds": ["project"]}),
        ({"kinds": []}, None, None),
        ({"same_location": True}, person(location="Lyon"), {"locations": ["Lyon"]}),
        ({"same_location": True}, person(), None),
        ({"same_department": True}, None, None),
        ({"max_classification_distance": 1}, person(classification="l1"), {"classifications": ["L1", "L2"]}),
        ({"max_classification_distance": 0}, person(classification="L3"), {"classifications": ["L3"]}),
        ({"max_classification_distance": 9}, person(classification="L3"), {"classifications": GRADES}),
        ({"max_classification_distance": 1}, person(classification="X9"), None),
    ],
)
def test_the_tenants_filters_follow_from_its_configuration_and_the_profile(
    config: dict[str, Any], profile: Profile | None, expected: dict[str, list[str]] | None
) -> None:
    given = config | ({"classifications": GRADES} if "max_classification_distance" in config else {})
    assert list_limits(OpportunityConfig.model_validate(given), profile) == expected


@pytest.mark.parametrize("config", [{"max_classification_distance": 1}, {"kinds": ["gig"]}, {"unknown": 1}])
def test_a_configuration_that_cannot_work_is_refused(config: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        OpportunityConfig.model_validate(config)


def test_the_configuration_knows_the_catalogues_kinds() -> None:
    schema = OpportunityConfig.model_json_schema()["properties"]["kinds"]
    assert schema["anyOf"][0]["items"]["enum"] == list(get_args(OpportunityKind))


def test_criteria_only_narrow_the_tenants_filters() -> None:
    config, limits = OpportunityConfig(), {"kinds": ["project", "mission"], "locations": ["Lyon"]}
    both = build_filters(wish(kinds=["mission", "job"], locations=["Lyon, France"]), limits, config, TODAY)
    assert both is not None
    assert (both.kinds, both.locations, both.open_on) == (["mission"], ["Lyon, France"], TODAY)
    alone = build_filters(wish(), limits, OpportunityConfig(open_only=False), TODAY)
    assert alone is not None
    assert (alone.kinds, alone.locations, alone.open_on) == (["project", "mission"], ["Lyon"], None)
    assert build_filters(wish(kinds=["job"]), limits, config, TODAY) is None
    assert build_filters(wish(locations=["Paris"]), limits, config, TODAY) is None


def test_days_and_skills_become_filters() -> None:
    filters = build_filters(wish(posted_within_days=7, skills=["R"]), {}, OpportunityConfig(), TODAY)
    assert filters is not None
    assert (filters.posted_after, filters.skills_any, filters.skills_all) == (date(2026, 11, 23), ["R"], None)
    every = build_filters(wish(posted_within_days=10**9, skills=["R"], all_skills=True), {}, OpportunityConfig(), TODAY)
    assert every is not None
    assert (every.posted_after, every.skills_any, every.skills_all) == (date.min, None, ["R"])


def test_the_query_is_the_topic_and_falls_back_to_the_request_alone() -> None:
    assert resolve_query("show me jobs", wish(topic="data", skills=["R"]), ["Analyst"]).text == "data. R. Analyst"
    assert resolve_query("more jobs for cooks", wish()).words == "cooks"
    assert resolve_query("jobs in Lyon", wish(locations=["Lyon"])).text == ""


def test_facts_of_the_person_are_bounded_and_name_nobody() -> None:
    skills = [{"code": str(number), "label": f"Skill {number}"} for number in range(30)]
    objectives = [{"id": "1", "title": "Lead"}, {"id": "2", "title": "Old", "status": "archived"}]
    owner = person(first_name="Ada", email="a@b.example", job_title="Cook", skills=skills, objectives=objectives)
    assert describe_person(owner) == {"job_title": "Cook"}
    assert list_profile_terms(owner)[:3] == ["Cook", "Lead", "Skill 0"]
    assert len(list_profile_terms(owner)) == OPPORTUNITY_PROFILE_TERMS
    assert list_profile_terms(person()) == []


def test_the_profile_moves_only_what_it_supports() -> None:
    found = [opening("a"), opening("b"), opening("c", skills=[skill("py", "Python")])]
    owner = person(skills=[{"code": "py", "label": "Python", "level": 3}])
    assert [row.id for row in rank_by_profile(found, owner)] == ["c", "a", "b"]
    assert [row.id for row in rank_by_profile(found, None)] == ["a", "b", "c"]


def test_evidence_is_what_both_sides_have() -> None:
    row = opening(
        title="Data projects in the field",
        description="Chess club",
        location="Lyon, France",
        department="Legal",
        skills=[skill("py", "Python", 3), skill("sql", "SQL"), skill("r", "R", 5)],
        posted_on=TODAY,
    )
    skills = [{"code": "py", "label": "Python", "level": 4}, {"code": "r", "label": "R", "level": 1}]
    owner = person(location="Nice", skills=skills, interests=["Chess", "Golf"])
    asked = wish(locations=["Lyon"], departments=["Finance"], skills=["sql", "Go"])
    evidence = gather_evidence(row, Wishes(asked, "data wishes in", owner))
    assert {fact.name: list(fact.values) for fact in evidence.facts} == {
        "locations": ["Lyon, France"],
        "skills": ["SQL"],
        "topic": ["data"],
        "own_skills": ["Python"],
        "interests": ["Chess"],
    }
    assert set(evidence.unsupported) == {"Finance", "Go", "R", "Nice", "Golf"}


def test_evidence_of_an_objective_is_its_skills() -> None:
    row = opening(skills=[skill("lead", "Leading people"), skill("sql", "SQL")])
    objective = Objective.model_validate(
        {"id": "o", "title": "T", "skills": [{"code": "lead", "label": "Lead"}, {"code": "x", "label": "Budgets"}]}
    )
    evidence = gather_evidence(row, Wishes(NO_CRITERIA, "", None, objective))
    assert [(fact.name, fact.values) for fact in evidence.facts] == [("objective_skills", ["Leading people"])]
    assert set(evidence.unsupported) == {"SQL", "Budgets"}


EVIDENCE: Evidence[FactName] = Evidence(
    [Fact("locations", ["Lyon"]), Fact("kinds", ["project"])], ["SQL", "Lead a team"]
)


@pytest.mark.parametrize(
    ("text", "supported"),
    [
        ("It is in Lyon.", True),
        ("Ce projet vous attend.", True),
        ("It is in LYON and needs sql.", False),
        ("In Lyon you lead a team.", False),
        ("In Lyon, for your 7 years of work.", False),
        ("Lyon: see https://example.com.", False),
        ("Lyon: [here](x).", False),
        ("It suits you.", False),
        ("", False),
        ("Lyon. " * 100, False),
        ("Lyon, with Finance.", False),
        ("Lyon project", False),
    ],
)
def test_a_sentence_names_facts_and_nothing_beside_them(text: str, supported: bool) -> None:
    assert is_supported(text, describe(EVIDENCE, "fr"), ["Lyon", "Finance"]) == supported


@pytest.mark.parametrize(
    ("locale", "text"),
    [
        ("en", "What fits: location: Lyon; type: project."),
        ("fr", "Ce qui correspond : lieu: Lyon; type: projet."),
        ("es-MX", "Encaja: lugar: Lyon; tipo: proyecto."),
        ("de", "What fits: location: Lyon; type: project."),
    ],
)
def test_facts_are_listed_in_the_persons_language(locale: str, text: str) -> None:
    assert list_facts(EVIDENCE, locale) == text


def test_every_text_exists_in_three_languages() -> None:
    tables = [
        value for name, value in vars(texts).items() if name.isupper() and name not in {"NAMES", "VALUES", "CODED"}
    ]
    tables += [*texts.NAMES.values(), *texts.VALUES.values()]
    assert all(set(table) == {"en", "fr", "es"} for table in tables)
    assert set(texts.NAMES) == {*CRITERIA, *get_args(FactName)}
    assert set(texts.VALUES) == {*get_args(OpportunityKind), *get_args(WorkMode), *get_args(EmploymentType)}
