"""Conversations of any shape, for properties of the window."""

from itertools import count

from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from graph.oria.window import answers_message

SIZES = st.integers(min_value=0, max_value=4)


@st.composite
def turns(draw: st.DrawFn, numbers: "count[int]") -> list[AnyMessage]:
    """A turn: the person's message, tool pairs (some asking questions in between), perhaps an answer."""
    number = next(numbers)
    words = st.sampled_from(["", "short", "some words " * 30])
    messages: list[AnyMessage] = [HumanMessage(draw(words), id=f"turn-{number}")]
    for step in range(draw(SIZES)):
        calls = [f"call-{number}-{step}-{index}" for index in range(draw(st.integers(1, 3)))]
        tool_calls = [{"name": "search", "args": {"query": "x"}, "id": call} for call in calls]
        messages.append(AIMessage(draw(words), id=f"ai-{number}-{step}", tool_calls=tool_calls))
        artifact = draw(st.sampled_from([None, {"ids": ["a"]}]))
        messages += [ToolMessage("{}", id=f"tool-{call}", tool_call_id=call, artifact=artifact) for call in calls]
        if draw(st.booleans()):
            messages.append(AIMessage("How much time do you have?", id=f"ask-{number}-{step}"))
            messages.append(answers_message("Two hours", f"answers-{number}-{step}"))
    if draw(st.booleans()):
        messages.append(AIMessage(draw(words), id=f"answer-{number}"))
    return messages


@st.composite
def conversations(draw: st.DrawFn, most_turns: int = 30) -> list[AnyMessage]:
    """A whole conversation, with unique message and call ids."""
    numbers = count()
    size = draw(st.integers(min_value=1, max_value=most_turns))
    return [message for _ in range(size) for message in draw(turns(numbers))]
