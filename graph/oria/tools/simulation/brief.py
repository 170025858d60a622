"""What the person wants to practise, parsed from their request."""

from collections.abc import Sequence
from typing import Any, Final

from langchain_core.messages import AnyMessage
from pydantic import BaseModel, ConfigDict

from graph.oria.language import name_language
from graph.oria.prompts import read_prompt
from graph.oria.records import list_records
from graph.oria.tools.training_finder.preparation import select_texts
from graph.oria.untrusted import data_message, untrusted_content_policy
from graph.policy import SIMULATION_EVIDENCE_MESSAGES, SIMULATION_PARSE_SECONDS, SIMULATION_REQUEST_CHARACTERS
from oria_runtime.catalog.people import Profile
from oria_runtime.models.prompts import write_prompt
from oria_runtime.turns.context import TurnContext

LABEL: Final = "suggest_simulation.parse"


class Brief(BaseModel):
    """The wish in its parts. Names of skills are words, not codes."""

    model_config = ConfigDict(extra="forbid")
    situation: str
    counterpart_role: str
    goal: str
    skills: list[str]


async def parse_request(
    request: str, profile: Profile | None, messages: Sequence[AnyMessage], context: TurnContext
) -> Brief:
    """The request in its parts. Raises ModelError."""
    language = f"Write in {name_language(context.turn.locale)}."
    stable = "\n\n".join([read_prompt("simulation/parse"), untrusted_content_policy()])
    data = data_message("Practice request", write_evidence(request, profile, messages))
    return await context.models.structured(
        label=LABEL,
        schema=Brief,
        messages=[write_prompt(stable, language), data],
        timeout=SIMULATION_PARSE_SECONDS,
    )


def write_evidence(request: str, profile: Profile | None, messages: Sequence[AnyMessage]) -> dict[str, Any]:
    """The request, who makes it, and the conversation that it may refer to."""
    evidence = {
        "request": request[:SIMULATION_REQUEST_CHARACTERS],
        "job_title": profile.job_title if profile else None,
        "recent_conversation": list_records(select_texts(messages)[-SIMULATION_EVIDENCE_MESSAGES:]),
    }
    return {name: value for name, value in evidence.items() if value}
