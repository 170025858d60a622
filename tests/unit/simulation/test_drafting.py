"""What code makes of a drafted scenario."""

from typing import Any

import pytest

from graph.oria.language import pick_text
from graph.oria.tools.simulation import card as cards
from graph.oria.tools.simulation.drafting import Draft, build_scenario
from graph.oria.tools.simulation.skills import CatalogueSkill
from graph.oria.tools.talent.person_candidates import PersonCandidate
from graph.simulation import texts
from graph.simulation.scenario import Scenario, read_scenario
from oria_runtime.models.errors import ModelMalformedError
from tests.support.simulations import draft

CATALOGUE = [CatalogueSkill("s-1", "Giving feedback"), CatalogueSkill("s-2", "Listening")]
MARC = PersonCandidate(id="c1", name="Marc Leroy", job_title="Analyst", details="Analyst", fit="full")


def build(colleague: PersonCandidate | None = None, **changes: Any) -> Scenario:
    return build_scenario(Draft.model_validate(draft(**changes)), colleague, CATALOGUE)


def skill(title: str, number: int | None = None, *criteria: str) -> dict[str, Any]:
    return {"title": title, "catalogue_number": number, "criteria": list(criteria or ("asks",))}


@pytest.mark.parametrize(("given", "kept"), [(-3, 5), (5, 5), (10, 10), (45, 45), (600, 45)])
def test_minutes_are_clamped(given: int, kept: int) -> None:
    assert build(estimated_minutes=given).minutes == kept


def test_a_beginners_ten_minutes_may_have_three_outcomes_and_three_criteria() -> None:
    scenario = build(expected_outcomes=["a", "b", "c"], skills=[skill("Clarifying", None, "x", "y", "z")])
    assert (scenario.difficulty, scenario.minutes, len(scenario.outcomes)) == ("beginner", 10, 3)
    assert scenario.skills[0].criteria == ("x", "y", "z")


def test_repetitions_and_empty_parts_are_dropped_and_surplus_is_left_out() -> None:
    scenario = build(
        expected_outcomes=["A", " ", "a", "b", "c", "d", "e", "f"],
        skills=[skill("One", None, "x", "X", ""), skill("one"), skill(" "), skill("Two"), *map(skill, "3456")],
    )
    assert scenario.outcomes == ("A", "b", "c", "d", "e")
    assert [each.title for each in scenario.skills] == ["One", "Two", "3", "4"]
    assert scenario.skills[0].criteria == ("x",)


def test_codes_come_from_the_catalogue_only_and_once() -> None:
    scenario = build(skills=[skill("A", 2), skill("B", 2), skill("C", 9), skill("D", None)])
    assert [each.code for each in scenario.skills] == ["s-2", None, None, None]


def test_a_coherent_skill_keeps_its_conjunction_and_independent_ones_stay_apart() -> None:
    scenario = build(skills=[skill("Listening and responding to defensiveness"), skill("Negotiating")])
    assert [each.title for each in scenario.skills] == ["Listening and responding to defensiveness", "Negotiating"]


def test_only_a_found_colleague_is_an_identity() -> None:
    assert (build().counterpart.person_id, build().counterpart.name) == (None, None)
    assert (build(MARC).counterpart.person_id, build(MARC).counterpart.name) == ("c1", "Marc Leroy")


def test_texts_are_bounded_lines() -> None:
    scenario = build(title="x\n" * 500, situation="y\x00 " * 5_000)
    assert (len(scenario.title), len(scenario.situation)) == (120, 1_500)
    assert "\x00" not in scenario.situation
    assert "\n" not in scenario.title


@pytest.mark.parametrize("part", ["title", "situation", "goal", "opening_line"])
def test_a_scenario_without_a_part_is_none(part: str) -> None:
    with pytest.raises(ModelMalformedError, match=part):
        build(None, **{part: " "})


@pytest.mark.parametrize("part", ["role", "instructions"])
def test_a_counterpart_without_a_part_is_none(part: str) -> None:
    counterpart = {"role": "a", "attitude": "", "instructions": "b"}
    assert build(counterpart=counterpart)
    with pytest.raises(ModelMalformedError, match=part):
        build(counterpart=counterpart | {part: ""})


def test_a_scenario_survives_its_storage() -> None:
    scenario = build(MARC)
    assert read_scenario(scenario.model_dump(mode="json")) == scenario


@pytest.mark.parametrize("locale", ["en", "fr", "es"])
def test_the_card_has_a_text_in_every_language(locale: str) -> None:
    text = cards.write_text(build(MARC), locale)
    assert "Marc Leroy, colleague in finance" in text
    assert "{" not in text


def test_every_fixed_text_is_there_in_three_languages() -> None:
    groups = [texts.FINISHED, texts.ASSESSMENT_TITLES, texts.NOTHING_SAID, texts.UNPROVEN, texts.OUTCOMES]
    groups += [texts.SKILLS, texts.NEXT_STEPS, *texts.ENDINGS.values(), *texts.VERDICTS.values()]
    groups += [cards.LINES, cards.START, cards.UNRESOLVED, *cards.DIFFICULTIES.values()]
    for group in groups:
        assert set(group) == {"en", "fr", "es"}
        assert len({pick_text(group, locale) for locale in group}) >= 2
