"""The state of Oria's graph: what a thread keeps between stages and turns."""

from typing import Annotated, Any, Literal, TypedDict

from langchain_core.messages import AIMessage, AnyMessage

from graph.oria.window import merge_messages

GateDecision = Literal["allow", "doubt", "block"]
ResearchStatus = Literal["supported", "miss", "unavailable"]


class SelectedPerson(TypedDict):
    """A colleague as a tool confirmed them: the external id and the name that the person saw."""

    id: str
    name: str


class OriaState(TypedDict, total=False):
    """Channels of the thread. A new thread has none of them yet, so read with a default.

    Kept over turns:
        messages: the bounded window of the conversation (DESIGN 2.3); whole call/result pairs only. A turn starts with
            the HumanMessage whose id is the turn's id; only the gate writes it.
        summary: what the window no longer holds, as text. Untrusted data: never put it among instructions.
        active_agent: id of the specialist that worked last.
        selected_person: the colleague that the person confirmed last, with the exact id.

    Per turn, written by the graph input or reset by the gate:
        turn_id: the turn at work.
        requested_agent: id of the agent that the caller named, or None for the supervisor's choice.
        decision: what the gate decided.
        agent: id of this turn's specialist once it is known.
        returned: whether a confirmed person has sent this turn back to the supervisor already; once is the limit.
        returning: set by the specialist that sends it back, cleared by the supervisor.
        handover: Career Chat's call of the Knowledge Base, which is in no message yet: it enters the thread together
            with its result, so that no thread ever has a call without one.
        handed_over: whether Career Chat has called it in this turn; once is the limit.
        research: what became of the research once it is back.
        shown_cards: cards that tools had shown before the handover; they belong to the outcome of the turn.
        outcome: `Outcome.as_json()` of the turn once it has one.
    """

    messages: Annotated[list[AnyMessage], merge_messages]
    summary: str
    active_agent: str | None
    selected_person: SelectedPerson | None
    turn_id: str
    requested_agent: str | None
    decision: GateDecision | None
    agent: str | None
    returned: bool
    returning: bool
    handover: AIMessage | None
    handed_over: bool
    research: ResearchStatus | None
    shown_cards: list[dict[str, Any]]
    outcome: dict[str, Any] | None
