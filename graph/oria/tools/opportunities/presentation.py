"""How a search is delivered: the card with its rationales, or the miss in the person's language."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from langchain_core.messages import ToolMessage

from graph.middleware.delivery import deliver
from graph.middleware.tool_boundary import ToolResult
from graph.oria.language import pick_text
from graph.oria.tools.opportunities.cards import build_artifact, build_card, write_lines
from graph.oria.tools.opportunities.criteria import NO_CRITERIA, OpportunitySearchCriteria, list_used
from graph.oria.tools.opportunities.evidence import Wishes, gather_evidence
from graph.oria.tools.opportunities.rationales import describe
from graph.oria.tools.rationales import Phrasing, write_rationales
from graph.oria.untrusted import encode_data
from oria_runtime.catalog.opportunities import Opportunity
from oria_runtime.turns.context import TurnContext


@dataclass(frozen=True)
class Presentation:
    """What a tool says round its results.

    `purpose` is the request or the objective, `criteria` what was searched with in the end, `label` names the task of
    the rationales.
    """

    tool: str
    call_id: str
    purpose: str
    title: Mapping[str, str]
    miss: Mapping[str, str]
    label: str
    criteria: OpportunitySearchCriteria = NO_CRITERIA


async def deliver_found(
    found: Sequence[Opportunity], wishes: Wishes, presentation: Presentation, context: TurnContext
) -> ToolResult:
    """The opportunities as a card, each with a rationale that names only what is supported."""
    locale, serves = context.turn.locale, wishes.objective.title if wishes.objective else ""
    rationales = await write_rationales(
        [describe(gather_evidence(opportunity, wishes), locale) for opportunity in found],
        Phrasing(presentation.label, "opportunities/rationales", "opportunities", serves),
        models=context.models,
        locale=locale,
    )
    title = pick_text(presentation.title, locale)
    card = build_card(found, rationales, title=title, subtitle=presentation.purpose)
    message = write_record(presentation, shown=[opportunity.title for opportunity in found])
    message.artifact = build_artifact(found)
    return deliver(message, text=f"{title}\n{write_lines(found, rationales, locale)}", cards=[card])


def deliver_miss(presentation: Presentation, context: TurnContext) -> ToolResult:
    """The localized message that there is nothing."""
    return deliver(write_record(presentation, shown=[]), text=pick_text(presentation.miss, context.turn.locale))


def write_record(presentation: Presentation, *, shown: Sequence[str]) -> ToolMessage:
    """The result as later turns read it; the ids travel in the artifact, which no model sees."""
    searched = {name: getattr(presentation.criteria, name) for name in list_used(presentation.criteria)}
    content = {"for": presentation.purpose, **({"criteria": searched} if searched else {}), "shown": list(shown)}
    return ToolMessage(encode_data(content), name=presentation.tool, tool_call_id=presentation.call_id)
