"""Traces leave before the function returns: a frozen sandbox sends nothing (CASES 48).

The worker is a process that is gone the moment it has answered, so what arrived was sent before.
"""

from collections.abc import AsyncIterator

import pytest

from oria_runtime.turns.models import TurnStatus
from tests.support.oria_engine import CAREER_CHAT, GATE, SUPERVISOR, OriaEngine, career_chat, training_finder
from tests.support.oria_processes import run_in_processes, run_memory_in_process
from tests.support.oria_traces import TraceServer, serve_traces

pytestmark = pytest.mark.slow


@pytest.fixture
async def traces() -> AsyncIterator[TraceServer]:
    async with serve_traces() as server:
        yield server


async def test_langsmith_has_every_run_of_a_turn_before_its_workers_are_gone(
    oria: OriaEngine, traces: TraceServer
) -> None:
    career_chat(oria.script, "Hello.")
    environ = {
        "LANGSMITH_TRACING": "true",
        "LANGSMITH_ENDPOINT": traces.url,
        "LANGSMITH_API_KEY": "key",
        "LANGSMITH_DISABLE_RUN_COMPRESSION": "true",
    }
    turn = await run_in_processes(oria, await oria.say("Hello"), environ | oria.script.environ)
    assert turn.status is TurnStatus.COMPLETED
    # Gate, supervisor and specialist: a graph, its node and at least one model call each.
    assert len(traces.runs) >= 9
    assert traces.finished == traces.runs


async def test_langfuse_has_the_spans_of_a_turn_under_its_id(oria: OriaEngine, traces: TraceServer) -> None:
    career_chat(oria.script, "Hello.")
    environ = {"LANGFUSE_PUBLIC_KEY": "pk", "LANGFUSE_SECRET_KEY": "sk", "LANGFUSE_BASE_URL": traces.url}
    environ |= oria.script.environ
    turn = await run_in_processes(oria, await oria.say("Hello"), environ)
    assert "langgraph.memory_update_decision" not in traces.spans
    await run_memory_in_process(oria, turn, environ)
    assert "langgraph.memory_update_decision" in traces.spans
    calls = [name for name in traces.spans if name in (GATE, SUPERVISOR, CAREER_CHAT)]
    assert len(calls) == len(set(calls)) + 1, "each call once; Career Chat makes two"
    assert turn.status is TurnStatus.COMPLETED
    assert len(traces.spans) >= 9
    assert {"pre_supervisor_gate", "supervisor", "career_chat_agent"} <= set(traces.spans)
    assert traces.traces == {turn.id.hex}


async def test_langfuse_has_the_judgement_of_answers(oria: OriaEngine, traces: TraceServer) -> None:
    training_finder(oria.script, plan=True, questions=True)
    turn = await oria.run("I want a plan")
    environ = {"LANGFUSE_PUBLIC_KEY": "pk", "LANGFUSE_SECRET_KEY": "sk", "LANGFUSE_BASE_URL": traces.url}
    turn = await oria.answer_each(turn, "Reports", "", "")
    turn = await run_in_processes(oria, turn, environ | oria.script.environ)
    assert turn.status is TurnStatus.COMPLETED
    assert traces.spans.count(GATE) == 1
    assert traces.traces == {turn.id.hex}


async def test_a_trace_server_that_is_away_costs_no_turn(oria: OriaEngine) -> None:
    career_chat(oria.script, "Hello.")
    away = "http://127.0.0.1:9"
    environ = {"LANGSMITH_TRACING": "true", "LANGSMITH_ENDPOINT": away, "LANGSMITH_API_KEY": "key"}
    environ |= {"LANGFUSE_PUBLIC_KEY": "pk", "LANGFUSE_SECRET_KEY": "sk", "LANGFUSE_BASE_URL": away}
    turn = await run_in_processes(oria, await oria.say("Hello"), environ | oria.script.environ)
    assert turn.status is TurnStatus.COMPLETED
