"""The weighted skill coverage by its rules, and by its properties on random profiles."""

from random import Random

import pytest

from oria_runtime.catalog.coverage import list_levels, measure_coverage
from oria_runtime.catalog.jobs import JobSkill
from oria_runtime.catalog.people import ProfileSkill


def need(code: str, level: int | None = None, weight: float = 1.0) -> JobSkill:
    return JobSkill(code=code, level=level, weight=weight)


@pytest.mark.parametrize(
    ("level", "asked", "score"),
    [
        (4, 4, 1.0),
        (5, 4, 1.0),
        (2, 4, 0.5),
        (0, 4, 0.0),
        (None, 4, 1.0),
        (3, None, 1.0),
        (None, None, 1.0),
        (0, 0, 0.0),
    ],
)
def test_a_skill_counts_by_the_share_of_the_level_asked_for(level: int | None, asked: int | None, score: float) -> None:
    assert measure_coverage({"a": level}, [need("a", asked)]).score == score


def test_weights_decide_how_much_a_skill_counts() -> None:
    coverage = measure_coverage({"a": 3}, [need("a", 3, weight=3), need("b", 2, weight=1)])
    assert coverage.score == 0.75
    assert [skill.code for skill in coverage.covered] == ["a"]
    assert [skill.code for skill in coverage.missing] == ["b"]


def test_what_costs_most_is_missing_first() -> None:
    required = [need("half", 4, weight=3), need("none", 4, weight=2), need("nearly", 5, weight=1)]
    assert [skill.code for skill in measure_coverage({"half": 2, "nearly": 4}, required).missing] == [
        "none",
        "half",
        "nearly",
    ]


def test_nothing_required_is_no_match() -> None:
    assert measure_coverage({"a": 5}, []).score == 0.0


@pytest.mark.parametrize("seed", range(30))
def test_the_score_grows_with_every_level_and_stays_in_its_bounds(seed: int) -> None:
    random = Random(seed)
    codes = [f"s{number}" for number in range(12)]
    required = [need(code, random.choice([None, 1, 3, 5]), random.uniform(0.01, 100)) for code in codes]
    owned = {code: random.randint(0, 5) for code in random.sample(codes, 6)}
    before = measure_coverage(owned, required)
    assert 0.0 <= before.score <= 1.0
    assert {skill.code for skill in [*before.covered, *before.missing]} == set(codes)
    raised = random.choice(sorted(owned))
    after = measure_coverage(owned | {raised: min(5, owned[raised] + 1)}, required)
    assert after.score >= before.score
    everything = measure_coverage(dict.fromkeys(codes, 5), required)
    assert everything.score == pytest.approx(1.0)
    assert everything.score <= 1.0
    assert everything.missing == []


def test_skills_of_a_profile_are_read_by_code() -> None:
    skills = [ProfileSkill(code="a", level=2), ProfileSkill(code="b")]
    assert list_levels(skills) == {"a": 2, "b": None}
