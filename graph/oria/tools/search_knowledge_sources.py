"""Searches the company's knowledge: indexed passages, and with the first search the entry pages of its web sources."""

from typing import Any, Final

from langchain.tools import ToolRuntime
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from pydantic import BaseModel, Field

from graph.middleware.tool_boundary import ToolResult, fail
from graph.oria.tools.declaration import declare_tool
from graph.oria.tools.knowledge.research import Research
from graph.oria.untrusted import encode_data
from graph.policy import KNOWLEDGE_QUERY_CHARACTERS, KNOWLEDGE_SEARCHES
from oria_runtime.turns.context import TurnContext

NAME: Final = "search_knowledge_sources"
NO_SEARCH_LEFT: Final = "both searches have been made"
FAILURE: Final = "Error: the company's knowledge could not be searched."


class KnowledgeQuery(BaseModel):
    """Arguments of the tool."""

    query: str | None = Field(
        default=None,
        max_length=KNOWLEDGE_QUERY_CHARACTERS,
        description="Words to look for, complete in themselves; omit it to search with the person's latest message.",
    )


def build_search_tool(research: Research) -> BaseTool:
    """The tool of one research."""

    @declare_tool(NAME, KnowledgeQuery)
    async def search_knowledge_sources(runtime: ToolRuntime[TurnContext], query: str | None = None) -> ToolResult:
        """Search the company's documents and pages.

        The result has passages, and the entry pages of the company's web sources with a short excerpt, their sections
        and the pages that they link to. Passages and excerpts are evidence; headings, links and the words round them
        only tell where to read on. At most two searches: use the second one with other words when the first found
        something else than what is asked. A follow-up question needs a query that says all that it refers to.
        """
        call_id = runtime.tool_call_id or ""
        return await research.run_bounded(search(research, query, call_id), name=NAME, call_id=call_id, failure=FAILURE)

    return search_knowledge_sources


async def search(research: Research, query: str | None, call_id: str) -> ToolResult:
    """The result of a search while there is one left."""
    if research.searches >= KNOWLEDGE_SEARCHES:
        refused: dict[str, Any] = {"error": NO_SEARCH_LEFT, "searches_left": 0, "web_budget": research.web_budget}
        return fail(NAME, call_id, encode_data(refused))
    return ToolMessage(encode_data(await research.search(query)), name=NAME, tool_call_id=call_id)
