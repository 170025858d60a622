"""Rules of the tools that need neither a database nor a model."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest
from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langgraph.errors import GraphInterrupt, ParentCommand
from langgraph.types import Command

from graph.middleware.delivery import Delivery, deliver, find_delivered
from graph.middleware.tool_boundary import bound_errors, run_bounded
from graph.oria.tools.clarification import (
    WrittenQuestion,
    attach_exchange,
    build_question,
    read_answer,
    read_question,
    write_exchange,
)
from graph.oria.tools.get_user_profile_selective_tool import NO_USER, read_selected
from graph.oria.tools.profile_sections import SECTIONS, ProfileSelectors, select_sections
from graph.oria.tools.shown import list_shown
from graph.oria.tools.training_cards import IDS_KEY, build_artifact, build_card
from graph.oria.tools.training_finder.plan_scope import DIMENSIONS, list_missing
from graph.oria.window import CARD_TYPE_KEY
from oria_runtime.catalog.people import Profile
from oria_runtime.catalog.trainings import Training
from oria_runtime.turns.models import Answer, Question


def shown(*ids: str) -> ToolMessage:
    return ToolMessage(
        "", tool_call_id="c", artifact=build_artifact([Training(id=i, language="en", title="") for i in ids])
    )


async def test_a_request_without_a_user_id_has_no_profile_and_says_so() -> None:
    result = await read_selected(Profile(user_id="", first_name="Ada"), ["need_skills"], " ", "c1")
    assert isinstance(result, ToolMessage)
    assert (result.text, result.status) == (NO_USER, "error")


def test_there_is_a_selector_for_each_section() -> None:
    assert list(SECTIONS) == list(ProfileSelectors.model_fields)
    assert len(SECTIONS) == 8
    fields = set(Profile.model_fields) - {"user_id", "first_name", "last_name", "email"}
    assert frozenset().union(*SECTIONS.values()) == fields


def test_sections_add_to_the_available_names() -> None:
    profile = Profile(user_id="u", first_name="Ada", location="Lyon", email="a@b.example")
    assert select_sections(profile, ["need_basic_info"]) == {"first_name": "Ada", "language": "en", "location": "Lyon"}
    assert select_sections(profile, ["need_bookmarks"]) == {"first_name": "Ada", "bookmarks": []}


async def test_the_boundary_hides_what_went_wrong(caplog: pytest.LogCaptureFixture) -> None:
    async def work() -> ToolMessage:
        raise ValueError("secret words") from KeyError("more secrets")

    result = await run_bounded(work(), name="a_tool", call_id="c1", failure="Error: not now.")
    assert isinstance(result, ToolMessage)
    assert (result.text, result.name, result.tool_call_id, result.status) == (
        "Error: not now.",
        "a_tool",
        "c1",
        "error",
    )
    [record] = caplog.records
    assert record.__dict__["error"] == "ValueError < KeyError"
    assert "secret" not in caplog.text
    assert record.levelno == logging.ERROR


SIGNALS = [GraphInterrupt(()), ParentCommand(Command(graph=Command.PARENT)), asyncio.CancelledError()]


@pytest.mark.parametrize("signal", SIGNALS, ids=lambda signal: type(signal).__name__)
async def test_the_boundary_lets_pauses_and_cancellation_pass(signal: BaseException) -> None:
    async def work() -> ToolMessage:
        raise signal

    with pytest.raises(type(signal)):
        await run_bounded(work(), name="a_tool", call_id="c1", failure="never")
    with pytest.raises(type(signal)):
        await run_at_agent(work)


async def run_at_agent(work: Callable[[], Awaitable[ToolMessage]], name: str = "a_tool") -> ToolMessage | Command[Any]:
    """A call inside the boundary of an agent that has one for `a_tool`."""
    request = ToolCallRequest(
        tool_call={"name": name, "args": {}, "id": "c1", "type": "tool_call"},
        tool=None,
        state={},
        runtime=cast("Any", None),
    )
    return await bound_errors({"a_tool": "Error: not now."}).awrap_tool_call(request, lambda _: work())


async def test_the_agents_boundary_covers_its_tools_alone(caplog: pytest.LogCaptureFixture) -> None:
    async def work() -> ToolMessage:
        raise ValueError("secret words")

    result = await run_at_agent(work)
    assert isinstance(result, ToolMessage)
    assert (result.text, result.name, result.tool_call_id, result.status) == (
        "Error: not now.",
        "a_tool",
        "c1",
        "error",
    )
    assert [vars(record)["tool_call_id"] for record in caplog.records] == ["c1"]
    assert "secret" not in caplog.text
    with pytest.raises(ValueError, match="secret"):
        await run_at_agent(work, "another_tool")


def test_ids_are_read_from_the_artifacts_of_the_last_25_messages_only() -> None:
    filler = [AIMessage("t9, t10 and so on") for _ in range(24)]
    assert list_shown([shown("t1"), *filler, shown("t2", "t3")], IDS_KEY) == ["t2", "t3"]
    assert list_shown([shown("t1"), *filler[:23], shown("t2")], IDS_KEY) == ["t1", "t2"]
    assert (
        list_shown([ToolMessage("t4", tool_call_id="c", artifact="t5"), ToolMessage("t6", tool_call_id="c")], IDS_KEY)
        == []
    )


def test_an_artifact_names_its_card() -> None:
    trainings = [Training(id="t1", language="en", title="A")]
    assert (
        build_artifact(trainings)[CARD_TYPE_KEY] == build_card(trainings, title="T")["type"] == "trainingSuggestionList"
    )
    json.dumps(build_card(trainings, title="T"))


@pytest.mark.parametrize(
    ("known", "skip", "missing"),
    [
        ((), False, ["target", "background", "time", "preferences"]),
        (("preferences",), False, ["target", "background", "time"]),
        (("target",), False, ["background", "time", "preferences"]),
        (("time", "preferences"), False, []),
        (DIMENSIONS, False, []),
        ((), True, []),
    ],
)
def test_two_dimensions_or_a_skip_are_enough(known: tuple[str, ...], skip: bool, missing: list[str]) -> None:
    assert list_missing(known, skip=skip) == missing


def question(input_type: Any, options: list[str], *, free: bool = True) -> Question:
    written = WrittenQuestion(text=" Which\n one? ", input_type=input_type, options=options, allow_free_text=free)
    built = build_question("q1", written)
    assert built is not None
    return built


def test_a_selection_without_a_choice_becomes_an_open_question() -> None:
    assert question("single_select", ["Only"]) == Question("q1", "Which one?")
    assert question("text", ["a", "b"]) == Question("q1", "Which one?")


def test_answers_are_read_by_option_id_and_text() -> None:
    asked = question("multi_select", ["Red", "Blue", "Red"])
    assert [option.id for option in asked.options] == ["o1", "o2"]
    assert read_answer(asked, Answer("q1", option_ids=["o2", "o1"], text=" and green ")) == "Blue; Red; and green"
    assert read_answer(asked, Answer("q1", skip=True)) == ""
    assert read_question(json.loads(json.dumps(asked.as_json()))).as_json() == asked.as_json()


def test_the_exchange_follows_the_result_also_of_a_delivery() -> None:
    asked = question("text", [])
    exchange = write_exchange([asked], [Answer("q1", text="This")])
    result = ToolMessage("ok", tool_call_id="c1")
    for attached in (attach_exchange(result, exchange), attach_exchange(deliver(result, text="Here"), exchange)):
        assert isinstance(attached, Command)
        assert attached.update is not None
        assert attached.update["messages"] == [result, *exchange]
    assert attach_exchange(result, []) is result


def test_only_a_batch_that_delivered_whole_ends_the_run() -> None:
    calls: list[Any] = [{"name": "a", "args": {}, "id": call_id, "type": "tool_call"} for call_id in ("c1", "c2")]
    first: Delivery = {"tool_call_id": "c1", "text": "one", "cards": []}
    second: Delivery = {"tool_call_id": "c2", "text": "two", "cards": []}
    messages: list[AnyMessage] = [
        AIMessage("", tool_calls=calls),
        ToolMessage("", tool_call_id="c1"),
        AIMessage("- Which?"),
    ]
    state: Any = {"messages": messages, "deliveries": [first]}
    assert find_delivered(state) == []
    assert find_delivered(state | {"deliveries": [second, first]}) == [first, second]
    assert find_delivered({"messages": messages}) == []
