"""The eight sections of a profile that tools may ask for, by selector.

Names always come first; nothing else comes unasked, because every section costs tokens.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from pydantic import BaseModel, Field

from graph.policy import PROFILE_LIST_CHARACTERS, PROFILE_TEXT_CHARACTERS
from oria_runtime.catalog.people import Profile

# Selector: the fields of `Profile` that it adds (seeds/oria_tools.md, get_user_profile_selective_tool).
SECTIONS: Final[Mapping[str, frozenset[str]]] = {
    "need_basic_info": frozenset(
        {"job_title", "job_code", "department", "location", "work_mode", "classification", "hire_date", "language"}
    ),
    "need_skills": frozenset({"skills", "gaps"}),
    "need_objectives": frozenset({"objectives"}),
    "need_experiences": frozenset({"experiences"}),
    "need_departments_interests": frozenset({"departments", "interests"}),
    "need_bookmarks": frozenset({"bookmarks"}),
    "need_training_history": frozenset({"training_history"}),
    "need_mandatory_trainings": frozenset({"mandatory_training_ids"}),
}


class ProfileSelectors(BaseModel):
    """The selectors as arguments of a tool; what is left out is false."""

    need_basic_info: bool = Field(False, description="Job, department, location, working mode.")
    need_skills: bool = Field(False, description="Skills with levels, and skill gaps for the job.")
    need_objectives: bool = Field(False, description="Development objectives.")
    need_experiences: bool = Field(False, description="Positions held so far.")
    need_departments_interests: bool = Field(False, description="Departments and professional interests.")
    need_bookmarks: bool = Field(False, description="Trainings, jobs and opportunities kept for later.")
    need_training_history: bool = Field(False, description="Trainings completed, under way or planned.")
    need_mandatory_trainings: bool = Field(False, description="Ids of mandatory trainings.")


NAMES: Final = ("first_name", "last_name")


def select_sections(profile: Profile, selectors: Iterable[str]) -> dict[str, Any]:
    """JSON of the available names and of the sections; an empty list is shown as such, an unknown basic is left out.

    A list is cut where it would crowd a prompt; `<field>_left_out` then counts the rest, so that none is denied.
    """
    wanted = frozenset[str]().union(*(SECTIONS[selector] for selector in selectors))
    fields = profile.model_dump(mode="json", include=set(wanted) | set(NAMES))
    ordered = [*NAMES, *(field for field in Profile.model_fields if field in wanted)]
    shown = {field: fields[field] for field in ordered if fields[field] or isinstance(fields[field], list)}
    lists = {field: cut_list(values) for field, values in shown.items() if isinstance(values, list)}
    missing = {field: len(shown[field]) - len(kept) for field, kept in lists.items()}
    return shown | lists | {f"{field}_left_out": count for field, count in missing.items() if count}


def shorten_description(item: Any) -> Any:
    """An entry with the beginning of its description, marked as cut; every other as it is."""
    text = item.get("description", "") if isinstance(item, dict) else ""
    if len(text) <= PROFILE_TEXT_CHARACTERS:
        return item
    return item | {"description": f"{text[:PROFILE_TEXT_CHARACTERS]} […]"}


def cut_list(items: list[Any]) -> list[Any]:
    """The first items within the policy's characters, with their descriptions shortened."""
    kept, used = list[Any](), 0
    for item in map(shorten_description, items):
        used += len(json.dumps(item, ensure_ascii=False))
        if used > PROFILE_LIST_CHARACTERS:
            break
        kept.append(item)
    return kept


def list_selected(selectors: Mapping[str, Any]) -> list[str]:
    """The selectors that are on, in the catalogue's order."""
    return [name for name in SECTIONS if selectors.get(name)]
