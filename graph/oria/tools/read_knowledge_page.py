"""Reads a public page of the company that a search or another page led to."""

from typing import Final

from langchain.tools import ToolRuntime
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from pydantic import BaseModel, Field

from graph.middleware.tool_boundary import ToolResult, fail
from graph.oria.tools.declaration import declare_tool
from graph.oria.tools.knowledge.research import NotReadableError, Research
from graph.oria.untrusted import encode_data
from graph.policy import KNOWLEDGE_READS
from oria_runtime.turns.context import TurnContext

NAME: Final = "read_knowledge_page"
FAILURE: Final = "Error: the page could not be read."


class PageChoice(BaseModel):
    """Arguments of the tool."""

    page_id: str = Field(description="Exactly as a result of this research lists it.")
    section_id: str | None = Field(default=None, description="A listed section of that page; omit it for the page.")
    offset: int = Field(default=0, ge=0, description="The `next_offset` of an excerpt, to read on after it.")


def build_page_tool(research: Research) -> BaseTool:
    """The tool of one research."""

    @declare_tool(NAME, PageChoice)
    async def read_knowledge_page(
        runtime: ToolRuntime[TurnContext], page_id: str, section_id: str | None = None, offset: int = 0
    ) -> ToolResult:
        """Read an excerpt of a page, or of one of its sections.

        Takes ids that results of this research list. `status` "missing" means that there is no such page any more,
        "unavailable" that it could not be read just now, which says nothing about what it holds. When an excerpt is
        about something else, follow another lead while `web_budget` lasts.
        """
        call_id = runtime.tool_call_id or ""
        work = read_listed(research, page_id, section_id, offset, call_id)
        return await research.run_bounded(work, name=NAME, call_id=call_id, failure=FAILURE)

    return read_knowledge_page


async def read_listed(
    research: Research, page_id: str, section_id: str | None, offset: int, call_id: str
) -> ToolResult:
    """The excerpt, or why there is none; what is left in either case."""
    page = research.pages.find(page_id)
    try:
        if page is None:
            raise NotReadableError("unknown_page")
        if research.reads >= KNOWLEDGE_READS:
            raise NotReadableError("no_reads_left")
        result = await research.read(page, section_id, offset)
    except NotReadableError as error:
        refused = {"status": error.reason, "page_id": page_id, "web_budget": research.web_budget}
        return fail(NAME, call_id, encode_data(refused))
    return ToolMessage(encode_data(result), name=NAME, tool_call_id=call_id)
