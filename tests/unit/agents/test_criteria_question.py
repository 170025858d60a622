"""The pause of an empty search, in a graph of one node on LangGraph's own saver."""

from dataclasses import asdict
from typing import Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command

from graph.oria.tools.criteria_question import CriteriaChange, CriterionOption, ask_criteria
from graph.policy import QUESTION_OPTIONS

CRITERIA = [CriterionOption("locations", "Location: Paris"), CriterionOption("kinds", "Type: project")]


class State(TypedDict, total=False):
    change: dict[str, Any]


class Asking:
    """Runs `ask_criteria` until its pause and after it."""

    def __init__(self, criteria: list[CriterionOption], locale: str = "en", **options: Any) -> None:
        async def node(state: State) -> State:
            return {"change": asdict(ask_criteria(criteria, locale, **options))}

        builder = StateGraph(State)
        builder.add_node("node", node)
        builder.add_edge(START, "node")
        builder.add_edge("node", END)
        self.graph = builder.compile(checkpointer=InMemorySaver())
        self.config: Any = {"configurable": {"thread_id": "t"}}

    async def ask(self) -> list[dict[str, Any]]:
        result: Any = await self.graph.ainvoke({}, self.config)
        [pause] = result["__interrupt__"]
        return list(pause.value["questions"])

    async def answer(self, *answers: dict[str, Any]) -> CriteriaChange:
        result = await self.graph.ainvoke(Command(resume={"answers": list(answers)}), self.config)
        return CriteriaChange(**result["change"])


def chosen(*option_ids: str) -> dict[str, Any]:
    return {"question_id": "criteria", "option_ids": list(option_ids)}


def instead(text: str) -> dict[str, Any]:
    return {"question_id": "change", "text": text}


def skipped(question_id: str) -> dict[str, Any]:
    return {"question_id": question_id, "skip": True}


async def test_it_offers_the_criteria_used_and_an_open_question() -> None:
    first, second = await Asking(CRITERIA).ask()
    assert (first["input_type"], [option["label"] for option in first["options"]]) == (
        "multi_select",
        ["Location: Paris", "Type: project"],
    )
    assert [option["id"] for option in first["options"]] == ["o1", "o2"]
    assert (second["input_type"], second["options"]) == ("text", [])
    assert not first["required"]


async def test_the_answer_names_criteria_by_their_own_ids() -> None:
    asking = Asking(CRITERIA)
    await asking.ask()
    change = await asking.answer(chosen("o2"), instead(" rather in Lyon "))
    assert (change.changed, change.text, change.skipped) == (frozenset({"kinds"}), "rather in Lyon", False)
    asked, replied = change.exchange
    assert isinstance(asked, AIMessage)
    assert isinstance(replied, HumanMessage)
    assert "Type: project" in replied.text
    assert "rather in Lyon" in replied.text


@pytest.mark.parametrize(
    ("answers", "changed", "is_skip"),
    [
        ((skipped("criteria"), skipped("change")), frozenset(), True),
        ((chosen("o1"), skipped("change")), frozenset({"locations"}), False),
        ((skipped("criteria"), instead("Lyon")), frozenset(), False),
    ],
)
async def test_only_two_skips_are_a_skip(
    answers: tuple[dict[str, Any], ...], changed: frozenset[str], is_skip: bool
) -> None:
    asking = Asking(CRITERIA)
    await asking.ask()
    change = await asking.answer(*answers)
    assert (change.changed, change.skipped) == (changed, is_skip)


async def test_a_search_without_criteria_leaves_the_open_question() -> None:
    asking = Asking([], "fr-CA")
    [question] = await asking.ask()
    assert (question["id"], question["input_type"]) == ("change", "text")
    assert "Je n'ai rien trouvé" in question["text"]
    assert (await asking.answer(instead("Lyon"))).text == "Lyon"


@pytest.mark.parametrize(("locale", "word"), [("en", "nothing further"), ("fr", "rien d'autre"), ("es", "nada más")])
async def test_more_of_an_earlier_search_is_called_so(locale: str, word: str) -> None:
    questions = await Asking(CRITERIA, locale, more=True).ask()
    assert word in questions[0]["text"]


async def test_a_selection_stays_short() -> None:
    questions = await Asking([CriterionOption(str(number), f"Label {number}") for number in range(30)]).ask()
    assert len(questions[0]["options"]) == QUESTION_OPTIONS
