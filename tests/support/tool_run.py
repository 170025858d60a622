"""A specialist that calls one tool in a thread of its own, and what must hold whatever came of the call."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage

from graph.oria.agents import SPECIALISTS
from oria_runtime.db.pool import Pool, TenantDatabase
from oria_runtime.tenancy.tenants import TenantConfig
from tests.integration.agents.conftest import Conversation, Stop
from tests.support.engine import USER
from tests.support.oria_wire import assert_whole_history
from tests.support.scripted_model import Script, Seen, Step, call, say
from tests.support.tool_case import Ask, Pause, ToolCase
from tests.support.tool_world import FOREIGN, CountingDatabase, World

PRIVATE_REMARK = "what a model says beside its calls"
ANSWER = "That is all I can tell you."
STILL_HERE = "I am still here."
# Words of drivers, of the scripted provider, of Python and of SQL; and of the other tenant.
LEAKS = (FOREIGN, PRIVATE_REMARK, "psycopg", "Traceback", "scripted 4", "Error code", "Undefined", "127.0.0.1")


INSERT_CONVERSATION_SQL = """
insert into conversations (id, tenant_id, user_id, assistant)
values (%(conversation)s, %(tenant)s, %(user)s, 'oria') on conflict do nothing
"""
INSERT_TURN_SQL = """
insert into turns (id, tenant_id, conversation_id, user_id, assistant, status, message, locale)
values (%(turn)s, %(tenant)s, %(conversation)s, %(user)s, 'oria', 'completed', '', 'en') on conflict do nothing
"""


@dataclass
class StoredConversation(Conversation):
    """The same with rows for its turns, to which what a tool stores belongs."""

    async def run(self, given: Any) -> Stop:
        assert self.context is not None
        turn = self.context.turn
        row = {"turn": turn.id, "conversation": turn.conversation_id, "tenant": turn.tenant_id, "user": turn.user_id}
        async with TenantDatabase(self.database.pool, turn.tenant_id).transaction() as connection:
            await connection.execute(INSERT_CONVERSATION_SQL, row)
            await connection.execute(INSERT_TURN_SQL, row)
        return await super().run(given)


@dataclass
class ToolRun:
    """One thread. `state` goes into its channels; `runs` counts its runs, each of which reads the profile."""

    world: World
    script: Script
    pool: Pool
    agent: str
    case: ToolCase
    config: TenantConfig = field(default_factory=TenantConfig)
    state: Mapping[str, Any] = field(default_factory=dict)
    runs: int = 0

    def __post_init__(self) -> None:
        self.database = CountingDatabase(self.pool, self.world.tenant_id)
        self.conversation: Conversation = StoredConversation(
            self.script, self.database, self.agent, self.config, user_id=USER
        )
        self.case.prepare(self.script)

    @property
    def label(self) -> str:
        """The task label of the agent's own model calls."""
        return SPECIALISTS[self.agent].label

    def is_nested(self, seen: Seen) -> bool:
        """Whether a tool asked, not the agent."""
        return seen.label != self.label

    def count_nested(self) -> int:
        return sum(map(self.is_nested, self.script.requests))

    def count_own_transactions(self) -> int:
        """The tool's transactions, without the agent's reading of the profile."""
        return self.database.transactions - self.runs

    def script_agent(self, *steps: Step) -> None:
        """What the agent does with tools; then it answers."""
        self.script.on(label=self.label, where=lambda seen: bool(seen.tools)).reply(*steps, say(PRIVATE_REMARK))
        self.script.on(label=self.label, where=lambda seen: not seen.tools).reply(say(ANSWER))

    async def make(self, ask: Ask, step: Step | None = None) -> Stop:
        """A turn with this call, or with `step` instead."""
        self.script_agent(step or call(self.case.tool, **ask.arguments))
        return await self.say("Please do it", user_id=ask.user, interactions=ask.interactions)

    async def say(self, text: str, **options: Any) -> Stop:
        """A new turn of the thread that names the agent."""
        self.conversation = self.conversation.with_options(**options)
        self.runs += 1
        return await self.conversation.say(text, requested_agent=self.agent, **self.state)

    async def answer(self, answers: Sequence[Mapping[str, Any]]) -> Stop:
        """Answers to the pending questions, in another worker."""
        self.runs += 1
        return await self.conversation.answer(*map(dict, answers))

    async def succeed(self) -> Stop:
        """The call of the row that succeeds, with its answers where it asks first."""
        if isinstance(self.case.success, Ask):
            return await self.make(self.case.success)
        await self.make(self.case.success.ask)
        return await self.answer(self.case.success.answers)

    @property
    def success(self) -> Ask:
        """What comes of the call that succeeds."""
        return self.case.success.ask if isinstance(self.case.success, Pause) else self.case.success

    def assert_result(self, stop: Stop, ask: Ask) -> None:
        """The one result is what the row says, and the person gets it, or the agent's own answer."""
        [result] = list_results(stop.messages)
        assert (result.name, result.status) == (self.case.tool, ask.status), result.text
        assert result.text == ask.says if ask.status == "error" else ask.says in result.text, result.text
        shown = [card["type"] for card in stop.outcome["cards"]]
        assert shown == ([ask.card] if ask.card else [])
        assert (stop.outcome["text"] == ANSWER) is (ask.card is None), stop.outcome["text"]
        if ask.card is not None:
            assert stop.deltas == ""

    def assert_nothing_private(self, stop: Stop) -> None:
        """Neither person nor state nor model sees whose fault it was or what is another tenant's."""
        shown = [*(repr(message) for message in stop.messages), repr(stop.values.get("outcome")), repr(stop.interrupts)]
        shown += [repr(event) for event in stop.events] + [seen.text for seen in self.script.requests]
        leaks = (*LEAKS, str(self.world.tenant_id), str(self.world.foreign_id))
        assert not [leak for leak in leaks for text in shown if leak in text.replace("scripted-", "")]

    async def assert_goes_on(self) -> None:
        """The next turn completes, and shows models whole pairs only."""
        self.script.on(label=self.label).reply(say(STILL_HERE))
        before = len(self.script.requests)
        stop = await self.say("And now?", interactions=True)
        assert stop.outcome["text"] == STILL_HERE
        assert_whole_pairs(stop.messages)
        asked = [seen for seen in self.script.requests[before:] if seen.label == self.label]
        assert asked
        for seen in asked:
            assert_whole_history(seen, last="And now?")
        self.assert_nothing_private(stop)


def list_results(messages: Sequence[AnyMessage]) -> list[ToolMessage]:
    return [message for message in messages if isinstance(message, ToolMessage)]


def assert_whole_pairs(messages: Sequence[AnyMessage]) -> None:
    """Each call of the state has its one result after it, and no result is without a call."""
    open_calls: list[str] = []
    for message in messages:
        if isinstance(message, ToolMessage):
            assert message.tool_call_id in open_calls
            open_calls.remove(message.tool_call_id)
        else:
            assert not open_calls, "a call without its result"
        if isinstance(message, AIMessage):
            open_calls += [str(made["id"]) for made in message.tool_calls]
    assert not open_calls, "a call without its result"
