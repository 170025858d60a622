"""The Training-Finder exception: elaborating a profile's action plan is no search for trainings (DESIGN 9)."""

import asyncio
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from graph.oria.agents import SPECIALISTS, Specialist
from graph.oria.routing import choose_agent, write_evidence
from oria_runtime.errors import StageFailedError
from tests.integration.oria.conftest import STRUCTURED, Person
from tests.integration.oria.snapshots import assert_snapshot
from tests.support.scripted_model import Script, choose, decide, give, refuse

CHAT, TRAINING, PROFILE = (SPECIALISTS[agent_id] for agent_id in ("career_chat", "training_finder", "profile_analysis"))
BOTH = [CHAT, TRAINING]
ROUTING = "langgraph.supervisor"


def show_card(card_type: str) -> list[AnyMessage]:
    return [
        HumanMessage("Analyse my profile"),
        AIMessage("", tool_calls=[{"name": "display_user_profile_tool", "args": {}, "id": "call-1"}]),
        ToolMessage("shown", tool_call_id="call-1", artifact={"card_type": card_type}),
        HumanMessage("Go deeper into the second topic"),
    ]


async def route(person: Person, messages: list[AnyMessage], specialists: list[Specialist]) -> str:
    evidence = write_evidence(messages, locale="en", active_agent=None, summary="")
    deadline = asyncio.get_running_loop().time() + 5
    return await choose_agent(specialists, messages, evidence, person.models(), deadline)


@pytest.mark.parametrize(
    ("destination", "probability", "agents", "expected"),
    [
        ("training_finder", 0.9, [*BOTH, PROFILE], "profile_analysis"),
        ("training_finder", 0.9, BOTH, "career_chat"),
        ("training_finder", 0.9, [TRAINING, PROFILE], "profile_analysis"),
        ("training_finder", 0.1, [*BOTH, PROFILE], "training_finder"),
        ("career_chat", 0.9, [*BOTH, PROFILE], "career_chat"),
    ],
)
@pytest.mark.parametrize("config", [{}, STRUCTURED], ids=["native", "structured"])
async def test_elaboration_leaves_training_finder(
    *,
    person: Person,
    script: Script,
    destination: str,
    probability: float,
    agents: list[Specialist],
    expected: str,
    config: dict[str, Any],
) -> None:
    structured = give({"destination": destination, "elaborates_action_plan": probability >= 0.5})
    native = decide(destination=destination, elaborates_action_plan=probability)
    script.on(label=ROUTING).reply(structured if config else native)
    assert await route(person.with_config(config), show_card("profile_analysis"), agents) == expected
    assert script.count(label=ROUTING) == 1


async def test_both_questions_are_in_the_reviewed_request(person: Person, script: Script) -> None:
    await route(person, show_card("profile_analysis"), [*BOTH, PROFILE])
    assert_snapshot("supervisor_beside_profile", script.seen(label=ROUTING)[0].body["questions"])


async def test_another_last_card_leaves_the_choice_alone(person: Person, script: Script) -> None:
    script.on(label=ROUTING).reply(choose("training_finder"))
    messages = [*show_card("profile_analysis"), *show_card("trainings")]
    assert await route(person, messages, [*BOTH, PROFILE]) == "training_finder"
    assert len(script.seen(label=ROUTING)[0].body["questions"]) == 1


@pytest.mark.parametrize("config", [{}, STRUCTURED], ids=["native", "structured"])
async def test_a_refused_second_question_fails_the_turn(person: Person, script: Script, config: dict[str, Any]) -> None:
    script.on(label=ROUTING).reply(refuse())
    with pytest.raises(StageFailedError):
        await route(person.with_config(config), show_card("profile_analysis"), BOTH)


async def test_a_destination_that_is_not_offered_fails_the_turn(person: Person, script: Script) -> None:
    script.on(label=ROUTING).reply(give({"destination": "talent_finder", "elaborates_action_plan": True}))
    with pytest.raises(StageFailedError):
        await route(person.with_config(STRUCTURED), show_card("profile_analysis"), BOTH)
