"""A thread in which every tool of every specialist has been called, and asked: cut anywhere, it stays whole.

CASES 36 and 37: cuts are made at the borders of turns only, pairs stay together, artifacts last 25 messages.
"""

from collections.abc import Sequence

import pytest
from langchain_core.messages import AnyMessage, HumanMessage, ToolMessage
from langchain_core.messages.utils import count_tokens_approximately

from graph.middleware.history import edit_history
from graph.oria.agents import SPECIALISTS
from graph.oria.agents.specialist_run import SEARCHES_AND_TRANSFERS
from graph.oria.records import list_records
from graph.oria.tools.shown import list_shown
from graph.oria.window import cut_window, drop_old_artifacts, find_last_card, merge_messages, split_turns, starts_turn
from graph.policy import ARTIFACT_MESSAGES, TRIM_MESSAGES
from oria_runtime.db.pool import Pool
from tests.support.oria_wire import assert_whole_history, list_entries
from tests.support.scripted_model import Script, say
from tests.support.tool_case import Pause
from tests.support.tool_cases import ROWS
from tests.support.tool_registry import discover_tools
from tests.support.tool_run import STILL_HERE, ToolRun, assert_whole_pairs, list_results
from tests.support.tool_world import World

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def talk(world: World, script: Script, pool: Pool) -> ToolRun:
    """One thread over all specialists: each tool succeeds, and each that may pause has paused."""
    run: ToolRun | None = None
    for agent, tool in discover_tools():
        before = run.conversation if run else None
        run = ToolRun(world, script, pool, agent, ROWS[tool])
        if before is not None:
            run.conversation = before.with_options(agent=agent)
        await run.succeed()
        # Who was confirmed in this thread is not asked about again.
        if isinstance(run.case.pause, Pause) and (await run.make(run.case.pause.ask)).interrupts:
            await run.answer(run.case.pause.answers)
        script.rules.clear()
    assert run is not None
    return run


async def test_a_thread_of_every_tool_stays_whole_however_it_is_cut(
    tool_world: World, tool_script: Script, tool_pool: Pool
) -> None:
    run = await talk(tool_world, tool_script, tool_pool)
    tool_script.requests.clear()
    for agent, specialist in SPECIALISTS.items():
        tool_script.on(label=specialist.label).reply(say(STILL_HERE))
        run.agent, run.conversation = agent, run.conversation.with_options(agent=agent)
        stop = await run.say(f"And you, {agent}?")
        assert stop.outcome["text"] == STILL_HERE
        for seen in tool_script.seen(label=specialist.label):
            assert_whole_history(seen, last=f"And you, {agent}?")
            assert len(list_entries(seen)) <= TRIM_MESSAGES + 1
    messages = stop.messages
    assert {str(message.name) for message in list_results(messages)} >= {"talent_finder_tool", "suggest_simulation"}
    assert len(messages) > 2 * TRIM_MESSAGES
    assert_whole_pairs(messages)
    assert_cuts_are_whole(messages)
    assert_edits_are_whole(messages)
    assert_artifacts_end(messages)


def assert_cuts_are_whole(messages: Sequence[AnyMessage]) -> None:
    """The window and what leaves it for the summary, for every limit; answers inside a turn begin none."""
    assert [message for turn in split_turns(messages) for message in turn] == list(messages)
    assert sum(map(starts_turn, messages)) < sum(isinstance(message, HumanMessage) for message in messages)
    for limit in range(1, len(messages) + 1):
        kept = cut_window(messages, limit)
        older = list(messages[: len(messages) - len(kept)])
        assert starts_turn(kept[0])
        assert_whole_pairs(kept)
        assert_whole_pairs(older)
        assert len(list_records(older)) == len(older)
    for tokens in range(100, count_tokens_approximately(messages), 250):
        kept = cut_window(messages, len(messages), tokens)
        assert starts_turn(kept[0])
        assert_whole_pairs(kept)


def assert_edits_are_whole(messages: Sequence[AnyMessage]) -> None:
    """What a specialist is shown, at every turn of the thread and whatever its tools are."""
    starts = [index for index, message in enumerate(messages) if starts_turn(message)]
    for index in starts:
        for dropped in (set[str](), SEARCHES_AND_TRANSFERS, set(ROWS)):
            shown = list(messages[: index + 1])
            turn_id = str(messages[index].id)
            for edit in edit_history(turn_id, dropped=dropped, starts_turn=starts_turn, context=[]).edits:
                edit.apply(shown, count_tokens=count_tokens_approximately)
            assert starts_turn(shown[0])
            assert shown[-1].id == turn_id
            assert_whole_pairs(shown)
            assert not dropped & {str(message.name) for message in list_results(shown)}


def assert_artifacts_end(messages: Sequence[AnyMessage]) -> None:
    """Identities of results last for the last messages only; the last card is remembered longer."""
    kept = drop_old_artifacts(messages)
    old = kept[:-ARTIFACT_MESSAGES]
    assert not [message for message in old if isinstance(message, ToolMessage) and message.artifact is not None]
    for key in ("training_ids", "opportunity_ids", "person_ids", "simulation_ids"):
        assert list_shown(kept, key) == list_shown(messages, key)
        assert list_shown(old, key) == []
    assert find_last_card(kept) == find_last_card(messages)
    assert [message.id for message in merge_messages(messages, [])][-10:] == [m.id for m in messages[-10:]]
