"""Maps free job titles to the jobs of the tenant's library."""

from collections.abc import Sequence
from typing import Any, Final

from langchain.tools import ToolRuntime
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from pydantic import BaseModel, Field

from graph.middleware.tool_boundary import ToolResult, fail, run_bounded
from graph.oria.tools.clarification import clean
from graph.oria.tools.declaration import declare_tool
from graph.oria.tools.embeddings import embed_if_possible
from graph.oria.untrusted import encode_data
from graph.policy import JOB_TITLES
from oria_runtime.catalog.job_search import JobMatch, match_jobs
from oria_runtime.catalog.matching import find_job_threshold
from oria_runtime.turns.context import TurnContext

NAME: Final = "map_jobs_tool"
NO_TITLES: Final = "Error: no job title was given."
FAILURE: Final = "Error: the job library could not be searched."
# Beside a title that was not compared, as against one that no job is close enough to.
NOT_COMPARED: Final = "could not be compared just now"


class JobTitles(BaseModel):
    """Arguments of the tool."""

    job_titles: list[str] = Field(max_length=JOB_TITLES, description="Job titles as people write them, one each.")


def build_map_jobs_tool() -> BaseTool:
    """The tool; it reads the library and changes nothing."""

    @declare_tool(NAME, JobTitles)
    async def map_jobs(runtime: ToolRuntime[TurnContext], job_titles: list[str]) -> ToolResult:
        """Find the company's job for each job title that the conversation or a profile names.

        Gives the job's own title and its code, or nothing where no job is close enough. Use it before `get_jobs_tool`
        when only a title is known. The requirements of a job are not in its result.
        """
        call_id = runtime.tool_call_id or ""
        work = map_titles(runtime.context, job_titles, call_id)
        return await run_bounded(work, name=NAME, call_id=call_id, failure=FAILURE)

    return map_jobs


async def map_titles(context: TurnContext, job_titles: Sequence[str], call_id: str) -> ToolResult:
    """Every title with its job, misses included; an error only when no title at all could be compared."""
    titles = [title for given in job_titles if (title := clean(given))]
    if not titles:
        return fail(NAME, call_id, NO_TITLES)
    vectors = await embed_if_possible(titles, "job titles", context)
    model = context.models.embedding_model
    threshold = find_job_threshold(context.tenant.config.embedding, model)
    async with context.database.transaction() as connection:
        matches = await match_jobs(connection, titles, vectors, model, threshold=threshold)
    if vectors is None and not any(matches):
        return fail(NAME, call_id, FAILURE)
    entries = [
        write_entry(title, match, compared=vectors is not None) for title, match in zip(titles, matches, strict=True)
    ]
    return ToolMessage(encode_data(entries), name=NAME, tool_call_id=call_id)


def write_entry(title: str, match: JobMatch | None, *, compared: bool) -> dict[str, Any]:
    """The original title, the mapped title and the job's code."""
    if match is not None:
        return {"title": title, "mapped_title": match.mapped_title, "job_code": match.job_code}
    missed: dict[str, Any] = {"title": title, "mapped_title": None, "job_code": None}
    return missed if compared else missed | {"error": NOT_COMPARED}
