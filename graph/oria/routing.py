"""Which specialist gets the message: one decision over JSON evidence, with the rules kept apart from it."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from langchain_core.messages import AnyMessage, SystemMessage
from pydantic import BaseModel, Field, create_model

from graph.oria.agents import Specialist
from graph.oria.prompts import read_prompt, read_sections
from graph.oria.records import list_records
from graph.oria.state import SelectedPerson
from graph.oria.untrusted import data_message, untrusted_content_policy
from graph.oria.window import find_last_card, starts_turn
from graph.policy import LIKELY, ROUTING_DECISION_SECONDS
from oria_runtime.errors import StageFailedError
from oria_runtime.models.client import Models
from oria_runtime.models.errors import DecisionUnavailableError, ModelError

ROUTING_LABEL = "langgraph.supervisor"
DESTINATION = "destination"
ELABORATION = "elaborates_action_plan"
CONFIRMED_PERSON = "confirmed_person"

CAREER_CHAT = "career_chat"
TRAINING_FINDER = "training_finder"
PROFILE_ANALYSIS = "profile_analysis"
# The card of display_user_profile_tool, as its artifact names it.
PROFILE_CARD = "profile_analysis"


async def choose_agent(
    specialists: Sequence[Specialist],
    messages: Sequence[AnyMessage],
    evidence: Mapping[str, Any],
    models: Models,
    deadline: float,
) -> str:
    """The id of one of `specialists`. With exactly one there is nothing to ask.

    Raises StageFailedError: `no_agent_enabled` without specialists, `routing_unavailable` without a valid decision.
    """
    if not specialists:
        raise StageFailedError("no_agent_enabled", "no agent is enabled for this tenant", retryable=False)
    if len(specialists) == 1:
        return specialists[0].id
    choices = describe_choices(specialists)
    seconds = min(ROUTING_DECISION_SECONDS, deadline - asyncio.get_running_loop().time())
    try:
        if TRAINING_FINDER in choices and find_last_card(messages) == PROFILE_CARD:
            return await choose_beside_profile(choices, evidence, models, seconds)
        return await models.choose(
            label=ROUTING_LABEL,
            name=DESTINATION,
            instructions=write_rules(choices, evidence),
            choices=choices,
            evidence=evidence,
            timeout=seconds,
        )
    except ModelError as error:
        raise StageFailedError("routing_unavailable", error.detail, retryable=error.retryable) from error


def describe_choices(specialists: Sequence[Specialist]) -> dict[str, str]:
    """What each destination is for, as clients read it too, and typical requests that only the decision sees."""
    examples = read_sections("supervisor_examples")
    return {
        specialist.id: f"{specialist.description} Typical requests: {examples[specialist.id]}"
        for specialist in specialists
    }


def write_rules(choices: Mapping[str, str], evidence: Mapping[str, Any]) -> str:
    """The application's rules: on ambiguous requests where Career Chat can be chosen, on a person once confirmed."""
    names = ["supervisor"]
    if CONFIRMED_PERSON in evidence:
        names.append("supervisor_confirmed_person")
    if CAREER_CHAT in choices:
        names.append("supervisor_career_chat")
    rules = "\n".join(map(read_prompt, names))
    return f"{rules}\n\n{untrusted_content_policy()}"


def write_evidence(
    messages: Sequence[AnyMessage],
    *,
    locale: str,
    active_agent: str | None,
    summary: str,
    selected_person: SelectedPerson | None = None,
) -> dict[str, Any]:
    """The conversation as data. The message to route is the last that began a turn.

    `selected_person` is the colleague that this turn's first specialist confirmed: what remains is the request itself.
    """
    start = max(index for index, message in enumerate(messages) if starts_turn(message))
    evidence = {
        "latest_user_message": messages[start].text,
        "messages": list_records([*messages[:start], *messages[start + 1 :]]),
        "conversation_summary": summary,
        "current_agent": active_agent,
        "language": locale,
    }
    return evidence | ({CONFIRMED_PERSON: selected_person["name"]} if selected_person else {})


async def choose_beside_profile(
    choices: Mapping[str, str], evidence: Mapping[str, Any], models: Models, seconds: float
) -> str:
    """The Training-Finder exception (DESIGN 9): the same request also asks whether the profile's plan is meant."""
    ask = ask_natively if models.supports_decisions("mini") else ask_structured
    destination, elaborates = await ask(choices, evidence, models, seconds)
    if destination != TRAINING_FINDER or not elaborates:
        return destination
    return next((agent for agent in (PROFILE_ANALYSIS, CAREER_CHAT) if agent in choices), destination)


async def ask_natively(
    choices: Mapping[str, str], evidence: Mapping[str, Any], models: Models, seconds: float
) -> tuple[str, bool]:
    """Both questions in one decisions request."""
    from langchain_openai.decisions import Choice, ChoiceAnswer, Predicate, PredicateAnswer

    answers = await models.decide(
        label=ROUTING_LABEL,
        input=dict(evidence),
        questions={
            DESTINATION: Choice(instructions=write_rules(choices, evidence), choices=dict(choices)),
            ELABORATION: Predicate(instructions=read_prompt("supervisor_action_plan")),
        },
        timeout=seconds,
    )
    destination, elaboration = answers[DESTINATION], answers[ELABORATION]
    if not isinstance(destination, ChoiceAnswer) or not isinstance(elaboration, PredicateAnswer):
        raise DecisionUnavailableError("malformed")
    return str(destination.choice), elaboration.probability >= LIKELY


async def ask_structured(
    choices: Mapping[str, str], evidence: Mapping[str, Any], models: Models, seconds: float
) -> tuple[str, bool]:
    """Both questions in one structured generation."""
    described = "\n".join(f"- `{agent}`: {description}" for agent, description in choices.items())
    instructions = f"{write_rules(choices, evidence)}\n\nAgents:\n{described}"
    answer = await models.structured(
        label=ROUTING_LABEL,
        schema=build_schema(tuple(choices)),
        messages=[SystemMessage(instructions), data_message("Conversation", dict(evidence))],
        timeout=seconds,
    )
    return getattr(answer, DESTINATION), getattr(answer, ELABORATION)


def build_schema(agents: tuple[str, ...]) -> type[BaseModel]:
    """The strict schema of both answers: only the offered agents are destinations."""
    fields: dict[str, Any] = {
        DESTINATION: (Literal[agents], Field(description="The agent that handles the latest user message.")),
        ELABORATION: (bool, Field(description=read_prompt("supervisor_action_plan"))),
    }
    return create_model("Routing", **fields)
