"""What each kind of file may hold: one model per kind, its table's columns, and the text that is embedded."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from oria_runtime.catalog.fields import (
    Code,
    Day,
    Email,
    Label,
    Language,
    Name,
    Paragraph,
    SkillScore,
    Url,
    WorkMode,
    reject_bool,
    wrap_code,
)
from oria_runtime.catalog.opportunities import EmploymentType, OpportunityKind
from oria_runtime.catalog.people import ProfileSections
from oria_runtime.tenancy.tenants import TenantConfig

KindName = Literal["tenant", "people", "skills", "jobs", "trainings", "opportunities"]

# Some 2,000 tokens: a request of 128 texts then stays under OpenAI's 300,000 tokens.
EMBEDDED_CHARACTERS = 8_000


Minutes = Annotated[int, BeforeValidator(reject_bool), Field(gt=0, le=10_000_000)]
Price = Annotated[Decimal, BeforeValidator(reject_bool), Field(ge=0, max_digits=12, decimal_places=2)]


class Row(BaseModel):
    """Base of the models: unknown columns are errors, never dropped."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class CatalogRow(Row):
    """What every row of the catalog has."""

    external_id: Code
    language: Language = "en"
    active: bool = True

    def columns(self) -> dict[str, Any]:
        """The row's columns as JSON values."""
        return self.model_dump(mode="json")

    def embedded_text(self) -> str:
        """The text whose embedding stands for the row in searches; empty for none."""
        raise NotImplementedError

    def parent_ids(self) -> tuple[str, ...]:
        """The external ids of the rows above this one."""
        return ()


class SkillRow(CatalogRow):
    """A skill; `external_id` is its code."""

    label: Label
    alternative_labels: tuple[Label, ...] = Field(default=(), max_length=500)
    description: Paragraph = ""
    category: Name | None = None

    def embedded_text(self) -> str:
        return join_text(self.label, *self.alternative_labels[:20], self.description)


class RequiredSkill(Row):
    """A skill of a job, with the level (0 to 5) it asks for."""

    code: Code
    level: SkillScore | None = None
    weight: Annotated[float, BeforeValidator(reject_bool), Field(gt=0, le=100, allow_inf_nan=False)] = 1.0


class JobRow(CatalogRow):
    """A job; `external_id` is its code."""

    title: Label
    alternative_titles: tuple[Label, ...] = Field(default=(), max_length=500)
    description: Paragraph = ""
    family: Name | None = None
    classification_code: Name | None = None
    skills: tuple[Annotated[RequiredSkill, BeforeValidator(wrap_code)], ...] = Field(default=(), max_length=500)

    def embedded_text(self) -> str:
        """Nothing: a job is found by its titles, and each of them has an embedding of its own (job_titles)."""
        return ""


class TrainingRow(CatalogRow):
    """A training. `skills` are skill codes, `parents` external ids of trainings it is part of."""

    title: Label
    description: Paragraph = ""
    provider: Name | None = None
    duration_minutes: Minutes | None = None
    level: Literal["beginner", "intermediate", "advanced"] | None = None
    format: Literal["online", "video", "virtual_class", "classroom", "blended", "on_the_job"] | None = None
    skills: tuple[Code, ...] = Field(default=(), max_length=500)
    keywords: tuple[Label, ...] = Field(default=(), max_length=500)
    url: Url | None = None
    price: Price | None = None
    currency: Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")] | None = None
    parents: tuple[Code, ...] = Field(default=(), max_length=100)

    def columns(self) -> dict[str, Any]:
        return self.model_dump(mode="json", exclude={"parents"})

    def embedded_text(self) -> str:
        return join_text(self.title, *self.keywords[:20], self.description)

    def parent_ids(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.parents))


class WantedSkill(RequiredSkill):
    """A skill of an opportunity. The label is for full-text search; what is shown is the library's where it has one."""

    label: Name = ""


class OpportunityRow(CatalogRow):
    """An opening. `skills` have the levels it asks for, `languages` are those of the work."""

    title: Label
    description: Paragraph = ""
    kind: OpportunityKind = "job"
    department: Name | None = None
    location: Name | None = None
    work_mode: WorkMode | None = None
    classification: Name | None = None
    employment_type: EmploymentType | None = None
    company: Name | None = None
    job_code: Code | None = None
    skills: tuple[Annotated[WantedSkill, BeforeValidator(wrap_code)], ...] = Field(default=(), max_length=500)
    languages: tuple[Language, ...] = Field(default=(), max_length=50)
    starts_on: Day | None = None
    posted_on: Day | None = None
    closes_on: Day | None = None
    url: Url | None = None

    def columns(self) -> dict[str, Any]:
        return self.model_dump(mode="json") | {"skill_codes": [skill.code for skill in self.skills]}

    def embedded_text(self) -> str:
        labels = [skill.label or skill.code for skill in self.skills]
        return join_text(self.title, self.department or "", ", ".join(labels), self.description)


class PersonRow(CatalogRow, ProfileSections):
    """A person with a profile; `external_id` is the user of the JWT."""

    first_name: Name = ""
    last_name: Name = ""
    email: Email | None = None
    job_title: Name | None = None
    job_code: Code | None = None
    department: Name | None = None
    location: Name | None = None
    work_mode: WorkMode | None = None
    classification: Name | None = None
    hire_date: Day | None = None

    def columns(self) -> dict[str, Any]:
        sections = set(ProfileSections.model_fields)
        profile = self.model_dump(mode="json", include=sections, exclude_defaults=True)
        basics = self.model_dump(mode="json", exclude=sections)
        return basics | {"skill_codes": [skill.code for skill in self.skills], "profile": profile}

    def embedded_text(self) -> str:
        """What the person does and can do; no name, because names must not decide who is found for a skill."""
        labels = [skill.label or skill.code for skill in self.skills]
        held = [f"{experience.title}. {experience.description}" for experience in self.experiences[:10]]
        return join_text(self.job_title or "", self.department or "", ", ".join(labels), *held, *self.interests)


class TenantRow(Row):
    """A tenant: `config` has the fields of TenantConfig. `id` is derived from the slug when it is absent."""

    slug: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]
    name: Label
    id: UUID | None = None
    config: TenantConfig = Field(default_factory=TenantConfig)


def join_text(*parts: str) -> str:
    """The parts that say something, one a line, bounded to what is embedded."""
    return "\n".join(part for part in parts if part)[:EMBEDDED_CHARACTERS]


@dataclass(frozen=True)
class Kind:
    """A kind of file."""

    name: KindName
    row: type[Row]
    key: str = "external_id"


KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("tenant", TenantRow, key="slug"),
        Kind("people", PersonRow),
        Kind("skills", SkillRow),
        Kind("jobs", JobRow),
        Kind("trainings", TrainingRow),
        Kind("opportunities", OpportunityRow),
    )
}
