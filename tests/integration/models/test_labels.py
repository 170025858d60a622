"""How calls appear to callbacks and inside LangChain's own agents."""

from typing import Any
from uuid import UUID

import pytest
from langchain.agents import create_agent
from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.messages import AIMessageChunk
from langchain_core.tools import tool
from pydantic import BaseModel

from oria_runtime.models.client import build_models
from oria_runtime.models.errors import ModelRefusalError
from oria_runtime.settings import ModelSettings
from oria_runtime.tenancy.tenants import TenantConfig
from tests.support.scripted_model import Script, call, refuse, say

LABEL = "langgraph.training_finder_agent"


class Recorder(AsyncCallbackHandler):
    """Notes the runs that start: name, tags, task."""

    def __init__(self) -> None:
        self.runs: list[tuple[str | None, list[str] | None, Any]] = []

    async def on_chat_model_start(
        self, serialized: dict[str, Any], messages: Any, *, run_id: UUID, **kwargs: Any
    ) -> None:
        self.note(kwargs)

    async def on_chain_start(
        self, serialized: dict[str, Any], inputs: dict[str, Any], *, run_id: UUID, **kwargs: Any
    ) -> None:
        self.note(kwargs)

    def note(self, run: dict[str, Any]) -> None:
        self.runs.append((run.get("name"), run.get("tags"), (run.get("metadata") or {}).get("task")))


class Title(BaseModel):
    title: str


@tool
def search(query: str) -> str:
    """Search the catalogue."""
    return f"found {query}"


async def test_every_kind_of_call_carries_its_label_to_the_callbacks(script: Script) -> None:
    recorder = Recorder()
    models = build_models(ModelSettings(), TenantConfig(), callbacks=[recorder], environ=script.environ)
    await models.chat("mini", LABEL).ainvoke("hello")
    async for _ in models.chat("mini", LABEL).astream("hello"):
        pass
    await models.structured(label=LABEL, schema=Title, messages=[])
    await models.choose(
        label=LABEL, name="x", instructions="y", choices={"a": "b"}, evidence={"latest": "c"}, timeout=5
    )
    assert len(recorder.runs) == 4
    for name, tags, task in recorder.runs:
        assert (name, task) == (LABEL, LABEL)
        assert LABEL in (tags or [])
    assert [seen.label for seen in script.requests] == [LABEL] * 4


async def test_an_agent_streams_its_messages_and_every_call_is_counted(script: Script) -> None:
    script.on(tool="search").reply(call("search", query="python"), say("I found python."))
    models = build_models(ModelSettings(), TenantConfig(), environ=script.environ)
    agent: Any = create_agent(models.chat("large", LABEL), [search])
    heard: list[str] = []
    async for chunk, _metadata in agent.astream({"messages": [("user", "hello")]}, stream_mode="messages"):
        if isinstance(chunk, AIMessageChunk):
            heard.append(chunk.text)
    assert "".join(heard) == "I found python."
    assert [seen.body["stream"] for seen in script.requests] == [True, True]
    assert models.usage.labels[LABEL].calls == 2
    assert models.usage.labels[LABEL].input_tokens > 0


@pytest.mark.parametrize("mode", ["messages", "updates"])
async def test_an_error_is_the_same_however_an_agent_calls(script: Script, mode: str) -> None:
    script.on().reply(refuse())
    models = build_models(ModelSettings(), TenantConfig(), environ=script.environ)
    agent: Any = create_agent(models.chat("large", LABEL), [search])
    with pytest.raises(ModelRefusalError):
        _ = [part async for part in agent.astream({"messages": [("user", "hello")]}, stream_mode=mode)]
