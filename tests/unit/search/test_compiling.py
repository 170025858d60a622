"""Criteria and filters as parameters of the search functions: the same input always compiles to the same parameter."""

from datetime import date

import pytest

from oria_runtime.catalog.facets import MAX_VALUES, MAX_WORDS_CHARACTERS, FacetGroup, build_parameters, compile_groups
from oria_runtime.catalog.opportunity_search import OpportunityFilters
from oria_runtime.catalog.talent_search import FIELDS, Criterion, as_groups


def test_groups_keep_their_order_and_operators() -> None:
    groups = [FacetGroup("role", "any", ["Analyst", "Data lead"]), FacetGroup("skill", "all", ("SQL",))]
    assert compile_groups(groups) == [
        {"field": "role", "operator": "any", "values": ["Analyst", "Data lead"]},
        {"field": "skill", "operator": "all", "values": ["SQL"]},
    ]


@pytest.mark.parametrize("values", [[], [""], [" ", "\t"], ["\x00"]])
def test_a_group_without_a_value_limits_nothing(values: list[str]) -> None:
    assert compile_groups([FacetGroup("location", "all", values)]) == []


def test_values_are_cleaned_and_come_once() -> None:
    values = [" Lyon ", "Lyon", "Par\x00is", "\ud800"]
    assert compile_groups([FacetGroup("location", "any", values)])[0]["values"] == ["Lyon", "Paris", "\ufffd"]


def test_lists_and_words_are_bounded() -> None:
    [group] = compile_groups([FacetGroup("skill", "any", [str(number) for number in range(3 * MAX_VALUES)])])
    assert len(group["values"]) == MAX_VALUES
    assert len(build_parameters([], "x" * 100_000, [], 50)["words"]) == MAX_WORDS_CHARACTERS


def test_every_filter_of_opportunities_is_a_group_of_its_own() -> None:
    filters = OpportunityFilters(
        kinds=["job"], departments=["IT"], locations=["Lyon"], work_modes=["remote"], classifications=["B"],
        employment_types=["permanent"], companies=["Acme"], job_codes=["J1"], languages=["fr"], skills_any=["a", "b"],
        skills_all=["c", "d"], posted_after=date(2026, 1, 1), open_on=date(2026, 2, 1),
    )  # fmt: skip
    assert [(group.field, group.operator, list(group.values)) for group in filters.as_groups()] == [
        ("kind", "any", ["job"]),
        ("department", "any", ["IT"]),
        ("location", "any", ["Lyon"]),
        ("work_mode", "any", ["remote"]),
        ("classification", "any", ["B"]),
        ("employment_type", "any", ["permanent"]),
        ("company", "any", ["Acme"]),
        ("job_code", "any", ["J1"]),
        ("language", "any", ["fr"]),
        ("skill", "any", ["a", "b"]),
        ("skill", "all", ["c", "d"]),
    ]


def test_filters_that_are_none_or_empty_limit_nothing() -> None:
    assert OpportunityFilters().as_groups() == []
    assert OpportunityFilters(kinds=[], skills_all=()).as_groups() == []


def test_every_criterion_of_talent_has_a_facet() -> None:
    criteria = [Criterion(field, "all", ["x"]) for field in FIELDS]
    assert {group.field for group in as_groups(criteria)} == {
        "classification", "location", "work_mode", "skill", "role", "company", "department",
    }  # fmt: skip
    assert {group.operator for group in as_groups(criteria)} == {"all"}
