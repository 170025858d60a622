"""Which tools an agent has in a turn of MCP: fewer than in a person's own client (seeds/oria_tools.md, first section).

Left out are tools whose result only our own clients can use: the documents of a conversation, which MCP cannot upload,
and the card that starts a simulation.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from langchain_core.tools import BaseTool

from oria_runtime.turns.channels import MCP, read_channel
from oria_runtime.turns.models import Turn

MCP_TOOLS: Final[Mapping[str, frozenset[str]]] = {
    "career_chat": frozenset(
        {
            "get_user_profile_selective_tool",
            "map_jobs_tool",
            "get_jobs_tool",
            "map_skills_tool",
            "get_trainings_tool",
            "get_objective_tool",
            "transfer_to_knowledge_base",
        }
    ),
    "opportunity_search": frozenset(
        {
            "search_opportunities_tool",
            "suggest_opportunities_based_on_objective_tool",
            "get_objective_tool",
            "get_user_profile_selective_tool",
        }
    ),
    "training_finder": frozenset({"training_finder_tool", "get_trainings_tool"}),
    "talent_finder": frozenset({"talent_finder_tool", "map_skills_tool"}),
    "profile_analysis": frozenset(
        {"display_user_profile_tool", "get_user_profile_selective_tool", "get_jobs_tool", "map_skills_tool"}
    ),
    "task_helper": frozenset({"task_helper_tool"}),
    "person_disambiguation": frozenset({"person_disambiguation_tool"}),
    "knowledge_base": frozenset({"search_knowledge_sources", "read_knowledge_page"}),
}


def narrow_tools(tools: Sequence[BaseTool], turn: Turn, agent_id: str) -> list[BaseTool]:
    """The tools that the turn's channel leaves an agent; over MCP, an agent that the table does not know has none."""
    if read_channel(turn) != MCP:
        return list(tools)
    allowed = MCP_TOOLS.get(agent_id, frozenset())
    return [tool for tool in tools if tool.name in allowed]
