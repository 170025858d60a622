"""The card that shows opportunities, and the text that stands for it where cards cannot be shown."""

from collections.abc import Sequence
from typing import Any, Final

from graph.oria.language import pick_text
from graph.oria.tools.opportunities.texts import VALUES
from graph.oria.window import CARD_TYPE_KEY
from oria_runtime.catalog.opportunities import Opportunity

CARD_TYPE: Final = "opportunitySuggestionList"
IDS_KEY: Final = "opportunity_ids"
HIDDEN_FIELDS: Final = {"active"}


def build_card(
    opportunities: Sequence[Opportunity], rationales: Sequence[str], *, title: str, subtitle: str
) -> dict[str, Any]:
    """A card of opportunities in their order, each with its rationale."""
    items = [
        opportunity.model_dump(mode="json", exclude=HIDDEN_FIELDS) | {"rationale": rationale}
        for opportunity, rationale in zip(opportunities, rationales, strict=True)
    ]
    return {"type": CARD_TYPE, "title": title, "subtitle": subtitle, "items": items}


def build_artifact(opportunities: Sequence[Opportunity]) -> dict[str, Any]:
    """What later turns need of a result: the returned ids. It is checkpointed and never sent to a model."""
    return {CARD_TYPE_KEY: CARD_TYPE, IDS_KEY: [opportunity.id for opportunity in opportunities]}


def write_lines(opportunities: Sequence[Opportunity], rationales: Sequence[str], locale: str) -> str:
    """One line for each opportunity: title, kind, place, rationale."""
    pairs = zip(opportunities, rationales, strict=True)
    return "\n".join(f"- {write_line(opportunity, locale)}: {rationale}" for opportunity, rationale in pairs)


def write_line(opportunity: Opportunity, locale: str) -> str:
    details = [pick_text(VALUES[opportunity.kind], locale), opportunity.department, opportunity.location]
    return f"{opportunity.title} ({', '.join(detail for detail in details if detail)})"
