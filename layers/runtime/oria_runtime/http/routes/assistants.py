"""Which assistants and agents the caller's tenant has."""

from fastapi import APIRouter

from oria_runtime.http.documentation import problems
from oria_runtime.http.responses import AgentView, AssistantList, AssistantView
from oria_runtime.http.routing import CallerRoute
from oria_runtime.http.services import CurrentCaller

router = APIRouter(tags=["assistants"], route_class=CallerRoute)


@router.get(
    "/assistants",
    operation_id="listAssistants",
    summary="Assistants and agents enabled for the caller's tenant",
    responses=problems(403),
)
async def list_assistants(caller: CurrentCaller) -> AssistantList:
    """An assistant's `id` goes into a new conversation, an agent's `id` into a turn."""
    config = (await caller.read_tenant()).config
    items = [
        AssistantView(
            id=assistant.id,
            name=assistant.name,
            description=assistant.description,
            agents=[AgentView.model_validate(agent) for agent in assistant.agents(config)],
            needs_simulation=assistant.needs_simulation,
        )
        for assistant in caller.services.sandbox.registry.values()
    ]
    return AssistantList(items=items)
