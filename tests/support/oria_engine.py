"""Oria's real assistant on the engine of a test: real graph, saver and Postgres, models behind real HTTP.

What is replaced: EventBridge (a list), Lambda (a call), the provider (a scripted model server).
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg.types.json import Jsonb

from graph.registry import ASSISTANTS
from oria_runtime.turns.acceptance import TurnRequest, accept_turn
from oria_runtime.turns.conversations import create_conversation
from oria_runtime.turns.models import Answer, EventType, Turn
from tests.support.engine import USER, Engine
from tests.support.oria_wire import assert_whole_history
from tests.support.people import add_person
from tests.support.scripted_model import Script, call, choose, give, say
from tests.support.trainings import add_training

CAREER_CHAT = "langgraph.career_chat_agent"
TRAINING_FINDER = "langgraph.training_finder_agent"
SUPERVISOR = "langgraph.supervisor"
GATE = "langgraph.guardrails_decision"
PROFILE_TOOL = "get_user_profile_selective_tool"
FINDER_TOOL = "training_finder_tool"
EMBEDDING_MODEL = "text-embedding-3-small"
DIMENSIONS = (("target", "What for?"), ("background", "Level?"), ("time", "How much time?"))
STRUCTURED = {"models": {"mini": {"decisions": "structured"}}}


@dataclass
class OriaEngine(Engine):
    """One person's conversation with Oria, and the scripted model that answers for every stage."""

    script: Script = field(default_factory=Script)
    registry: Mapping[str, Any] = field(default_factory=lambda: ASSISTANTS)

    async def say(self, message: str, *, locale: str = "en", **options: Any) -> Turn:
        if self.conversation_id is None:
            self.conversation_id = (await create_conversation(self.database, USER, "oria")).id
        request = TurnRequest(USER, self.conversation_id, message, locale, **options)
        return (await accept_turn(self.front, self.database, request)).turn

    async def configure(self, config: dict[str, Any]) -> None:
        """Give the tenant another configuration."""
        await self.execute("update tenants set config = %s", Jsonb(config))

    async def add_person(self, **sections: Any) -> None:
        await add_person(self.database, USER, job_title="Data analyst", sections=sections)

    async def add_trainings(self, count: int = 12) -> None:
        for number in range(count):
            title = f"Python part {number:02}"
            await add_training(self.database, f"t{number:02}", title=title, duration_minutes=90, model=EMBEDDING_MODEL)

    async def answer_each(self, turn: Turn, *texts: str) -> Turn:
        """Answer every question of the open interaction with a text, or skip it for an empty one."""
        assert turn.outcome is not None
        questions = turn.outcome["interaction"]["questions"]
        pairs = zip(questions, texts, strict=True)
        answers = [Answer(question["id"], text=text or None, skip=not text) for question, text in pairs]
        return await self.answer(turn, *answers)

    async def state(self) -> dict[str, Any]:
        """The channels of the thread's head checkpoint."""
        thread = f"{self.tenant_id}:{self.conversation_id}"
        async with self.database.transaction() as connection:
            config: Any = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
            found = await AsyncPostgresSaver(connection).aget_tuple(config)
        return dict(found.checkpoint["channel_values"]) if found else {}

    async def usage(self, turn_id: UUID) -> dict[str, Any]:
        """What the turn's row says of its models."""
        return dict((await self.turn(turn_id)).usage)

    async def kinds(self, turn_id: UUID) -> list[str]:
        """The types of the turn's events with runs of deltas as one."""
        kinds: list[str] = []
        for event in await self.events(turn_id):
            if event.type is not EventType.MESSAGE_DELTA or kinds[-1:] != [event.type.value]:
                kinds.append(event.type.value)
        return kinds

    async def asked(self, **matching: Any) -> None:
        """Wait until the model has been asked for this."""
        async with asyncio.timeout(10):
            while not self.script.seen(**matching):
                await asyncio.sleep(0.01)

    async def assert_goes_on(self, message: str = "Are you there?") -> Turn:
        """The next turn completes, and every history it showed a model is whole."""
        before = len(self.script.requests)
        career_chat(self.script, "I am here.")
        turn = await self.run(message)
        assert turn.outcome is not None
        assert (turn.status.value, turn.outcome["text"]) == ("completed", "I am here.")
        shown = [seen for seen in self.script.requests[before:] if seen.label == CAREER_CHAT]
        assert shown
        for seen in shown:
            assert_whole_history(seen, last=message)
        return turn


def career_chat(script: Script, answer: str, *, profile: bool = False) -> None:
    """Route to Career Chat, which answers with this text, after a look at the profile if so."""
    script.on(label=SUPERVISOR).reply(choose("career_chat"))
    script.on(label=CAREER_CHAT).reply(say(answer))
    if profile:
        lookup = call(PROFILE_TOOL, need_basic_info=True)
        script.on(label=CAREER_CHAT, tool=PROFILE_TOOL).reply(lookup, say("private remark"))


def training_finder(
    script: Script, *, plan: bool = False, questions: bool = False, query: str = "Python", **arguments: Any
) -> None:
    """Route to Training Finder, which calls its tool; `questions` are three for a plan."""
    if questions:
        script.on(label="training_finder.questions").reply(give({"questions": [ask(*each) for each in DIMENSIONS]}))
    script.on(label=SUPERVISOR).reply(choose("training_finder"))
    script.on(endpoint="decisions", where=lambda seen: seen.label.startswith("training_finder.search")).reply(
        choose("search")
    )
    values = {"query": query, "is_learning_plan": plan} | arguments
    script.on(label=TRAINING_FINDER, tool=FINDER_TOOL).reply(call(FINDER_TOOL, **values))


def ask(dimension: str, text: str) -> dict[str, Any]:
    """A question of a plan as a model writes it."""
    return {"dimension": dimension, "text": text, "input_type": "text", "options": [], "allow_free_text": True}
