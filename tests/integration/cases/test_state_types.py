"""What a checkpoint may bring back: the types that are named, and nothing else (CASES 13)."""

import sys
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from pydantic import BaseModel

from oria_runtime.db.pool import TenantDatabase
from oria_runtime.turns.models import TurnStatus
from oria_runtime.turns.saver import BufferingSaver
from tests.support.engine import Engine
from tests.support.lab import LAB
from tests.support.oria_engine import OriaEngine, training_finder
from tests.support.oria_processes import run_in_processes


class Amount(BaseModel):
    """A model that a graph might keep in its state."""

    value: Decimal


@dataclass(frozen=True)
class Place:
    """A dataclass that a graph might keep in its state."""

    name: str


AMOUNT, PLACE = (Amount.__module__, "Amount"), (Place.__module__, "Place")


def reload(database: TenantDatabase, value: Any, *state_types: tuple[str, str]) -> Any:
    saver = BufferingSaver(database, None, state_types)
    return saver.serde.loads_typed(saver.serde.dumps_typed(value))


@pytest.mark.parametrize(
    "value",
    [
        Decimal("1.50"),
        datetime(2026, 1, 1, tzinfo=UTC),
        UUID(int=7),
        {"deep": [Decimal(1), {"at": datetime(2026, 1, 1, tzinfo=UTC)}]},
        [HumanMessage("a", id="1"), AIMessage("", tool_calls=[{"name": "t", "args": {"x": 1}, "id": "c"}])],
        ToolMessage("r", tool_call_id="c", artifact={"training_ids": ["t1"]}),
    ],
    ids=["decimal", "datetime", "uuid", "nested", "messages", "artifact"],
)
async def test_ordinary_types_come_back_as_they_were(database: TenantDatabase, value: Any) -> None:
    reloaded = reload(database, value)
    assert (type(reloaded), reloaded) == (type(value), value)


@pytest.mark.parametrize("value", [Amount(value=Decimal("1.5")), Place("Lyon")], ids=["pydantic", "dataclass"])
async def test_a_class_comes_back_as_it_was_only_when_it_is_named(database: TenantDatabase, value: Any) -> None:
    assert reload(database, value, AMOUNT, PLACE) == value
    assert isinstance(reload(database, value), dict)


async def test_bytes_that_name_a_function_do_not_call_it(database: TenantDatabase, tmp_path: Path) -> None:
    """Somebody who can write the table could run code in every worker (langchain-ai/langgraph#7533)."""
    from langgraph.checkpoint.serde.jsonplus import EXT_CONSTRUCTOR_SINGLE_ARG
    from ormsgpack import Ext, packb

    target = tmp_path / "touched"
    call = packb(("os", "mkdir", str(target)))
    saver = BufferingSaver(database, None)
    saver.serde.loads_typed(("msgpack", packb(Ext(EXT_CONSTRUCTOR_SINGLE_ARG, call))))
    assert not target.exists()


async def test_a_module_that_nobody_needs_is_not_imported(database: TenantDatabase) -> None:
    from langgraph.checkpoint.serde.jsonplus import EXT_CONSTRUCTOR_KW_ARGS
    from ormsgpack import Ext, packb

    assert "this" not in sys.modules
    saver = BufferingSaver(database, None)
    saver.serde.loads_typed(("msgpack", packb(Ext(EXT_CONSTRUCTOR_KW_ARGS, packb(("this", "s", {}))))))
    assert "this" not in sys.modules


async def test_an_assistant_names_the_classes_of_its_state(engine: Engine) -> None:
    """Through the engine: the registry's list reaches the saver of a stage."""
    deployed = engine.with_registry({"lab": replace(LAB, state_types=(AMOUNT,))})
    assert (await deployed.run("types")).status is TurnStatus.COMPLETED
    assert (await deployed.run("hello")).status is TurnStatus.COMPLETED
    await deployed.close()


@pytest.mark.slow
async def test_langgraphs_own_strict_mode_changes_nothing(oria: OriaEngine) -> None:
    """LANGGRAPH_STRICT_MSGPACK makes LangGraph copy the saver: the copy's head would never be committed."""
    environ = {"LANGGRAPH_STRICT_MSGPACK": "true"} | oria.script.environ
    await oria.add_trainings(3)
    training_finder(oria.script, plan=True, questions=True)
    turn = await run_in_processes(oria, await oria.say("I want a plan"), environ)
    assert turn.status is TurnStatus.AWAITING_INPUT
    turn = await run_in_processes(oria, await oria.answer_each(turn, "Reports", "None", "A day"), environ)
    assert turn.outcome is not None
    assert (turn.status, turn.outcome["error"]) == (TurnStatus.COMPLETED, None)
