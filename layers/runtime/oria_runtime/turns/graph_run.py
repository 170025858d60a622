"""Running one stage of a graph: its own nodes only, on a buffering saver, and reading where it stopped."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from langgraph.types import Command, Interrupt

from oria_runtime.errors import StageFailedError
from oria_runtime.turns.activities import Activities
from oria_runtime.turns.assistants import Assistant
from oria_runtime.turns.claim import Claim
from oria_runtime.turns.models import Event
from oria_runtime.turns.saver import BufferingSaver

if TYPE_CHECKING:
    from langchain_core.callbacks import BaseCallbackHandler
    from langgraph.graph import StateGraph
    from langgraph.graph.state import CompiledStateGraph
    from langgraph.types import StreamMode

    from oria_runtime.turns.context import TurnContext

# A stage's agents have their own call limits; this only stops a graph that goes round in circles.
RECURSION_LIMIT = 60
# A list: LangGraph takes a tuple for the name of one mode.
STREAM_MODES: list["StreamMode"] = ["checkpoints", "updates", "custom", "tasks"]
# More than one deployment registers; only tests make assistants by the dozen.
KEPT_GRAPHS = 16


@dataclass(frozen=True)
class GraphStop:
    """Where the run stopped: final values, the nodes that come next, and the interrupts it waits for."""

    values: Mapping[str, Any]
    next: Sequence[str]
    interrupts: Sequence[Interrupt]


async def run_graph(
    assistant: Assistant,
    claim: Claim,
    saver: BufferingSaver,
    context: "TurnContext",
    *,
    add_event: Callable[[Event], None],
    callbacks: "Sequence[BaseCallbackHandler]" = (),
) -> GraphStop:
    """Run the nodes of the claim's stage, on its own saver.

    Raises StageFailedError when the thread is not what the turn row says; whatever a node raises passes through.
    """
    graph = load_graph(assistant, saver)
    config: Any = {
        "configurable": {"thread_id": claim.turn.thread_id},
        "recursion_limit": RECURSION_LIMIT,
        "callbacks": list(callbacks),
        "metadata": {"turn_id": str(claim.turn.id), "stage": claim.stage},
    }
    given = await graph_input(assistant, claim, saver, config)
    stream: AsyncIterator[Any] = graph.astream(
        given,
        config,
        context=context,
        stream_mode=STREAM_MODES,
        interrupt_before=other_nodes(assistant, claim.stage),
        durability="exit",
        subgraphs=True,
    )
    activities = Activities(assistant.stage(claim.stage).nodes, add_event)
    try:
        return await follow(stream, activities)
    except BaseException:
        activities.fail()
        raise


async def follow(stream: AsyncIterator[Any], activities: Activities) -> GraphStop:
    """Drive the run to its end: progress as it comes, and where it stopped."""
    values: Mapping[str, Any] = {}
    following: Sequence[str] = ()
    interrupts: list[Interrupt] = []
    async for namespace, mode, chunk in stream:
        if mode == "custom" and isinstance(chunk, Event):
            activities.add_event(chunk)
        elif namespace:
            continue
        elif mode == "tasks":
            activities.note_task(chunk)
        elif mode == "checkpoints":
            values, following = chunk["values"], chunk["next"]
        elif mode == "updates":
            interrupts += chunk.get("__interrupt__", ())
    return GraphStop(values, following, interrupts)


def load_graph(assistant: Assistant, saver: BufferingSaver) -> "CompiledStateGraph[Any, Any, Any, Any]":
    """The assistant's graph for one claim: a compiled graph holds its saver, and nothing else of a claim."""
    graph = copy(compile_graph(assistant.build))
    graph.checkpointer = saver
    return graph


@lru_cache(maxsize=KEPT_GRAPHS)
def compile_graph(build: "Callable[[], StateGraph[Any, Any, Any, Any]]") -> "CompiledStateGraph[Any, Any, Any, Any]":
    """Build and compile once per sandbox: it takes 2.5 ms, which is 8 of a turn's 38 in the engine (measured)."""
    return build().compile()


def other_nodes(assistant: Assistant, stage: str) -> list[str]:
    """The declared nodes of the other stages. Not "all nodes but mine": that contains LangGraph's internal ones."""
    return sorted(node for other in assistant.stages if other.name != stage for node in other.nodes)


async def graph_input(assistant: Assistant, claim: Claim, saver: BufferingSaver, config: Any) -> Any:
    """The turn's input for its first stage, the answers for a resumed one, None to go on."""
    if claim.interaction is not None and claim.resume_stage == claim.stage:
        return await _resume(claim, saver, config)
    if claim.stage == assistant.first_stage.name:
        return dict(assistant.graph_input(claim.turn))
    return None


async def _resume(claim: Claim, saver: BufferingSaver, config: Any) -> Command[Any]:
    """Resume by id, only after comparing: LangGraph gives a stale answer to whatever is pending."""
    interaction = claim.interaction
    assert interaction is not None  # noqa: S101 - the caller has looked
    await saver.aget_tuple(config)
    for pending in saver.pending_interrupts():
        if pending.id == interaction.interrupt_id and pending.value.get("interaction_id") == str(interaction.id):
            return Command(resume={interaction.interrupt_id: interaction.response})
    raise StageFailedError("interaction_changed", "the thread does not wait for this interaction", retryable=False)
