"""One turn of a specialist: its agent, built for this request and run inside the graph's node.

The agent is a subgraph without a saver of its own, so it pauses and resumes with the thread, and what its tools cached
before a pause survives it. Everything here runs again when a pause ends; only the agent's steps do not.
"""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from langchain.agents import create_agent
from langchain.agents.middleware import ModelCallLimitMiddleware, ToolCallLimitMiddleware
from langchain.agents.middleware.model_call_limit import ModelCallLimitExceededError
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.tools import BaseTool
from langgraph.runtime import Runtime

from graph.middleware.activity import ActivityMiddleware
from graph.middleware.delivery import DeliveryMiddleware
from graph.middleware.handover import HandoverMiddleware, withdraw_call
from graph.middleware.history import edit_history
from graph.middleware.interactions import InteractionMiddleware
from graph.middleware.tool_boundary import bound_errors
from graph.oria.agents import SPECIALISTS
from graph.oria.agents.confirmation import ConfirmationMiddleware
from graph.oria.agents.prompting import AgentPrompts, write_system_prompt
from graph.oria.availability import enables_knowledge
from graph.oria.channel_tools import narrow_tools
from graph.oria.state import ResearchStatus, SelectedPerson
from graph.oria.tools.get_document_content_tool import NAME as DOCUMENT_TOOL
from graph.oria.tools.request_clarification_tool import NAME as CLARIFICATION_TOOL
from graph.oria.tools.request_clarification_tool import build_clarification_tool
from graph.oria.tools.transfer_to_knowledge_base import NAME as TRANSFER_TOOL
from graph.oria.untrusted import data_message
from graph.oria.window import starts_turn
from graph.policy import SPECIALIST_MODEL_CALLS, SPECIALIST_TOOL_CALLS
from oria_runtime.catalog.people import Profile, read_profile
from oria_runtime.documents.rows import Place, list_names
from oria_runtime.errors import StageFailedError
from oria_runtime.knowledge.availability import has_knowledge
from oria_runtime.models.errors import ModelError
from oria_runtime.tenancy.tenants import AgentConfig
from oria_runtime.turns.context import TurnContext
from oria_runtime.turns.models import Outcome

logger = logging.getLogger(__name__)

# Calls of other agents' searches and handovers mislead an agent that has no such tool, so their records are dropped.
SEARCHES_AND_TRANSFERS: Final = frozenset(
    {
        "training_finder_tool",
        "get_trainings_tool",
        "search_opportunities_tool",
        "suggest_opportunities_based_on_objective_tool",
        "talent_finder_tool",
        TRANSFER_TOOL,
    }
)


@dataclass(frozen=True)
class AgentRequest:
    """What a specialist's tools and prompt may know of this request. The profile is read once.

    `selected_person` is the colleague that was confirmed last. `returns_person` says that confirming one ends this
    agent's run, because the supervisor goes on with the request (once a turn, and not where the caller named an agent).
    `documents` are the names of the conversation's documents, for agents that read them. `can_hand_over` says that the
    Knowledge Base has something to search and has not been called in this turn; `research` is what came of it.
    """

    context: TurnContext
    profile: Profile | None
    selected_person: SelectedPerson | None = None
    returns_person: bool = False
    documents: Sequence[str] = ()
    can_hand_over: bool = False
    research: ResearchStatus | None = None


@dataclass(frozen=True)
class AgentDefinition:
    """A specialist: prompts, business tools in order, and which of them may pause the turn.

    `hide` names the tools that this request cannot use; the model never sees them. `notes` are lines for the prompt's
    request context. `errors` are the tools whose exceptions end at the agent's boundary, with the text that is safe to
    show for each; every other tool has its own (seeds/oria_orchestration.md, "Recoverable tool failures").
    `reads_documents` says that the agent is told which documents there are, `hands_over` that it may call the Knowledge
    Base.
    """

    id: str
    prompts: AgentPrompts
    build_tools: Callable[[AgentRequest], Sequence[BaseTool]]
    interrupting: frozenset[str] = frozenset()
    hide: Callable[[AgentRequest], Collection[str]] = lambda _: ()
    notes: Callable[[AgentRequest], Sequence[str]] = lambda _: ()
    errors: Mapping[str, str] = field(default_factory=dict)
    reads_documents: bool = False
    hands_over: bool = False


async def run_specialist(
    definition: AgentDefinition, state: Mapping[str, Any], runtime: Runtime[TurnContext]
) -> dict[str, Any]:
    """The node's update: this turn's new messages, and the outcome. Raises StageFailedError."""
    context = runtime.context
    given: list[AnyMessage] = list(state["messages"])
    request = await read_request(definition, state, context)
    agent = build_agent(definition, request, state.get("summary", ""))
    try:
        result = await agent.ainvoke({"messages": given}, context=context)
    except ModelCallLimitExceededError as error:
        raise StageFailedError("model_call_limit", "the agent went round in circles") from error
    except ModelError as error:
        raise StageFailedError(error.code, error.detail, retryable=error.retryable) from error
    known = {message.id for message in given}
    added = [message for message in result["messages"] if message.id not in known]
    confirmed = result.get("selected_person")
    update = {"messages": added, **({"selected_person": confirmed} if confirmed else {})}
    if confirmed and request.returns_person:
        return update | {"returning": True}
    shown = [*state.get("shown_cards", []), *(card for each in result.get("deliveries", []) for card in each["cards"])]
    if handover := result.get("handover"):
        kept = withdraw_call(added, handover)
        return update | {"messages": kept, "handover": handover, "handed_over": True, "shown_cards": shown}
    return update | {"outcome": read_outcome(added, shown).as_json()}


async def read_request(definition: AgentDefinition, state: Mapping[str, Any], context: TurnContext) -> AgentRequest:
    """The request with the person's profile; a person without a user id has none, and no documents.

    Whether there is knowledge is looked up here and nowhere else: once, before a model is asked.
    """
    user_id = context.turn.user_id
    profile, documents, can_hand_over = None, list[str](), False
    async with context.database.transaction() as connection:
        if user_id.strip():
            profile = await read_profile(connection, user_id)
        if user_id.strip() and definition.reads_documents:
            documents = await list_names(connection, Place(context.database, user_id, context.turn.conversation_id))
        if definition.hands_over and not state.get("handed_over") and enables_knowledge(context.tenant.config):
            can_hand_over = await has_knowledge(connection)
    returns_person = state.get("requested_agent") is None and not state.get("returned")
    return AgentRequest(
        context,
        profile,
        state.get("selected_person"),
        returns_person,
        documents,
        can_hand_over=can_hand_over,
        research=state.get("research"),
    )


def build_agent(definition: AgentDefinition, request: AgentRequest, summary: str) -> Any:
    """The agent of this request, with the tools that tenant, channel and request leave it."""
    context = request.context
    specialist = SPECIALISTS[definition.id]
    config = context.tenant.config.agent(definition.id) or AgentConfig()
    # The tenant's exclusions first: of fewer tools they could seem to exclude all, and would then be ignored.
    kept = exclude_tools(definition.build_tools(request), config.tool_exclusion, definition.id)
    tools = narrow_tools(kept, context.turn, definition.id)
    hidden = set(definition.hide(request))
    available = [tool for tool in tools if tool.name not in hidden]
    return create_agent(
        model=context.models.chat(specialist.profile, specialist.label),
        tools=available,
        system_prompt=write_system_prompt(
            definition.prompts, context, definition.notes(request), asks=can_ask(context, config)
        ),
        middleware=build_middleware(definition, request, [tool.name for tool in available], config, summary),
        context_schema=TurnContext,
    )


def can_ask(context: TurnContext, config: AgentConfig) -> bool:
    """Whether the shared tool for questions is there: in interactive requests, unless the tenant excludes it."""
    return context.turn.interactions and CLARIFICATION_TOOL not in config.tool_exclusion


def build_middleware(
    definition: AgentDefinition, request: AgentRequest, available: Collection[str], config: AgentConfig, summary: str
) -> list[Any]:
    """The middleware in order: the first wraps the model call outermost and is the last to see its result."""
    context = request.context
    interactive = context.turn.interactions
    shared = [build_clarification_tool()] if can_ask(context, config) else []
    interactions = InteractionMiddleware(shared, interrupting={CLARIFICATION_TOOL, *definition.interrupting})
    history = edit_history(
        str(context.turn.id),
        dropped=(SEARCHES_AND_TRANSFERS | set(config.tool_exclusion)) - set(available),
        starts_turn=starts_turn,
        context=describe_context(summary, request, request.documents if DOCUMENT_TOOL in available else ()),
    )
    delivery = DeliveryMiddleware(
        selection=definition.prompts.selection,
        answer=definition.prompts.answer,
        settings={"parallel_tool_calls": False} if interactive else {},
    )
    return [
        history,
        delivery,
        ConfirmationMiddleware(ends_run=request.returns_person),
        *([HandoverMiddleware(TRANSFER_TOOL)] if TRANSFER_TOOL in available else []),
        *([interactions] if interactive else []),
        ModelCallLimitMiddleware(run_limit=SPECIALIST_MODEL_CALLS, exit_behavior="error"),
        ToolCallLimitMiddleware(run_limit=SPECIALIST_TOOL_CALLS, exit_behavior="continue"),
        ActivityMiddleware(),
        *([bound_errors(definition.errors)] if definition.errors else []),
    ]


def describe_context(summary: str, request: AgentRequest, documents: Sequence[str]) -> list[HumanMessage]:
    """What the model is told beside the messages. Names of documents are a person's own texts, so they are data."""
    attached = request.context.turn.request.get("attachments", [])
    names = {
        "attached_to_the_latest_message": [name for name in documents if name in attached],
        "uploaded_earlier": [name for name in documents if name not in attached],
    }
    return [
        *([data_message("Summary of the earlier conversation", summary)] if summary else []),
        *([data_message("Documents of this conversation", names)] if documents else []),
    ]


def exclude_tools(tools: Sequence[BaseTool], excluded: Collection[str], agent_id: str) -> list[BaseTool]:
    """The tools without the tenant's exclusions; all of them, with a warning, when none would be left."""
    kept = [tool for tool in tools if tool.name not in excluded]
    if tools and not kept:
        logger.warning("tool_exclusion would leave an agent without tools: ignored", extra={"agent": agent_id})
        return list(tools)
    return kept


def read_outcome(added: Sequence[AnyMessage], cards: Sequence[Mapping[str, Any]]) -> Outcome:
    """The public answer with the cards. Raises StageFailedError when there is no answer."""
    last = added[-1] if added else None
    text = str(last.text) if isinstance(last, AIMessage) and not last.tool_calls else ""
    if not text.strip():
        raise StageFailedError("empty_answer", "the agent ended without an answer")
    return Outcome("message", text, cards=cards)
