"""Pauses: each question once, each answer to its own question, each in its own conversation (CASES 14 to 32)."""

from dataclasses import replace
from uuid import UUID

import pytest

from oria_runtime.errors import ConflictError, NotFoundError
from oria_runtime.turns.conversations import read_conversation
from oria_runtime.turns.interactions import Response, read_interaction, respond
from oria_runtime.turns.models import Answer, EventType, Turn, TurnStatus
from tests.support.engine import USER, Engine
from tests.support.oria_engine import OriaEngine, training_finder


def interaction_of(turn: Turn) -> UUID:
    assert turn.outcome is not None
    return UUID(turn.outcome["interaction"]["id"])


async def test_questions_asked_together_are_one_pause_answered_together(oria: OriaEngine) -> None:
    """CASES 16 and 18: there is no second interrupt to fire again, and no answer without its question."""
    training_finder(oria.script, plan=True, questions=True)
    turn = await oria.run("I want a plan")
    requested = [e for e in await oria.events(turn.id) if e.type is EventType.INTERACTION_REQUESTED]
    assert len(requested) == 1
    assert len(requested[0].data["interaction"]["questions"]) == 3
    await oria.answer_each(turn, "one", "two", "three")
    await oria.drain(oria.worker())
    requested = [e for e in await oria.events(turn.id) if e.type is EventType.INTERACTION_REQUESTED]
    assert len(requested) == 1
    assert oria.script.count(label="training_finder.questions") == 1


async def test_three_questions_in_a_row_each_wait_for_their_own_answer(engine: Engine) -> None:
    """CASES 20 and 22: an answer is never reused by the question after it."""
    turn = await engine.run("ask ask-twice effect")
    seen = []
    for text in ("one", "two", "three"):
        turn = await engine.turn(turn.id)
        assert turn.status is TurnStatus.AWAITING_INPUT
        seen.append(interaction_of(turn))
        await engine.answer(turn, Answer("q1", text=text))
        await engine.drain(engine.worker())
    turn = await engine.turn(turn.id)
    assert turn.outcome is not None
    assert turn.outcome["text"].endswith("one two three")
    assert len(set(seen)) == 3
    assert await engine.side_effects(turn.id) == 1


async def test_the_first_of_two_different_answers_wins(engine: Engine) -> None:
    """CASES 21: also when the second one comes while the first is judged, and after."""
    turn = await engine.run("ask")
    waiting = turn
    await engine.answer(waiting, Answer("q1", text="approve"))
    with pytest.raises(ConflictError):
        await engine.answer(waiting, Answer("q1", text="reject"))
    await engine.drain()
    with pytest.raises(ConflictError):
        await engine.answer(waiting, Answer("q1", text="reject"))
    turn = await engine.turn(turn.id)
    assert turn.outcome is not None
    assert turn.outcome["text"].endswith("approve")


async def test_answers_to_nothing_are_a_conflict_and_start_nothing(engine: Engine) -> None:
    """CASES 24: for an idle conversation there is nothing to name; an old interaction is a conflict."""
    paused = await engine.run("ask")
    await engine.answer(paused, Answer("q1", text="blue"))
    await engine.drain()
    assert (await engine.run("hello")).status is TurnStatus.COMPLETED
    published = len(engine.bus.history)
    with pytest.raises(ConflictError) as refused:
        await engine.answer(paused, Answer("q1", text="again"))
    assert refused.value.blocking == {"turn_id": str(paused.id)}
    with pytest.raises(NotFoundError):
        await respond(engine.front, engine.database, USER, paused.id, Response([Answer("q1", skip=True)]))
    assert len(engine.bus.history) == published


async def test_stream_turn_interaction_and_thread_tell_of_the_same_pause(oria: OriaEngine) -> None:
    """CASES 30."""
    training_finder(oria.script, plan=True, questions=True)
    turn = await oria.run("I want a plan")
    last = (await oria.events(turn.id))[-1]
    assert last.type is EventType.INTERACTION_REQUESTED
    assert turn.outcome is not None
    assert last.data["interaction"] == turn.outcome["interaction"]
    stored = await read_interaction(oria.database, USER, interaction_of(turn))
    assert (stored.turn_id, stored.status) == (turn.id, "pending")
    assert [question.as_json() for question in stored.questions] == turn.outcome["interaction"]["questions"]
    saver_rows = str(await oria.thread_rows())
    assert str(stored.id).encode().hex() in saver_rows
    assert oria.conversation_id is not None
    conversation = await read_conversation(oria.database, USER, oria.conversation_id)
    assert conversation.active_turn_id == turn.id
    assert (await oria.transcript())[-1].text == turn.outcome["text"]


async def test_a_pause_belongs_to_its_conversation(oria: OriaEngine) -> None:
    """CASES 32: another conversation of the same person neither shows nor answers it, and goes on."""
    training_finder(oria.script, plan=True, questions=True)
    paused = await oria.run("I want a plan")
    other = replace(oria, conversation_id=None)
    asked = oria.script.count(label="training_finder.scope")
    went_on = await other.assert_goes_on("Something else")
    assert went_on.conversation_id != paused.conversation_id
    assert oria.script.count(label="training_finder.scope") == asked
    assert other.conversation_id is not None
    assert (await read_conversation(other.database, USER, other.conversation_id)).active_turn_id is None
    assert [m.text for m in await other.transcript()] == ["Something else", "I am here."]
    kinds = {event.type for event in await other.events(went_on.id)}
    assert EventType.INTERACTION_REQUESTED not in kinds
    assert (await read_interaction(oria.database, USER, interaction_of(paused))).status == "pending"
    with pytest.raises(NotFoundError):
        await read_interaction(oria.database, "bob", interaction_of(paused))


async def test_an_agents_pause_deep_in_its_subgraph_is_found_by_another_worker(oria: OriaEngine) -> None:
    """CASES 14: graph, agent and tool node are three levels; two pauses in a row, each in a fresh sandbox."""
    training_finder(oria.script, plan=True, questions=True)
    for expected in (1, 2):
        turn = await oria.run("A plan please")
        assert turn.status is TurnStatus.AWAITING_INPUT
        await oria.answer_each(turn, "one", "two", "three")
        await oria.drain(oria.worker())
        assert (await oria.turn(turn.id)).status is TurnStatus.COMPLETED
        # One selection for each turn: a lost inner state would have started the agent again.
        assert oria.script.count(label="langgraph.training_finder_agent") == expected
