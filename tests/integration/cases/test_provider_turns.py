"""Whole turns on each provider, from the gate to the streamed answer, and conversations that change providers."""

import pytest

from oria_runtime.turns.models import EventType, TurnStatus
from tests.support.model_providers import (
    ANTHROPIC,
    AZURE_COMPLETIONS,
    AZURE_RESPONSES,
    COMPATIBLE,
    OVH,
    PROVIDERS,
    RESPONSES,
    Provider,
)
from tests.support.model_quirks import reason
from tests.support.oria_engine import (
    CAREER_CHAT,
    DIMENSIONS,
    PROFILE_TOOL,
    TRAINING_FINDER,
    OriaEngine,
    ask,
    career_chat,
    training_finder,
)
from tests.support.scripted_model import call, give, say

EACH = pytest.mark.parametrize(
    "provider",
    [AZURE_RESPONSES, AZURE_COMPLETIONS, OVH, COMPATIBLE, ANTHROPIC],
    ids=lambda provider: provider.id,
)


def look_up_first(oria: OriaEngine, answer: str) -> None:
    """Career Chat reads the profile after some reasoning, then says this."""
    career_chat(oria.script, answer)
    lookup = reason(call(PROFILE_TOOL, need_basic_info=True))
    oria.script.on(label=CAREER_CHAT, tool=PROFILE_TOOL).reply(lookup, say("private remark"))


async def read_deltas(oria: OriaEngine, turn_id: object) -> str:
    events = await oria.events(turn_id)  # type: ignore[arg-type]
    return "".join(event.data["text"] for event in events if event.type is EventType.MESSAGE_DELTA)


@EACH
async def test_a_specialists_turn_runs_on_its_provider_alone(oria: OriaEngine, provider: Provider) -> None:
    await oria.configure(provider.configure(oria.script))
    await oria.add_person(interests=["Chess"])
    look_up_first(oria, "You are a data analyst.")
    turn = await oria.run("Who am I at work?")
    assert (turn.status, turn.agent) == (TurnStatus.COMPLETED, "career_chat"), turn.outcome
    assert await read_deltas(oria, turn.id) == "You are a data analyst."
    assert "private remark" not in str([*await oria.events(turn.id), *await oria.thread_rows()])
    assert {seen.path for seen in oria.script.requests} == {provider.path}
    usage = await oria.usage(turn.id)
    assert {"langgraph.guardrails_decision", "langgraph.supervisor", CAREER_CHAT} <= usage.keys()
    assert all((tally["cost"] is not None) is provider.priced for tally in usage.values())
    await oria.assert_goes_on()


async def test_a_conversation_goes_on_when_its_tenant_changes_providers(oria: OriaEngine) -> None:
    await oria.add_person()
    for number, provider in enumerate([*PROVIDERS, RESPONSES]):
        await oria.configure(provider.configure(oria.script))
        look_up_first(oria, f"Answer {number}.")
        turn = await oria.run(f"Question {number}?")
        assert turn.status is TurnStatus.COMPLETED, (provider.id, turn.outcome)
        assert await read_deltas(oria, turn.id) == f"Answer {number}."


async def test_the_profiles_of_one_turn_may_have_different_providers(oria: OriaEngine) -> None:
    await oria.add_trainings(2)
    config = RESPONSES.configure(oria.script)
    config["models"]["large"] = ANTHROPIC.configure(oria.script)["models"]["large"]
    await oria.configure(config)
    training_finder(oria.script)
    turn = await oria.run("A Python training, please")
    assert turn.status is TurnStatus.COMPLETED, turn.outcome
    paths = {seen.label: seen.path for seen in oria.script.requests}
    assert paths["langgraph.supervisor"] == "/v1/decisions"
    assert paths[TRAINING_FINDER] == ANTHROPIC.path
    assert paths["embeddings"] == "/v1/embeddings"


@pytest.mark.parametrize(("before", "after"), [(RESPONSES, ANTHROPIC), (ANTHROPIC, COMPATIBLE)])
async def test_a_turn_paused_on_one_provider_is_answered_on_another(
    oria: OriaEngine, before: Provider, after: Provider
) -> None:
    await oria.add_trainings(2)
    await oria.configure(before.configure(oria.script))
    training_finder(oria.script, plan=True, questions=True)
    unknown = {f"{name}_known": False for name, _ in [*DIMENSIONS, ("preferences", "")]}
    questions = [ask(*dimension) for dimension in DIMENSIONS]
    scope = give({**unknown, "skip_requested": False, "questions": questions})
    oria.script.on(label="training_finder.scope", endpoint="chat").reply(scope)
    paused = await oria.run("I need a plan for Python")
    assert paused.status is TurnStatus.AWAITING_INPUT
    await oria.configure(after.configure(oria.script))
    seen_before = len(oria.script.requests)
    await oria.answer_each(paused, "Reports", "Beginner", "Two hours a week")
    await oria.drain()
    turn = await oria.turn(paused.id)
    assert turn.status is TurnStatus.COMPLETED, turn.outcome
    asked = [seen.path for seen in oria.script.requests[seen_before:] if seen.endpoint != "embeddings"]
    assert asked
    assert set(asked) == {after.path}
