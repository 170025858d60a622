"""What a tool confirms for the rest of the turn: the colleague that the person means."""

from typing import Any, NotRequired

from langchain.agents.middleware import AgentMiddleware, AgentState
from langchain.agents.middleware.types import hook_config
from langgraph.runtime import Runtime

from graph.oria.state import SelectedPerson
from oria_runtime.turns.context import TurnContext


class ConfirmationState(AgentState[Any]):
    """The agent's state with the person that a tool of this run confirmed."""

    selected_person: NotRequired[SelectedPerson]


class ConfirmationMiddleware(AgentMiddleware[ConfirmationState, TurnContext, Any]):
    """Ends the run as soon as a person is confirmed, if so told: the supervisor goes on with the request."""

    state_schema = ConfirmationState

    def __init__(self, *, ends_run: bool) -> None:
        super().__init__()
        self.ends_run = ends_run

    @hook_config(can_jump_to=["end"])
    async def abefore_model(self, state: ConfirmationState, runtime: Runtime[TurnContext]) -> dict[str, Any] | None:  # noqa: ARG002
        return {"jump_to": "end"} if self.ends_run and state.get("selected_person") else None
