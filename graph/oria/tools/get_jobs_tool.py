"""Reads jobs by their codes: what they are and which skills they ask for."""

from collections.abc import Sequence
from typing import Any, Final

from langchain.tools import ToolRuntime
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from pydantic import BaseModel, Field

from graph.middleware.tool_boundary import ToolResult, fail, run_bounded
from graph.oria.tools.declaration import declare_tool
from graph.oria.untrusted import encode_data
from graph.policy import JOB_CODES, JOB_DESCRIPTION_CHARACTERS
from oria_runtime.catalog.jobs import Job, read_jobs
from oria_runtime.turns.context import TurnContext

NAME: Final = "get_jobs_tool"
NO_CODES: Final = "Error: no job code was given."
FAILURE: Final = "Error: the jobs could not be read."


class JobCodes(BaseModel):
    """Arguments of the tool."""

    job_codes: list[str] = Field(max_length=JOB_CODES, description="Exact codes, from `map_jobs_tool` or a profile.")


def build_jobs_tool() -> BaseTool:
    """The tool; it reads the library and changes nothing."""

    @declare_tool(NAME, JobCodes)
    async def get_jobs(runtime: ToolRuntime[TurnContext], job_codes: list[str]) -> ToolResult:
        """Read what the company's jobs are and which skills, at which levels, they ask for.

        Takes exact job codes that a tool result has listed. When only a title is known, map it first; never invent a
        code.
        """
        call_id = runtime.tool_call_id or ""
        work = read_listed(runtime.context, job_codes, call_id)
        return await run_bounded(work, name=NAME, call_id=call_id, failure=FAILURE)

    return get_jobs


async def read_listed(context: TurnContext, job_codes: Sequence[str], call_id: str) -> ToolResult:
    """The jobs in the caller's order, and the codes that no active job has."""
    codes = [code.strip() for code in job_codes if code.strip()]
    if not codes:
        return fail(NAME, call_id, NO_CODES)
    async with context.database.transaction() as connection:
        jobs = await read_jobs(connection, codes)
    known = {job.code for job in jobs}
    unknown = [code for code in dict.fromkeys(codes) if code not in known]
    content = {"jobs": [write_job(job) for job in jobs], "unknown_codes": unknown}
    return ToolMessage(encode_data(content), name=NAME, tool_call_id=call_id)


def write_job(job: Job) -> dict[str, Any]:
    """A job as the model reads it. Its id outside the database is its code."""
    return {
        "job_code": job.code,
        "title": job.title,
        "description": job.description[:JOB_DESCRIPTION_CHARACTERS],
        "created_on": job.created_at.date().isoformat(),
        "skills": [skill.model_dump(exclude_none=True) for skill in job.skills],
    }
