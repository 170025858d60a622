"""People and their profiles: the sections that agents may read (seeds/oria_tools.md, get_user_profile_selective_tool).

A person's external id is the user of the JWT. Training, job and skill ids inside a profile are external ids too.
"""

from datetime import date
from typing import Annotated, Any, Literal

from psycopg import AsyncConnection
from psycopg.rows import DictRow
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Code = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300)]
Label = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]
Paragraph = Annotated[str, StringConstraints(strip_whitespace=True, max_length=20_000)]
SkillScore = Annotated[int, Field(ge=0, le=5)]


class Section(BaseModel):
    """Base of everything in a profile: an unknown key is a mistake of the customer's file, not data to drop."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ProfileSkill(Section):
    """A skill that the person has. `level` goes from 0 (none) to 5 (expert)."""

    code: Code
    label: str = ""
    level: SkillScore | None = None


class SkillGap(Section):
    """A skill of the person's job that is below the level it asks for."""

    code: Code
    label: str = ""
    level: SkillScore = 0
    target_level: SkillScore


class SkillReference(Section):
    """A skill named by an objective."""

    code: Code
    label: str = ""


class Objective(Section):
    """A development objective; tools show archived ones only when asked."""

    id: Code
    title: Label
    description: Paragraph = ""
    status: Literal["current", "archived"] = "current"
    skills: tuple[SkillReference, ...] = ()
    due: date | None = None


class Experience(Section):
    """A position held, inside or outside the company. `end` None: it goes on."""

    title: Label
    company: str = ""
    start: date | None = None
    end: date | None = None
    description: Paragraph = ""


class Bookmark(Section):
    """Something the person kept for later; `id` is its external id."""

    kind: Literal["training", "job", "opportunity"]
    id: Code
    title: str = ""


class TrainingRecord(Section):
    """One entry of the training history."""

    id: Code
    title: str = ""
    status: Literal["completed", "in_progress", "planned", "cancelled"]
    completed_on: date | None = None


class ProfileSections(Section):
    """What the column `people.profile` holds."""

    skills: tuple[ProfileSkill, ...] = ()
    gaps: tuple[SkillGap, ...] = ()
    objectives: tuple[Objective, ...] = ()
    experiences: tuple[Experience, ...] = ()
    departments: tuple[Label, ...] = ()
    interests: tuple[Label, ...] = ()
    bookmarks: tuple[Bookmark, ...] = ()
    training_history: tuple[TrainingRecord, ...] = ()
    mandatory_training_ids: tuple[Code, ...] = ()


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
    hire_date: date | None = None

    @property
    def is_empty(self) -> bool:
        """True when nothing but the person's identity is known: such a profile counts as missing."""
        identity = {"user_id", "first_name", "last_name", "email", "language"}
        return not any(self.model_dump(exclude=identity).values())

    @property
    def display_name(self) -> str:
        """First and last name, or the user id when neither is known."""
        return " ".join(part for part in (self.first_name, self.last_name) if part) or self.user_id


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
