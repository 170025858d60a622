"""From a validated request to a conversation: an empty one, or the practice of a simulation."""

from oria_runtime.errors import InvalidRequestError, Violation
from oria_runtime.http.requests import NewConversation
from oria_runtime.http.services import Caller, parse_id
from oria_runtime.http.submitting import choose_assistant
from oria_runtime.tenancy.language import match_locale
from oria_runtime.turns.assistants import Assistant
from oria_runtime.turns.conversations import Conversation, create_conversation
from oria_runtime.turns.simulations import start_simulation


async def open_conversation(caller: Caller, body: NewConversation) -> tuple[Conversation, bool]:
    """The conversation, and whether it is a new one. Raises InvalidRequestError, NotFoundError, ForbiddenError."""
    tenant = await caller.read_tenant()
    assistant = choose_assistant(caller, body.assistant)
    check_start(assistant, body)
    locale = match_locale(body.locale, tenant.config.locales)
    if body.simulation_id is None:
        return await create_conversation(caller.database, caller.user_id, assistant.id, locale), True
    simulation_id = parse_id(body.simulation_id, "simulation")
    return await start_simulation(caller.database, caller.user_id, assistant.id, simulation_id, locale)


def check_start(assistant: Assistant, body: NewConversation) -> None:
    """Raises InvalidRequestError for an assistant that needs a simulation and gets none, or the other way round."""
    if assistant.needs_simulation == (body.simulation_id is not None):
        return
    detail = "is required by this assistant" if assistant.needs_simulation else "is not for this assistant"
    raise InvalidRequestError("The simulation does not fit the assistant.", [Violation("/simulation_id", detail)])
