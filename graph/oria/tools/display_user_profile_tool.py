"""Shows the person an analysis of their own profile: narrative, fit with the current role, development topics."""

import asyncio
from typing import Any, Final

from langchain.tools import ToolRuntime
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool

from graph.middleware.delivery import deliver
from graph.middleware.tool_boundary import ToolResult, fail
from graph.oria.tools.declaration import NoArguments, declare_tool
from graph.oria.tools.profile_analysis.alignment import find_alignment, read_current_job
from graph.oria.tools.profile_analysis.card import CARD_TYPE, build_card, build_topics, write_text
from graph.oria.tools.profile_analysis.evidence import list_gaps, normalize, write_evidence
from graph.oria.tools.profile_analysis.generation import Generation
from graph.oria.tools.profile_analysis.narrative import write_narrative
from graph.oria.tools.profile_analysis.objectives import write_objectives
from graph.oria.untrusted import encode_data
from graph.oria.window import CARD_TYPE_KEY
from oria_runtime.catalog.people import Profile
from oria_runtime.turns.context import TurnContext

NAME: Final = "display_user_profile_tool"
NO_PROFILE: Final = "Error: there is no profile of the person to analyse in this request. Go on without one."
# What the agent's boundary says for whatever the tool raises.
FAILURE: Final = "Error: the profile could not be analysed just now."


def build_analysis_tool(profile: Profile | None) -> BaseTool:
    """The tool over the profile of this request. Its errors leave it: the agent's boundary ends them with FAILURE."""

    @declare_tool(NAME, NoArguments)
    async def display_user_profile(runtime: ToolRuntime[TurnContext]) -> ToolResult:
        """Analyse the whole profile of the person you are talking to: strengths, gaps, fit with the role, development.

        The result is a card with a summary, strengths, how well the profile fits the current role, and development
        topics in order of importance. It goes to the person directly. To work out a card that was shown already, do
        not call it again.
        """
        return await show_analysis(profile, runtime.context, runtime.tool_call_id or "")

    return display_user_profile


async def show_analysis(profile: Profile | None, context: TurnContext, call_id: str) -> ToolResult:
    """The card as a delivery. The result message holds it whole, for a later turn that works the plan out."""
    if profile is None or profile.is_empty:
        return fail(NAME, call_id, NO_PROFILE)
    card = await analyse(normalize(profile), context)
    content = {name: value for name, value in card.items() if name != "type"}
    message = ToolMessage(encode_data(content), name=NAME, tool_call_id=call_id, artifact={CARD_TYPE_KEY: CARD_TYPE})
    return deliver(message, text=write_text(card, context.turn.locale), cards=[card])


async def analyse(profile: Profile, context: TurnContext) -> dict[str, Any]:
    """The card of a normalized profile; its three parts are made at the same time."""
    locale = context.turn.locale
    job = await read_current_job(context.database, profile)
    gaps = list_gaps(profile, job)
    generation = Generation(write_evidence(profile, job, gaps), context.models, locale)
    async with asyncio.TaskGroup() as parts:
        narrative = parts.create_task(write_narrative(generation, profile, len(gaps)))
        objectives = parts.create_task(write_objectives(generation, gaps))
        alignment = parts.create_task(find_alignment(generation, context.database, profile, job))
    return build_card(
        narrative.result(),
        alignment.result(),
        build_topics(gaps, objectives.result()),
        job_title=job.title if job else profile.job_title,
        locale=locale,
    )
