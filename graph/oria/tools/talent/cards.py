"""The card that shows people, and the text that stands for it where cards cannot be shown."""

from collections.abc import Sequence
from typing import Any, Final

from graph.oria.window import CARD_TYPE_KEY
from graph.policy import TALENT_CARD_EXPERIENCES, TALENT_CARD_SKILLS
from oria_runtime.catalog.talent_search import Candidate

CARD_TYPE: Final = "talentSuggestionList"
IDS_KEY: Final = "person_ids"
SHOWN_EXPERIENCE: Final = {"title", "company", "department", "location", "work_mode", "start", "end"}


def build_card(
    candidates: Sequence[Candidate], rationales: Sequence[str], *, title: str, subtitle: str, note: str
) -> dict[str, Any]:
    """A card of people in their order, each with a rationale. `note` says what was not searched."""
    pairs = zip(candidates, rationales, strict=True)
    items = [build_item(candidate) | {"rationale": rationale} for candidate, rationale in pairs]
    return {"type": CARD_TYPE, "title": title, "subtitle": subtitle, "note": note, "items": items}


def build_item(candidate: Candidate) -> dict[str, Any]:
    """What a colleague may see of a person: no level of a skill, and no description of an experience."""
    return {
        "id": candidate.person_id,
        "name": write_name(candidate),
        **candidate.model_dump(mode="json", exclude={"person_id", "skills", "experiences"}),
        "skills": [{"code": skill.code, "label": skill.label} for skill in candidate.skills[:TALENT_CARD_SKILLS]],
        "experiences": [
            experience.model_dump(mode="json", include=SHOWN_EXPERIENCE)
            for experience in candidate.experiences[:TALENT_CARD_EXPERIENCES]
        ],
    }


def build_artifact(candidates: Sequence[Candidate]) -> dict[str, Any]:
    """What later turns need of a result: the returned ids. It is checkpointed and never sent to a model."""
    return {CARD_TYPE_KEY: CARD_TYPE, IDS_KEY: [candidate.person_id for candidate in candidates]}


def write_lines(candidates: Sequence[Candidate], rationales: Sequence[str]) -> str:
    """One line for each person: name, job, department, place, rationale."""
    pairs = zip(candidates, rationales, strict=True)
    return "\n".join(f"- {write_line(candidate)}: {rationale}" for candidate, rationale in pairs)


def write_line(candidate: Candidate) -> str:
    details = [detail for detail in (candidate.job_title, candidate.department, candidate.location) if detail]
    return write_name(candidate) + (f" ({', '.join(details)})" if details else "")


def write_name(candidate: Candidate) -> str:
    return f"{candidate.first_name} {candidate.last_name}".strip() or candidate.person_id
