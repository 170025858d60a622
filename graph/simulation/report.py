"""The assessment as the person reads it: a card, and the text that stands for it where cards cannot be shown."""

from dataclasses import asdict, dataclass
from typing import Any, Final

from graph.oria.language import pick_text
from graph.simulation import texts
from graph.simulation.budget import Ending
from graph.simulation.dialogue import Practice
from graph.simulation.judgement import Judged, Judgement

CARD_TYPE: Final = "simulation_assessment"


@dataclass(frozen=True)
class Conclusion:
    """A finished role-play: what it was, how it was judged, why it ended and how long it took."""

    practice: Practice
    judgement: Judgement
    ending: Ending
    seconds: float


def build_card(conclusion: Conclusion, locale: str) -> dict[str, Any]:
    """The card. `ended_by` is `person`, `exchanges` or `time`."""
    practice, judgement = conclusion.practice, conclusion.judgement
    scenario = practice.scenario
    outcomes = zip(scenario.outcomes, judgement.outcomes, strict=True)
    skills = zip(scenario.skills, judgement.skills, strict=True)
    return {
        "type": CARD_TYPE,
        "title": pick_text(texts.ASSESSMENT_TITLES, locale).format(title=scenario.title),
        "simulation_id": str(practice.simulation_id),
        "summary": write_summary(judgement, locale),
        "outcomes": [{"text": text, "result": judged.verdict, **show(judged, locale)} for text, judged in outcomes],
        "skills": [
            {"title": skill.title, "code": skill.code, "level": judged.verdict, **show(judged, locale)}
            for skill, judged in skills
        ],
        "next_steps": list(judgement.next_steps),
        "ended_by": conclusion.ending,
        "exchanges": practice.exchanges,
        "minutes": round(conclusion.seconds / 60),
    }


def show(judged: Judged, locale: str) -> dict[str, Any]:
    """Reason and quotes of a verdict."""
    reason = judged.reason or pick_text(texts.UNPROVEN, locale)
    return {"reason": reason, "quotes": [asdict(quote) for quote in judged.quotes]}


def write_summary(judgement: Judgement, locale: str) -> str:
    return judgement.summary or pick_text(texts.NOTHING_SAID, locale)


def write_text(conclusion: Conclusion, locale: str) -> str:
    """Why it ended, the summary, each outcome and skill in a line, and the next steps."""
    judgement, scenario = conclusion.judgement, conclusion.practice.scenario
    outcomes = zip(scenario.outcomes, judgement.outcomes, strict=True)
    skills = [(skill.title, judged) for skill, judged in zip(scenario.skills, judgement.skills, strict=True)]
    parts = [
        pick_text(texts.ENDINGS[conclusion.ending], locale),
        write_summary(judgement, locale),
        write_verdicts(pick_text(texts.OUTCOMES, locale), list(outcomes), locale),
        write_verdicts(pick_text(texts.SKILLS, locale), skills, locale),
    ]
    if judgement.next_steps:
        steps = "\n".join(f"- {step}" for step in judgement.next_steps)
        parts.append(f"{pick_text(texts.NEXT_STEPS, locale)}\n{steps}")
    return "\n\n".join(parts)


def write_verdicts(heading: str, judged: list[tuple[str, Judged]], locale: str) -> str:
    lines = [f"- {text} – {pick_text(texts.VERDICTS[each.verdict], locale)}" for text, each in judged]
    return "\n".join([heading, *lines])
