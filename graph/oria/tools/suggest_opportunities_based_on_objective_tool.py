"""Finds openings that help with one development objective of the person's own profile."""

from collections.abc import Sequence
from typing import Final

from langchain.tools import ToolRuntime
from langchain_core.messages import AnyMessage
from langchain_core.tools import BaseTool

from graph.middleware.tool_boundary import ToolResult, run_bounded
from graph.oria.tools.declaration import declare_tool
from graph.oria.tools.opportunities import texts
from graph.oria.tools.opportunities.cards import IDS_KEY
from graph.oria.tools.opportunities.criteria import NO_CRITERIA
from graph.oria.tools.opportunities.evidence import Wishes
from graph.oria.tools.opportunities.limits import list_limits
from graph.oria.tools.opportunities.presentation import Presentation, deliver_found, deliver_miss
from graph.oria.tools.opportunities.query import join_parts, resolve_objective_query
from graph.oria.tools.opportunities.request import ObjectiveOpportunityRequest
from graph.oria.tools.opportunities.retrieval import retrieve
from graph.oria.tools.shown import list_shown
from oria_runtime.catalog.opportunities import Opportunity
from oria_runtime.catalog.people import Objective, Profile
from oria_runtime.turns.context import TurnContext

NAME: Final = "suggest_opportunities_based_on_objective_tool"
FAILURE: Final = "Error: the opportunities for this objective could not be searched just now."
RATIONALES_LABEL: Final = "suggest_opportunities.rationales"

Runtime = ToolRuntime[TurnContext]


def build_objective_opportunities_tool(profile: Profile | None) -> BaseTool:
    """The tool over the profile of this request; its results are shown to the person directly. It never pauses."""

    @declare_tool(NAME, ObjectiveOpportunityRequest)
    async def suggest_opportunities_based_on_objective(
        runtime: Runtime, objective_id: str, user_message: str, show_more_opportunities: bool = False
    ) -> ToolResult:
        """For a development objective that has been looked up: suggest openings that help to reach it.

        Its id must come from a tool result; without one, look the objective up first. Results go to the person
        directly.
        """
        request = ObjectiveOpportunityRequest(
            objective_id=objective_id, user_message=user_message, show_more_opportunities=show_more_opportunities
        )
        work = suggest(request, profile, runtime)
        return await run_bounded(work, name=NAME, call_id=runtime.tool_call_id, failure=FAILURE)

    return suggest_opportunities_based_on_objective


async def suggest(request: ObjectiveOpportunityRequest, profile: Profile | None, runtime: Runtime) -> ToolResult:
    """The opportunities for the objective as a card, or the localized reason why there are none."""
    context, more = runtime.context, request.show_more_opportunities
    objective = find_objective(profile, request.objective_id)
    presentation = Presentation(
        tool=NAME,
        call_id=runtime.tool_call_id or "",
        purpose=objective.title if objective else request.user_message,
        title=texts.MORE_OBJECTIVE_TITLES if more else texts.OBJECTIVE_TITLES,
        miss=choose_miss(objective, more=more),
        label=RATIONALES_LABEL,
    )
    found = await search(objective, profile, request, runtime.state["messages"], context) if objective else []
    if objective is None or not found:
        return deliver_miss(presentation, context)
    wishes = Wishes(NO_CRITERIA, join_parts([objective.title]).words, profile, objective)
    return await deliver_found(found, wishes, presentation, context)


def find_objective(profile: Profile | None, objective_id: str) -> Objective | None:
    """The objective of the current profile with this id, archived or not: the id says which one is meant."""
    objectives = profile.objectives if profile is not None else ()
    return next((objective for objective in objectives if objective.id == objective_id.strip()), None)


def choose_miss(objective: Objective | None, *, more: bool) -> texts.Texts:
    if objective is None:
        return texts.NO_SUCH_OBJECTIVE
    return texts.NO_MORE_FOR_OBJECTIVE if more else texts.OBJECTIVE_MISSES


async def search(
    objective: Objective,
    profile: Profile | None,
    request: ObjectiveOpportunityRequest,
    messages: Sequence[AnyMessage],
    context: TurnContext,
) -> list[Opportunity]:
    """What asks for at least one skill of the objective; the words alone decide where it names no skill."""
    limits = list_limits(context.tenant.config.opportunities, profile)
    if limits is None:
        return []
    return await retrieve(
        resolve_objective_query(objective, request.user_message),
        NO_CRITERIA.model_copy(update={"skills": [skill.code for skill in objective.skills]}),
        limits,
        profile=profile,
        excluded=list_shown(messages, IDS_KEY) if request.show_more_opportunities else (),
        context=context,
    )
