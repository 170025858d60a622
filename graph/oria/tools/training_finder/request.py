"""The request of one call: its arguments, and what was prepared from profile, memory and conversation."""

from collections.abc import Mapping
from typing import Any, TypedDict

from pydantic import Field

from graph.oria.tools.profile_sections import ProfileSelectors, list_selected

# A plan always looks at role, skills, objectives and department (seeds/oria_tools.md, training_finder_tool).
PLAN_SELECTORS = frozenset({"need_basic_info", "need_skills", "need_objectives", "need_departments_interests"})


class TrainingRequest(ProfileSelectors):
    """Arguments of the tool; the inherited selectors are sections of the profile that the search shall consider."""

    query: str = Field(description="What to find, as a sentence that stands on its own, in the person's words.")
    is_learning_plan: bool = Field(description="Whether the person wants a learning plan, a path or a schedule.")
    show_more: bool = Field(False, description="True only when the person explicitly asks for more of the same search.")
    user_context: str = Field("", description="What the conversation already says about the person for this request.")
    plan_duration: str = Field("", description="How long the plan shall run, in the person's words, e.g. '3 months'.")
    exclude_training_ids: list[str] = Field(
        default_factory=list, description="Exact ids of trainings that the person does not want."
    )

    def list_sections(self) -> list[str]:
        """The profile sections to load: the selected ones, and those of every plan.

        Context that the model gives joins them and replaces none: a profile says what no conversation mentions.
        """
        selected = set(list_selected(self.model_dump()))
        return list_selected(dict.fromkeys(selected | (PLAN_SELECTORS if self.is_learning_plan else set()), True))

    @property
    def is_about_person(self) -> bool:
        """Whether the model asked for facts of the profile to be searched with."""
        return bool(list_selected(self.model_dump()))


class Preparation(TypedDict):
    """What the checks and the search know beside the arguments. JSON only: it is cached over a pause.

    `profile` holds the requested sections, `preferences` the durable ones, `conversation` recent records.
    """

    profile: dict[str, Any]
    preferences: list[str]
    conversation: list[dict[str, Any]]


def write_evidence(request: TrainingRequest, preparation: Preparation) -> dict[str, Any]:
    """The evidence of every model-made judgement about the request, as JSON."""
    evidence: Mapping[str, Any] = {
        "request": request.query,
        "plan_duration": request.plan_duration,
        "context": request.user_context,
        "profile": preparation["profile"],
        "stored_preferences": preparation["preferences"],
        "recent_conversation": preparation["conversation"],
    }
    return {name: value for name, value in evidence.items() if value}
