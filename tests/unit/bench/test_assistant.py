"""The assistant of the benchmark: Oria's stages, messages of real size, a window that stays bounded."""

from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

from graph.policy import WINDOW_MESSAGES
from graph.registry import ASSISTANTS as PRODUCT
from local.bench.assistant import ASSISTANTS, ID, build, list_all, plain_input


def test_its_stages_are_those_of_a_turn_of_oria_without_a_handover() -> None:
    own, product = ([stage.name for stage in assistant.stages] for assistant in (ASSISTANTS[ID], PRODUCT["oria"]))
    assert own == [name for name in product if name != "knowledge"]
    assert set(list_all()) == {ID, *PRODUCT}


async def test_its_window_stays_bounded_and_pairs_stay_whole() -> None:
    graph = build().compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}
    for number in range(40):
        values = await graph.ainvoke(plain_input(f"turn-{number}"), config)
    messages = values["messages"]
    assert len(messages) <= WINDOW_MESSAGES + 4
    assert [message.type for message in messages[:4]] == ["human", "ai", "tool", "ai"]
    assert values["outcome"]["text"] == messages[-1].content
