"""A colleague is confirmed on the way to another specialist: once a turn, for good, and without a second gate."""

from typing import Any

import pytest

from oria_runtime.turns.cancellation import cancel_turn
from oria_runtime.turns.models import Answer, Turn, TurnStatus
from tests.support.engine import USER
from tests.support.oria_engine import CAREER_CHAT, GATE, SUPERVISOR, OriaEngine
from tests.support.people import add_person
from tests.support.scripted_model import call, choose, give, say
from tests.support.simulations import BRIEF, DRAFT, PARSE, SCENARIO

PERSON = "langgraph.person_disambiguation_agent"
MEMORY = "langgraph.memory_update_decision"
TOOL = "person_disambiguation_tool"
SIMULATION_TOOL = "suggest_simulation"
TEXT = "Prepare a talk with Ada Byron"


@pytest.fixture(autouse=True)
async def people(oria: OriaEngine) -> None:
    """Two namesakes with equal details, and the person who asks."""
    await oria.add_person()
    for person_id in ("p-1", "p-2"):
        await add_person(oria.database, person_id, job_title="Engineer")


def route(oria: OriaEngine, *agents: str) -> None:
    """The supervisor's decisions, then what each specialist does."""
    oria.script.on(label=SUPERVISOR).reply(*(choose(agent) for agent in agents))
    oria.script.on(label=CAREER_CHAT).reply(say("Here is how to begin."))
    oria.script.on(label=PERSON, tool=TOOL).reply(call(TOOL, person_name="Ada Byron"), say("ANSWER"))
    oria.script.on(label=PERSON, where=lambda seen: not seen.tools).reply(say("Let us go on with Ada."))


async def choose_second(oria: OriaEngine, turn: Turn) -> Turn:
    """Choose p-2 in another worker and run what follows."""
    assert turn.outcome is not None
    [question] = turn.outcome["interaction"]["questions"]
    [option] = [option["id"] for option in question["options"] if "p-2" in option["label"]]
    await oria.answer(turn, Answer(question["id"], option_ids=[option]))
    await oria.drain(oria.worker())
    return await oria.turn(turn.id)


def count(oria: OriaEngine) -> dict[str, int]:
    return {label: oria.script.count(label=label) for label in (GATE, MEMORY, SUPERVISOR)}


async def test_a_chosen_person_returns_to_the_supervisor_for_the_request(oria: OriaEngine) -> None:
    route(oria, "person_disambiguation", "career_chat")
    turn = await oria.run(TEXT)
    assert turn.status is TurnStatus.AWAITING_INPUT
    assert count(oria) == {GATE: 1, MEMORY: 1, SUPERVISOR: 1}
    turn = await choose_second(oria, turn)
    assert turn.outcome is not None
    assert (turn.status.value, turn.agent) == ("completed", "career_chat")
    assert turn.outcome["text"] == "Here is how to begin."
    assert count(oria) == {GATE: 1, MEMORY: 1, SUPERVISOR: 2}
    state = await oria.state()
    assert state["selected_person"] == {"id": "p-2", "name": "Ada Byron"}
    assert (state["returned"], state["returning"]) == (True, False)
    first, second = oria.script.seen(label=SUPERVISOR)
    rule = "the question of who is meant is answered"
    assert (rule in first.text, rule in second.text) == (False, True)
    assert "p-2" in second.text
    assert TEXT in second.text
    assert oria.script.count(label=PERSON) == 1


async def test_a_turn_returns_at_most_once(oria: OriaEngine) -> None:
    route(oria, "person_disambiguation", "person_disambiguation")
    turn = await choose_second(oria, await oria.run(TEXT))
    assert turn.outcome is not None
    assert (turn.status.value, turn.outcome["text"]) == ("completed", "Let us go on with Ada.")
    assert count(oria) == {GATE: 1, MEMORY: 1, SUPERVISOR: 2}


async def test_a_named_agent_goes_on_itself(oria: OriaEngine) -> None:
    route(oria, "career_chat")
    turn = await choose_second(oria, await oria.run(TEXT, agent="person_disambiguation"))
    assert turn.outcome is not None
    assert turn.outcome["text"] == "Let us go on with Ada."
    assert count(oria)[SUPERVISOR] == 0
    assert (await oria.state())["selected_person"] == {"id": "p-2", "name": "Ada Byron"}


async def test_the_exact_person_is_kept_over_turns(oria: OriaEngine) -> None:
    route(oria, "person_disambiguation", "career_chat")
    await choose_second(oria, await oria.run(TEXT))
    await oria.assert_goes_on()
    assert (await oria.state())["selected_person"] == {"id": "p-2", "name": "Ada Byron"}
    route(oria, "person_disambiguation")
    oria.script.on(label=PERSON, tool=SIMULATION_TOOL).reply(
        call(SIMULATION_TOOL, request="A talk about a late report", counterpart_name="Ada Byron")
    )
    oria.script.on(label=PARSE).reply(give(BRIEF))
    oria.script.on(label=DRAFT).reply(give(dict(SCENARIO)))
    turn = await oria.run("Let me practise it with her")
    assert turn.outcome is not None
    assert turn.status is TurnStatus.COMPLETED
    [card] = turn.outcome["cards"]
    assert "p-2" in str(card)
    assert "p-1" not in str(card)


async def test_a_named_agent_prepares_the_simulation_with_the_chosen_person(oria: OriaEngine) -> None:
    route(oria, "career_chat")
    practice = call(SIMULATION_TOOL, request="A talk about a late report", counterpart_name="Ada Byron")
    oria.script.on(label=PERSON, tool=TOOL).reply(call(TOOL, person_name="Ada Byron"), practice)
    oria.script.on(label=PARSE).reply(give(BRIEF))
    oria.script.on(label=DRAFT).reply(give(dict(SCENARIO)))
    turn = await choose_second(oria, await oria.run(TEXT, agent="person_disambiguation"))
    assert turn.status is TurnStatus.COMPLETED
    assert turn.outcome is not None
    [card] = turn.outcome["cards"]
    assert "p-2" in str(card)
    assert "p-1" not in str(card)


@pytest.mark.parametrize("way", ["skipped", "cancelled"])
async def test_no_choice_confirms_nobody_and_goes_nowhere(oria: OriaEngine, way: str) -> None:
    route(oria, "person_disambiguation", "career_chat")
    turn = await oria.run(TEXT)
    before = len(oria.script.requests)
    if way == "skipped":
        await oria.answer_each(turn, "")
        await oria.drain(oria.worker())
    else:
        await cancel_turn(oria.front, oria.database, USER, turn.id)
        oria.bus.events.clear()
    turn = await oria.turn(turn.id)
    assert turn.outcome is not None
    assert turn.status.value == ("completed" if way == "skipped" else "cancelled")
    assert len(oria.script.requests) == before
    assert not (await oria.state()).get("selected_person")
    route(oria, "career_chat")
    await oria.assert_goes_on()


async def test_a_certain_person_returns_without_a_question(oria: OriaEngine) -> None:
    await add_person(oria.database, "p-3", first_name="Zoë", last_name="Müller")
    route(oria, "person_disambiguation", "career_chat")
    oria.script.on(label=PERSON, tool=TOOL).reply(call(TOOL, person_name="zoe muller"))
    turn = await oria.run("Prepare a talk with Zoe")
    assert turn.outcome is not None
    assert turn.outcome["text"] == "Here is how to begin."
    assert (await oria.state())["selected_person"] == {"id": "p-3", "name": "Zoë Müller"}
    activities: list[Any] = [event.type.value for event in await oria.events(turn.id)]
    assert "interaction.requested" not in activities
