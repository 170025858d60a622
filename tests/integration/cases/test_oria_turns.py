"""Whole turns of Oria through the engine: what the person sees, what is kept, what the models were asked."""

from dataclasses import replace
from typing import Any

import pytest

from local.offline_model.wire.answers import Answer
from local.offline_model.wire.prompts import ToolCall
from oria_runtime.turns.models import EventType, TurnStatus
from oria_runtime.turns.preferences import read_preferences
from tests.support.engine import USER
from tests.support.oria_engine import (
    CAREER_CHAT,
    FINDER_TOOL,
    GATE,
    PROFILE_TOOL,
    STRUCTURED,
    SUPERVISOR,
    TRAINING_FINDER,
    OriaEngine,
    career_chat,
    training_finder,
)
from tests.support.oria_wire import assert_whole_history
from tests.support.scripted_model import Step, answer_with, call, choose, decide, fail, give, say


@pytest.mark.parametrize("config", [{}, STRUCTURED], ids=["native", "structured"])
async def test_a_career_chat_turn_shows_each_step_once_and_keeps_whole_pairs(
    oria: OriaEngine, config: dict[str, Any]
) -> None:
    await oria.configure(config)
    await oria.add_person(interests=["Chess"])
    career_chat(oria.script, "You are a data analyst.", profile=True)
    turn = await oria.run("Who am I at work?")
    assert (turn.status, turn.agent) == (TurnStatus.COMPLETED, "career_chat")
    node = ["stage.started", "activity.started", "activity.completed"]
    assert await oria.kinds(turn.id) == [
        "run.accepted", *node, *node, "stage.started", "activity.started", "activity.started", "activity.completed",
        "message.delta", "activity.completed", "message.completed", "run.completed",
    ]  # fmt: skip
    events = await oria.events(turn.id)
    started = [event.data for event in events if event.type is EventType.ACTIVITY_STARTED]
    assert [(data["kind"], data["name"]) for data in started] == [
        ("task", "pre_supervisor_gate"), ("task", "supervisor"), ("task", "career_chat_agent"), ("tool", PROFILE_TOOL),
    ]  # fmt: skip
    assert all(set(data) == {"activity_id", "kind", "name"} for data in started)
    stages = [event.data["stage"] for event in events if event.type is EventType.STAGE_STARTED]
    assert stages == ["gate", "supervisor", "specialist"]
    deltas = "".join(event.data["text"] for event in events if event.type is EventType.MESSAGE_DELTA)
    assert deltas == "You are a data analyst."
    said = [(message.role, message.text) for message in await oria.transcript()]
    assert said == [("user", "Who am I at work?"), ("assistant", "You are a data analyst.")]
    kept = [message.type for message in (await oria.state())["messages"]]
    assert kept == ["human", "ai", "tool", "ai"]
    assert "private remark" not in str([*events, *await oria.thread_rows()])
    assert (oria.script.count(endpoint="decisions") > 0) is (config == {})
    await oria.assert_goes_on()


async def test_a_failed_stage_ends_the_activities_that_it_began(oria: OriaEngine) -> None:
    oria.script.on(label=SUPERVISOR).reply(choose("career_chat"))
    oria.script.on(label=CAREER_CHAT).reply(fail(400))
    turn = await oria.run("Hello")
    assert turn.status is TurnStatus.FAILED
    events = await oria.events(turn.id)
    assert [event.type.value for event in events[-5:]] == [
        "stage.started", "activity.started", "activity.completed", "message.completed", "run.failed",
    ]  # fmt: skip
    assert (events[-3].data["name"], events[-3].data["status"]) == ("career_chat_agent", "error")
    await oria.assert_goes_on()


async def test_a_turns_row_holds_usage_and_cost_of_each_task(oria: OriaEngine) -> None:
    await oria.add_person()
    career_chat(oria.script, "Hello.", profile=True)
    turn = await oria.run("Hello")
    labels = await oria.usage(turn.id)
    calls = {label: tally["calls"] for label, tally in labels.items()}
    assert calls == {GATE: 1, SUPERVISOR: 1, CAREER_CHAT: 3, "langgraph.memory_update_decision": 1}
    assert calls == {label: oria.script.count(label=label) for label in calls}
    for tally in labels.values():
        assert tally["input_tokens"] > 0
        assert tally["cost"] is not None


async def test_a_training_plan_pauses_and_ends_in_another_sandbox(oria: OriaEngine) -> None:
    await oria.add_trainings()
    await oria.add_person()
    training_finder(oria.script, plan=True, questions=True)
    turn = await oria.run("I want a plan to learn Python")
    assert turn.status is TurnStatus.AWAITING_INPUT
    assert turn.outcome is not None
    asked = [question["id"] for question in turn.outcome["interaction"]["questions"]]
    assert asked == ["target", "background", "time"]
    scopes = oria.script.count(label="training_finder.scope")
    await oria.answer_each(turn, "Automate reports", "", "Two hours a week")
    await oria.drain(oria.worker())
    turn = await oria.turn(turn.id)
    assert turn.status is TurnStatus.COMPLETED
    assert turn.outcome is not None
    assert turn.outcome["cards"][0]["learningPlan"]["phases"]
    assert oria.script.count(label="training_finder.scope") == scopes == 1
    assert oria.script.count(label=TRAINING_FINDER) == 1
    kept = [message.type for message in (await oria.state())["messages"]]
    assert kept == ["human", "ai", "tool", "ai", "human", "ai"]
    roles = [message.role for message in await oria.transcript()]
    assert roles == ["user", "assistant", "user", "assistant"]
    await oria.assert_goes_on()


async def test_more_of_a_search_repeats_nothing_over_workers(oria: OriaEngine) -> None:
    await oria.add_trainings()
    training_finder(oria.script, query="Python part")
    shown: list[str] = []
    for number in range(3):
        await oria.say("More please" if number else "Python trainings")
        await oria.drain(oria.worker())
        training_finder(oria.script, query="Python part", show_more=True)
    async with oria.database.transaction() as connection:
        rows = await (await connection.execute("select cards from messages order by position")).fetchall()
    shown = [item["id"] for row in rows for card in row["cards"] for item in card["items"]]
    assert len(shown) == len(set(shown)) == 12


async def test_a_blocked_message_reaches_no_thread_and_no_model_but_the_gates(oria: OriaEngine) -> None:
    career_chat(oria.script, "Hello.")
    await oria.run("Hello")
    oria.script.on(label=GATE, text="plutonium", times=1).reply(choose("block"))
    oria.script.on(label="langgraph.guardrails_response").reply(say("I cannot help with this."))
    blocked = await oria.run("Sell me plutonium")
    assert blocked.status is TurnStatus.BLOCKED
    await oria.assert_goes_on()
    assert "plutonium" not in str(await oria.thread_rows())
    readers = {seen.label for seen in oria.script.requests if "plutonium" in seen.text}
    assert readers == {GATE, "langgraph.guardrails_response"}
    assert [message.text for message in await oria.transcript()][2:4] == [
        "Sell me plutonium",
        "I cannot help with this.",
    ]


async def test_a_blocked_answer_leaves_the_pause_and_reaches_no_thread(oria: OriaEngine) -> None:
    await oria.add_trainings(3)
    training_finder(oria.script, plan=True, questions=True)
    turn = await oria.run("I want a plan")
    oria.script.on(label=GATE, text="plutonium", times=1).reply(choose("block"))
    oria.script.on(label="langgraph.guardrails_response").reply(say("I cannot help with this."))
    before = await oria.thread_rows()
    await oria.answer_each(turn, "To sell plutonium", "", "")
    await oria.drain()
    turn = await oria.turn(turn.id)
    assert turn.status is TurnStatus.AWAITING_INPUT
    assert await oria.thread_rows() == before
    assert (await oria.events(turn.id))[-1].data["text"] == "I cannot help with this."
    await oria.answer_each(turn, "To write reports", "", "")
    await oria.drain(oria.worker())
    assert (await oria.turn(turn.id)).status is TurnStatus.COMPLETED
    readers = {seen.label for seen in oria.script.requests if "plutonium" in seen.text}
    assert readers == {GATE, "langgraph.guardrails_response"}
    await oria.assert_goes_on()


async def test_a_doubtful_message_is_answered_with_a_question_and_goes_on(oria: OriaEngine) -> None:
    oria.script.on(label=GATE, text="Do it", times=1).reply(choose("doubt"))
    oria.script.on(label="langgraph.guardrails_response").reply(say("What do you mean?"))
    turn = await oria.run("Do it")
    assert turn.outcome is not None
    assert (turn.status, turn.outcome["decision"]) == (TurnStatus.BLOCKED, "doubt")
    assert oria.script.count(label=SUPERVISOR) == 0
    await oria.assert_goes_on("I mean my next interview")


@pytest.mark.parametrize("config", [{}, STRUCTURED], ids=["native", "structured"])
async def test_an_approved_message_updates_the_memory_once(oria: OriaEngine, config: dict[str, Any]) -> None:
    await oria.configure(config)
    career_chat(oria.script, "Noted.")
    fact = "I prefer short answers."
    if config:
        oria.script.on(label="langgraph.memory_update_decision").reply(
            give({"decision": "update", "preferences": [fact]})
        )
    else:
        oria.script.on(label="langgraph.memory_update_decision").reply(choose("update"))
        oria.script.on(label="langgraph.memory_update_generation").reply(give({"preferences": [fact]}))
    turn = await oria.run("I prefer short answers")
    stored = await read_preferences(oria.database, USER)
    assert ([item.startswith(fact) for item in stored.items], stored.version) == ([True], 1)
    assert "langgraph.memory_update_decision" in await oria.usage(turn.id)
    oria.bus.events = [event for event in oria.bus.history if event.detail_type == "turn.approved"]
    assert await oria.drain() == [{"result": "not_claimed"}]


async def test_a_named_agent_is_reached_without_the_supervisor(oria: OriaEngine) -> None:
    oria.script.on(label=CAREER_CHAT).reply(say("Directly."))
    turn = await oria.run("Hello", agent="career_chat")
    assert turn.outcome is not None
    assert (turn.agent, turn.outcome["text"]) == ("career_chat", "Directly.")
    assert oria.script.count(label=SUPERVISOR) == 0
    stages = [event.detail["stage"] for event in oria.bus.history if event.detail_type == "turn.stage"]
    assert stages == ["gate", "specialist"]


async def test_a_french_turn_is_answered_in_french(oria: OriaEngine) -> None:
    await oria.add_trainings(2)
    training_finder(oria.script)
    turn = await oria.run("Une formation Python ?", locale="fr")
    assert turn.outcome is not None
    assert turn.outcome["cards"][0]["title"] == "Formations qui correspondent à votre demande"
    career_chat(oria.script, "Bonjour.")
    turn = await oria.run("Bonjour", locale="fr")
    assert turn.outcome is not None
    assert turn.outcome["text"] == "Bonjour."
    for seen in oria.script.seen(label=CAREER_CHAT):
        assert "French" in seen.text
        assert_whole_history(seen, last="Bonjour")


async def test_events_that_come_again_ask_no_model_twice(oria: OriaEngine) -> None:
    await oria.add_person()
    career_chat(oria.script, "Hello.", profile=True)
    await oria.say("Hello")
    for stage in ("gate", "supervisor", "specialist"):
        event = await oria.next_stage(stage)
        results = [await oria.stage(event, worker) for worker in (oria.worker(), oria.worker(), oria.front)]
        assert [result["result"] for result in results[1:]] == ["not_claimed"] * 2
    asked = len(oria.script.requests)
    oria.bus.events = list(reversed(oria.bus.history))
    results = await oria.drain(oria.worker())
    assert {result["result"] for result in results} == {"not_claimed", "skipped"}, "memory had not run yet"
    assert len(oria.script.requests) == asked + 1
    assert oria.script.count(label=CAREER_CHAT) == 3
    assert len(await oria.transcript()) == 2


async def test_a_provider_that_repeats_its_ids_repeats_no_message(oria: OriaEngine) -> None:
    """A caching gateway answers the same request with the same ids."""
    career_chat(oria.script, "Hello.")
    for number in range(3):
        assert (await oria.run(f"Hello {number}")).status is TurnStatus.COMPLETED
    assert [message.text for message in (await oria.state())["messages"]][1::2] == ["Hello."] * 3


@pytest.mark.parametrize("responses", [True, False], ids=["responses", "completions"])
async def test_a_server_that_counts_its_calls_anew_in_each_answer_keeps_pairs_apart(
    oria: OriaEngine, responses: bool
) -> None:
    profile = {"use_responses_api": responses}
    await oria.configure({"models": {"mini": profile, "large": profile}})
    await oria.add_person()
    await oria.add_trainings(4)
    arguments = '{"query": "Python", "is_learning_plan": false}'
    for number in range(3):
        career_chat(oria.script, f"Answer {number}.")
        oria.script.on(label=CAREER_CHAT, tool=PROFILE_TOOL, times=1).reply(
            number_calls(ToolCall("", PROFILE_TOOL, '{"need_basic_info": true}'))
        )
        assert (await oria.run(f"Question {number}")).status is TurnStatus.COMPLETED
    assert oria.script.count(label=CAREER_CHAT) == 9
    for seen in oria.script.seen(label=CAREER_CHAT):
        assert_whole_history(seen)
    training_finder(oria.script)
    oria.script.on(label=TRAINING_FINDER, where=lambda seen: not seen.tools).reply(say("One at a time."))
    both = number_calls(ToolCall("", FINDER_TOOL, arguments), ToolCall("", "get_trainings_tool", "{}"))
    oria.script.on(label=TRAINING_FINDER, tool=FINDER_TOOL).reply(both, say("private"))
    assert (await oria.run("Python trainings")).status is TurnStatus.COMPLETED
    assert oria.script.count(endpoint="embeddings") == 0, "the batch is refused whole"
    await oria.assert_goes_on()


def number_calls(*calls: ToolCall) -> Step:
    """Call tools under the ids call_0, call_1 and so on, as in every answer before."""
    return answer_with(Answer(tool_calls=[replace(call, id=f"call_{index}") for index, call in enumerate(calls)]))


async def test_a_failing_tool_is_an_error_result_that_the_model_reads(oria: OriaEngine) -> None:
    """The tool's database query fails; the turn does not."""
    from tests.support.database import execute

    execute(oria.urls.owner, "drop function oria.search_trainings_by_text")
    training_finder(oria.script)
    oria.script.on(label=TRAINING_FINDER, where=lambda seen: "Error:" in seen.text).reply(say("It did not work."))
    turn = await oria.run("Python trainings")
    assert turn.outcome is not None
    assert (turn.status, turn.outcome["text"]) == (TurnStatus.COMPLETED, "It did not work.")
    results = [message for message in (await oria.state())["messages"] if message.type == "tool"]
    assert [result.status for result in results] == ["error"]
    await oria.assert_goes_on()


async def test_text_that_no_database_stores_does_not_fail_the_turn(oria: OriaEngine) -> None:
    await oria.add_person()
    career_chat(oria.script, "a\x00b \ud800c", profile=True)
    oria.script.on(label=CAREER_CHAT, tool=PROFILE_TOOL, times=1).reply(
        call(PROFILE_TOOL, need_basic_info=True, note="x\x00y")
    )
    turn = await oria.run("Hello")
    assert turn.outcome is not None
    assert turn.status is TurnStatus.COMPLETED
    assert "\x00" not in turn.outcome["text"]
    await oria.assert_goes_on()


async def test_a_skipped_scope_makes_the_plan_without_a_pause(oria: OriaEngine) -> None:
    await oria.add_trainings(4)
    training_finder(oria.script, plan=True)
    oria.script.on(label="training_finder.scope").reply(decide(skip=1.0))
    turn = await oria.run("A plan, no questions please")
    assert turn.status is TurnStatus.COMPLETED
    activities = [event.data["name"] for event in await oria.events(turn.id) if event.data.get("kind") == "tool"]
    assert activities == [FINDER_TOOL, FINDER_TOOL]
