"""People and their profiles: the sections that agents may read (seeds/oria_tools.md, get_user_profile_selective_tool).

A person's external id is the user of the JWT. Training, job and skill ids inside a profile are external ids too.
"""

from typing import Annotated, Any, Literal

from psycopg import AsyncConnection
from psycopg.rows import DictRow
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from oria_runtime.catalog.fields import Code, Day, Label, Name, Paragraph, SkillScore, WorkMode, wrap_code

MAX_ITEMS = 1_000


class Section(BaseModel):
    """Base of everything in a profile: an unknown key is a mistake of the customer's file, not data to drop."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ProfileSkill(Section):
    """A skill that the person has. `level` goes from 0 (none) to 5 (expert)."""

    code: Code
    label: Name = ""
    level: SkillScore | None = None


class SkillGap(Section):
    """A skill of the person's job that is below the level it asks for."""

    code: Code
    label: Name = ""
    level: SkillScore = 0
    target_level: SkillScore


class SkillReference(Section):
    """A skill named by an objective."""

    code: Code
    label: Name = ""


class Objective(Section):
    """A development objective; tools show archived ones only when asked."""

    id: Code
    title: Label
    description: Paragraph = ""
    status: Literal["current", "archived"] = "current"
    skills: tuple[Annotated[SkillReference, BeforeValidator(wrap_code)], ...] = ()
    due: Day | None = None


class Experience(Section):
    """A position held, inside or outside the company: `company` is the employer. `end` None: it goes on."""

    title: Label
    company: Name = ""
    department: Name | None = None
    location: Name | None = None
    work_mode: WorkMode | None = None
    start: Day | None = None
    end: Day | None = None
    description: Paragraph = ""


class Bookmark(Section):
    """Something the person kept for later; `id` is its external id."""

    kind: Literal["training", "job", "opportunity"]
    id: Code
    title: Name = ""


class TrainingRecord(Section):
    """One entry of the training history."""

    id: Code
    title: Name = ""
    status: Literal["completed", "in_progress", "planned", "cancelled"]
    completed_on: Day | None = None


class ProfileSections(Section):
    """What the column `people.profile` holds."""

    skills: tuple[Annotated[ProfileSkill, BeforeValidator(wrap_code)], ...] = Field(default=(), max_length=MAX_ITEMS)
    gaps: tuple[SkillGap, ...] = Field(default=(), max_length=MAX_ITEMS)
    objectives: tuple[Objective, ...] = Field(default=(), max_length=MAX_ITEMS)
    experiences: tuple[Experience, ...] = Field(default=(), max_length=MAX_ITEMS)
    departments: tuple[Label, ...] = Field(default=(), max_length=MAX_ITEMS)
    interests: tuple[Label, ...] = Field(default=(), max_length=MAX_ITEMS)
    bookmarks: tuple[Bookmark, ...] = Field(default=(), max_length=MAX_ITEMS)
    training_history: tuple[TrainingRecord, ...] = Field(default=(), max_length=MAX_ITEMS)
    mandatory_training_ids: tuple[Code, ...] = Field(default=(), max_length=MAX_ITEMS)


class Profile(ProfileSections):
    """A person as tools see them: basic information and the sections."""

    user_id: str
    first_name: str = ""
    last_name: str = ""
    email: str | None = None
    language: str = "en"
    job_title: str | None = None
    job_code: str | None = None
    department: str | None = None
    location: str | None = None
    work_mode: str | None = None
    classification: str | None = None
    hire_date: Day | None = None

    @property
    def is_empty(self) -> bool:
        """True when nothing but the person's identity is known: such a profile counts as missing."""
        identity = {"user_id", "first_name", "last_name", "email", "language"}
        return not any(self.model_dump(exclude=identity).values())


READ_PROFILE_SQL = """
select external_id as user_id, first_name, last_name, email, language, job_title, job_code, department, location,
       work_mode, classification, hire_date, profile
from people
where tenant_id = current_setting('app.tenant')::uuid and external_id = %s and active
"""


async def read_profile(connection: AsyncConnection[DictRow], user_id: str) -> Profile | None:
    """The profile of a user of the transaction's tenant, or None when the user is not among its active people."""
    row = await (await connection.execute(READ_PROFILE_SQL, (user_id,))).fetchone()
    return None if row is None else build_profile(row)


def build_profile(row: dict[str, Any]) -> Profile:
    """A row of `people` (with its external id as `user_id`) as a profile."""
    basics = {key: value for key, value in row.items() if key != "profile"}
    return Profile.model_validate(basics | row["profile"])
