"""Maps free skill labels to the skills of the tenant's library."""

from collections.abc import Sequence
from typing import Any, Final

from langchain.tools import ToolRuntime
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from pydantic import BaseModel, Field

from graph.middleware.tool_boundary import ToolResult, run_bounded
from graph.oria.tools.declaration import declare_tool
from graph.oria.tools.skill_labels import map_labels
from graph.oria.untrusted import encode_data
from graph.policy import SKILL_LABELS
from oria_runtime.catalog.skill_search import SkillMatch
from oria_runtime.turns.context import TurnContext

NAME: Final = "map_skills_tool"
FAILURE: Final = "Error: the skill library could not be searched."


class SkillLabels(BaseModel):
    """Arguments of the tool."""

    skill_labels: list[str] = Field(
        default_factory=list, max_length=SKILL_LABELS, description="Skills as people write them, one each."
    )


def build_map_skills_tool() -> BaseTool:
    """The tool; it reads the library and changes nothing."""

    @declare_tool(NAME, SkillLabels)
    async def map_skills(runtime: ToolRuntime[TurnContext], skill_labels: Sequence[str] = ()) -> ToolResult:
        """Find the company's own name and code for skills that the conversation or a document names.

        A label without a result has no skill that is close enough: keep it as it is, and invent no code.
        """
        call_id = runtime.tool_call_id or ""
        work = map_given(runtime.context, skill_labels, call_id)
        return await run_bounded(work, name=NAME, call_id=call_id, failure=FAILURE)

    return map_skills


async def map_given(context: TurnContext, labels: Sequence[str], call_id: str) -> ToolResult:
    """The usable matches as JSON; labels without one are left out. Raises ModelError, DatabaseError."""
    matches = await map_labels(labels, context)
    content = [write_entry(match) for match in matches if match]
    return ToolMessage(encode_data(content), name=NAME, tool_call_id=call_id)


def write_entry(match: SkillMatch) -> dict[str, Any]:
    return {"label": match.label, "mapped_label": match.mapped_label, "skill_code": match.code}
