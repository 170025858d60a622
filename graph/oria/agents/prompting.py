"""The system prompt of a specialist: its own instructions, shared rules, and last what changes with each request.

The order lets a provider cache the stable beginning.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from langchain_core.messages import SystemMessage

from graph.oria.language import name_language
from graph.oria.untrusted import untrusted_content_policy
from oria_runtime.models.prompts import write_prompt
from oria_runtime.turns.context import TurnContext

AGENTS = Path(__file__).parent

INTERACTIVE = "If something indispensable is missing, ask with `request_clarification_tool`; never guess it."
CONVERSATIONAL = "If something indispensable is missing, ask for it in your answer; never guess it."


@dataclass(frozen=True)
class AgentPrompts:
    """Texts of an agent: the system prompt, and what each phase of a model turn adds to it."""

    system: str
    selection: str
    answer: str


def read_prompts(agent_id: str) -> AgentPrompts:
    """The prompts in the agent's folder; the rules of the answer phase are shared by all."""
    return AgentPrompts(
        system=read_text(f"{agent_id}/prompt.md"),
        selection=read_text(f"{agent_id}/selection.md"),
        answer=read_text("answer.md"),
    )


def write_system_prompt(
    prompts: AgentPrompts, context: TurnContext, notes: Sequence[str], *, asks: bool
) -> SystemMessage:
    """The whole system prompt of this request: what may be cached, and what changes.

    `asks` says that the agent has the tool for questions.
    """
    config = context.tenant.config
    lines = [
        f"You are {config.bot_name}, the career assistant of {config.company_name or context.tenant.name}.",
        f"Today is {context.now.date().isoformat()}.",
        f"Write to the person in {name_language(context.turn.locale)}.",
        INTERACTIVE if asks else CONVERSATIONAL,
        *notes,
    ]
    request = "\n".join(["## This request", "", *(f"- {line}" for line in lines)])
    return write_prompt(f"{prompts.system}\n\n{untrusted_content_policy()}", request)


@cache
def read_text(name: str) -> str:
    """The text of a file in this folder."""
    return (AGENTS / name).read_text(encoding="utf-8").strip()
