"""The card of the analysis, its text for channels without cards, and what later turns read of it."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from graph.oria.language import pick_text
from graph.oria.tools.profile_analysis import texts
from graph.oria.tools.profile_analysis.alignment import Alignment
from graph.oria.tools.profile_analysis.evidence import Gap
from graph.oria.tools.profile_analysis.narrative import Narrative
from graph.oria.tools.profile_analysis.objectives import Objective

# The supervisor's action-plan exception knows the card by this name (graph/oria/routing.py).
CARD_TYPE: Final = "profile_analysis"


def build_card(
    narrative: Narrative,
    alignment: Alignment | None,
    topics: Sequence[Mapping[str, Any]],
    *,
    job_title: str | None,
    locale: str,
) -> dict[str, Any]:
    """The card. `alignment.source` says whether the figure is the skill score or an estimate."""
    return {
        "type": CARD_TYPE,
        "title": pick_text(texts.TITLES, locale),
        "narrative": {"summary": narrative.summary, "strengths": narrative.strengths},
        "alignment": None if alignment is None else {"job_title": job_title, **vars(alignment)},
        "topics": [dict(topic) for topic in topics],
    }


def build_topics(gaps: Sequence[Gap], objectives: Mapping[str, Objective]) -> list[dict[str, Any]]:
    """The development topics by priority, 1 first; `objective` is None where the model wrote none."""
    return [
        {
            "priority": priority,
            "skill": {"code": gap.code, "label": gap.label},
            "level": gap.level,
            "target_level": gap.target_level,
            "objective": vars(objective) if (objective := objectives.get(gap.code)) else None,
        }
        for priority, gap in enumerate(gaps, start=1)
    ]


def write_text(card: Mapping[str, Any], locale: str) -> str:
    """The card in Markdown."""
    parts = [f"**{card['title']}**", card["narrative"]["summary"]]
    if card["alignment"]:
        parts.append(write_alignment(card["alignment"], locale))
    if card["narrative"]["strengths"]:
        lines = [f"- {strength}" for strength in card["narrative"]["strengths"]]
        parts.append("\n".join([f"**{pick_text(texts.STRENGTHS, locale)}**", *lines]))
    if card["topics"]:
        lines = [write_topic(topic, locale) for topic in card["topics"]]
        parts.append("\n".join([f"**{pick_text(texts.TOPICS, locale)}**", *lines]))
    return "\n\n".join(parts)


def write_alignment(alignment: Mapping[str, Any], locale: str) -> str:
    written = texts.SCORES if alignment["source"] == "skill_score" else texts.ESTIMATES
    return pick_text(written, locale).format(percent=alignment["percent"], reason=alignment["reason"]).strip()


def write_topic(topic: Mapping[str, Any], locale: str) -> str:
    """One line for a topic: the skill, how far it is, and the objective."""
    levels = ""
    if topic["target_level"] is not None:
        shown = pick_text(texts.LEVELS, locale).format(level=topic["level"] or 0, target=topic["target_level"])
        levels = f" ({shown})"
    objective = topic["objective"]
    written = f": {objective['title']}. {objective['description']}".rstrip() if objective else ""
    return f"{topic['priority']}. {topic['skill']['label']}{levels}{written}"
