"""Reads sections of the person's own profile, which was loaded once for this request."""

from typing import Final

from langchain.tools import ToolRuntime
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool

from graph.middleware.tool_boundary import ToolResult, fail, run_bounded
from graph.oria.tools.declaration import declare_tool
from graph.oria.tools.profile_sections import ProfileSelectors, list_selected, select_sections
from graph.oria.untrusted import encode_data
from oria_runtime.catalog.people import Profile
from oria_runtime.turns.context import TurnContext

NAME: Final = "get_user_profile_selective_tool"
NOTHING_SELECTED: Final = (
    "Error: no section was selected. Select at least one that this request needs, or answer without the profile."
)
NO_USER: Final = "Error: this request has no application user id, so there is no profile to read."
NO_PROFILE: Final = "Error: no profile is available for this request. Continue without it."
FAILURE: Final = "Error: the profile could not be read."


def build_profile_tool(profile: Profile | None) -> BaseTool:
    """The tool over the profile of this request; it reads nothing again and has no side effect."""

    @declare_tool(NAME, ProfileSelectors)
    async def get_user_profile_selective(runtime: ToolRuntime[TurnContext], **selectors: bool) -> ToolResult:
        """Read parts of the profile of the person you are talking to.

        First decide which category this request really needs and set only those selectors to true; the others stay
        false. At least one must be true. When no category is needed, do not call this tool: answer directly. A profile
        says nothing about company rules or policies.
        """
        call_id = runtime.tool_call_id or ""
        work = read_selected(profile, list_selected(selectors), runtime.context.turn.user_id, call_id)
        return await run_bounded(work, name=NAME, call_id=call_id, failure=FAILURE)

    return get_user_profile_selective


async def read_selected(profile: Profile | None, selected: list[str], user_id: str, call_id: str) -> ToolResult:
    """The sections as JSON, or the reason why there are none."""
    if not user_id.strip():
        return fail(NAME, call_id, NO_USER)
    if not selected:
        return fail(NAME, call_id, NOTHING_SELECTED)
    if profile is None:
        return fail(NAME, call_id, NO_PROFILE)
    return ToolMessage(encode_data(select_sections(profile, selected)), name=NAME, tool_call_id=call_id)
