"""The sets: which cases there are, and how the product answers one. Nothing here repeats a prompt."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from evals.cases import Case, load_cases, load_gate_cases
from graph.oria.approval import decide
from graph.oria.availability import list_enabled
from graph.oria.memory import update_preferences
from graph.oria.records import list_records
from graph.oria.routing import choose_agent, write_evidence
from graph.oria.tools.training_finder.check import Check
from graph.oria.tools.training_finder.plan_scope import find_plan_questions
from graph.oria.tools.training_finder.request import Preparation, TrainingRequest
from graph.oria.tools.training_finder.request import write_evidence as write_training_evidence
from graph.oria.tools.training_finder.search_scope import find_search_questions
from graph.oria.transcript import Evidence
from graph.policy import GATE_SECONDS, MEMORY_SECONDS, ROUTING_DECISION_SECONDS
from oria_runtime.models.client import Models
from oria_runtime.tenancy.tenants import TenantConfig

STORED = ["I would like to become a manager.", "I work nights.", "I am interested in marketing."]


@dataclass(frozen=True)
class CaseSet:
    """Cases, and the function that answers one with a class name; it raises OriaError when there is no answer."""

    load: Callable[[], Sequence[Case]]
    answer: Callable[[Case, Models], Awaitable[str]]


async def answer_routing(case: Case, models: Models) -> str:
    """The supervisor's choice among all specialists."""
    messages = list_messages(case)
    evidence = write_evidence(messages, locale=case.language, active_agent=case.current_agent, summary="")
    deadline = asyncio.get_running_loop().time() + ROUTING_DECISION_SECONDS
    return await choose_agent(list_enabled(TenantConfig()), messages, evidence, models, deadline)


async def answer_gate(case: Case, models: Models) -> str:
    """The gate's decision, without the boundary text."""
    return await decide(Evidence(case.message, case.recent), models, GATE_SECONDS)


async def answer_memory(case: Case, models: Models) -> str:
    """Whether the message changes a preference list that some of the cases take back."""
    today = datetime.now(UTC).date()
    items = await update_preferences(case.message, STORED, models, today=today, seconds=MEMORY_SECONDS)
    return "skip" if items is None else "update"


async def answer_clarification(case: Case, models: Models) -> str:
    """What the Training Finder does with a request: `build` or `ask` for a plan, else `search` or `clarify`."""
    request = TrainingRequest(query=case.message, is_learning_plan=case.plan)
    known = Preparation(profile={}, preferences=[], conversation=list_records(list_messages(case)))
    check = Check(write_training_evidence(request, known), models, case.language)
    if case.plan:
        return "ask" if await find_plan_questions(check) else "build"
    return "clarify" if await find_search_questions(check) else "search"


def list_messages(case: Case) -> list[AnyMessage]:
    """The conversation of a case, its message last."""
    said = [*case.recent, {"role": "user", "text": case.message}]
    return [HumanMessage(entry["text"]) if entry["role"] == "user" else AIMessage(entry["text"]) for entry in said]


SETS: Mapping[str, CaseSet] = {
    "routing": CaseSet(lambda: load_cases("routing"), answer_routing),
    "routing_hard": CaseSet(lambda: load_cases("routing_hard"), answer_routing),
    "routing_held_out": CaseSet(lambda: load_cases("routing_held_out"), answer_routing),
    "clarification": CaseSet(lambda: load_cases("clarification"), answer_clarification),
    "gate": CaseSet(load_gate_cases, answer_gate),
    "memory": CaseSet(lambda: load_cases("memory"), answer_memory),
}
