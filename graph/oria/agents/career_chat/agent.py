"""Career Chat: coaching in conversation, with the person's profile at hand when it is needed."""

from collections.abc import Collection, Sequence
from typing import Final

from langchain_core.tools import BaseTool

from graph.oria.agents.prompting import read_prompts
from graph.oria.agents.specialist_run import AgentDefinition, AgentRequest
from graph.oria.availability import list_enabled
from graph.oria.tools.get_document_content_tool import build_document_tool
from graph.oria.tools.get_jobs_tool import build_jobs_tool
from graph.oria.tools.get_objective_tool import FAILURE as OBJECTIVE_FAILURE
from graph.oria.tools.get_objective_tool import NAME as OBJECTIVE_TOOL
from graph.oria.tools.get_objective_tool import build_objective_tool
from graph.oria.tools.get_trainings_tool import build_trainings_tool
from graph.oria.tools.get_user_profile_selective_tool import NAME as PROFILE_TOOL
from graph.oria.tools.get_user_profile_selective_tool import build_profile_tool
from graph.oria.tools.map_jobs_tool import build_map_jobs_tool
from graph.oria.tools.map_skills_tool import build_map_skills_tool
from graph.oria.tools.suggest_simulation import NAME as SIMULATION_TOOL
from graph.oria.tools.suggest_simulation import build_simulation_tool
from graph.oria.tools.transfer_to_knowledge_base import NAME as TRANSFER_TOOL
from graph.oria.tools.transfer_to_knowledge_base import build_transfer_tool

ID: Final = "career_chat"
NO_PROFILE: Final = (
    "No profile of the person is available in this request, and no tool can load one. Go on with the conversation "
    "alone, invent nothing about the person, and mention it only where it matters."
)
# What the person is told when research comes back without an answer (seeds/oria_orchestration.md): the two differ.
RESEARCH_NOTES: Final = {
    "miss": (
        "The company's knowledge was searched for this message and does not hold the answer. Say so in one sentence, "
        "put no general knowledge or guess in its place, name who usually knows, and ask one question that takes this "
        "person's request further."
    ),
    "unavailable": (
        "The company's knowledge could not be checked just now. Say exactly that, in one sentence: not that it was "
        "searched, not that nothing was found or that no such rule exists. Give no technical reason and no time at "
        "which it will work. Then ask one question that takes this person's request further."
    ),
}


def define() -> AgentDefinition:
    """The agent of the node `career_chat_agent`."""
    return AgentDefinition(
        id=ID,
        prompts=read_prompts(ID),
        build_tools=build_tools,
        interrupting=frozenset({OBJECTIVE_TOOL, SIMULATION_TOOL}),
        hide=hide_unavailable,
        notes=write_notes,
        errors={OBJECTIVE_TOOL: OBJECTIVE_FAILURE},
        reads_documents=True,
        hands_over=True,
    )


def build_tools(request: AgentRequest) -> Sequence[BaseTool]:
    return [
        build_profile_tool(request.profile),
        build_document_tool(),
        build_map_jobs_tool(),
        build_jobs_tool(),
        build_map_skills_tool(),
        build_trainings_tool(),
        build_objective_tool(request.profile),
        build_simulation_tool(request.profile, request.selected_person),
        build_transfer_tool(),
    ]


def lacks_profile(request: AgentRequest) -> bool:
    """A profile that is missing, null or empty; one with empty sections is present."""
    return request.profile is None or request.profile.is_empty


def hide_unavailable(request: AgentRequest) -> Collection[str]:
    """Looking the profile up again could not load it: the context of a request is fixed. Where there is no knowledge,
    or it has been asked in this turn, there is nothing to hand over to."""
    profile = {PROFILE_TOOL} if lacks_profile(request) else set[str]()
    return profile if request.can_hand_over else profile | {TRANSFER_TOOL}


def write_notes(request: AgentRequest) -> Sequence[str]:
    others = [agent.name for agent in list_enabled(request.context.tenant.config) if agent.id != ID]
    services = f"Other services that the person can ask for: {', '.join(others) or 'none'}."
    research = RESEARCH_NOTES.get(request.research or "")
    return [services, *([NO_PROFILE] if lacks_profile(request) else []), *([research] if research else [])]
