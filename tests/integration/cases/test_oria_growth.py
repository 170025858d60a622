"""A long conversation: what models are shown and what is stored stop growing, and nothing that left is forgotten."""

import pytest

from graph.policy import TRIM_MESSAGES, WINDOW_MESSAGES
from tests.support.oria_engine import CAREER_CHAT, PROFILE_TOOL, OriaEngine, career_chat
from tests.support.oria_wire import assert_whole_history, list_entries
from tests.support.scripted_model import call, say

TURNS = 80


@pytest.mark.slow
async def test_eighty_turns_keep_requests_and_thread_bounded_and_are_summarised(oria: OriaEngine) -> None:
    await oria.add_person()
    career_chat(oria.script, "An answer of some length, as they are.")
    oria.script.on(label="langgraph.summary").reply(say("What was said before, in short."))
    sizes: list[int] = []
    rows: list[int] = []
    for number in range(TURNS):
        if number % 5 == 0:
            lookup = call(PROFILE_TOOL, need_basic_info=True)
            oria.script.on(label=CAREER_CHAT, tool=PROFILE_TOOL, times=1).reply(lookup)
        before = len(oria.script.requests)
        await oria.run(f"Question {number}")
        shown = [seen for seen in oria.script.requests[before:] if seen.label == CAREER_CHAT]
        for seen in shown:
            assert_whole_history(seen, last=f"Question {number}")
            assert len(list_entries(seen)) <= TRIM_MESSAGES + 4, "the current turn is shown whole"
        sizes.append(max(len(seen.text) for seen in shown))
        state = await oria.state()
        assert len(state["messages"]) <= WINDOW_MESSAGES + 4, "a turn's own messages come after the summary"
        rows.append(len(str(await oria.thread_rows())))
    assert oria.script.count(label="langgraph.summary") >= 2
    assert state["summary"] == "What was said before, in short."
    assert "What was said before" in oria.script.seen(label=CAREER_CHAT)[-1].text
    assert max(sizes[60:]) <= max(sizes[:60])
    assert max(rows[60:]) <= max(rows[:60]) * 1.1
    assert len(await oria.transcript()) == 2 * TURNS
