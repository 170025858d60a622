"""Two who write to one conversation: the second is refused or waits, and nothing of either is lost (CASES 11)."""

import asyncio

from oria_runtime.errors import ConflictError
from oria_runtime.turns.acceptance import TurnRequest, accept_turn
from oria_runtime.turns.models import Turn, TurnStatus
from tests.support.engine import USER
from tests.support.oria_engine import OriaEngine, career_chat


async def say_at_once(oria: OriaEngine, count: int, **options: str) -> list[Turn | BaseException]:
    """Messages that arrive at the same moment, each at a sandbox of its own."""
    await oria.run("Hello")
    workers = [oria.worker() for _ in range(count)]

    async def say(number: int) -> Turn:
        request = TurnRequest(USER, oria.conversation_id, f"Message {number}", "en", **options)  # type: ignore[arg-type]
        sandbox = workers[number]
        return (await accept_turn(sandbox, sandbox.database(oria.tenant_id), request)).turn

    return await asyncio.gather(*(say(number) for number in range(count)), return_exceptions=True)


async def test_of_messages_at_once_one_is_accepted_and_the_others_are_told_which(oria: OriaEngine) -> None:
    career_chat(oria.script, "Hello.")
    results = await say_at_once(oria, 4)
    turns = [result for result in results if isinstance(result, Turn)]
    refused = [result for result in results if isinstance(result, ConflictError)]
    assert (len(turns), len(refused)) == (1, 3)
    assert all(error.blocking == {"turn_id": str(turns[0].id)} for error in refused)
    await oria.drain()
    assert (await oria.turn(turns[0].id)).status is TurnStatus.COMPLETED
    assert len(await oria.transcript()) == 4


async def test_messages_at_once_that_may_wait_all_run_and_none_is_lost(oria: OriaEngine) -> None:
    career_chat(oria.script, "Hello.")
    results = await say_at_once(oria, 4, on_conflict="enqueue")
    turns = [result for result in results if isinstance(result, Turn)]
    assert len(turns) == 4
    await oria.drain()
    assert {(await oria.turn(turn.id)).status for turn in turns} == {TurnStatus.COMPLETED}
    kept = [message.text for message in (await oria.state())["messages"] if message.type == "human"]
    said = [message.text for message in await oria.transcript() if message.role == "user"]
    assert kept == said
    assert set(said) == {"Hello", *(f"Message {number}" for number in range(4))}
