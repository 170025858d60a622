"""From a validated message to an accepted turn: which assistant, which agent, which language, sealed token."""

import hashlib
from dataclasses import dataclass, replace
from datetime import datetime
from typing import LiteralString
from uuid import UUID, uuid4

from oria_runtime.documents.rows import Place, list_names
from oria_runtime.errors import InvalidRequestError, Violation
from oria_runtime.http.requests import ChatMessage, InteractionResponse, NewTurn, RequestBody
from oria_runtime.http.services import Caller, parse_id
from oria_runtime.tenancy.language import choose_locale
from oria_runtime.tenancy.tenants import TenantConfig
from oria_runtime.turns import interactions
from oria_runtime.turns.acceptance import TurnRequest, accept_turn
from oria_runtime.turns.assistants import Assistant, find_assistant
from oria_runtime.turns.channels import CHANNEL
from oria_runtime.turns.conversations import Conversation, read_conversation
from oria_runtime.turns.models import Turn
from oria_runtime.turns.reading import read_turn

READ_PREVIOUS_LOCALE_SQL: LiteralString = (
    "select locale from turns where conversation_id = %s order by created_at desc, id desc limit 1"
)


@dataclass(frozen=True)
class Submission:
    """A message on its way: what the client sent, and under which key. `route` names the call it came by.

    `channel` is set by the server only; the graph reads it in `turn.request`.
    """

    body: NewTurn
    idempotency_key: str | None
    route: str
    channel: str | None = None

    @property
    def request_hash(self) -> str:
        return hash_body(self.route, self.body)


def hash_body(route: str, body: RequestBody) -> str:
    """The identity of a request under its idempotency key; a field left out and its default are the same."""
    return hashlib.sha256(f"{route}\n{body.model_dump_json()}".encode()).hexdigest()


async def submit_turn(caller: Caller, conversation_id: UUID, submission: Submission) -> Turn:
    """A turn of an existing conversation. Raises NotFoundError, ConflictError, InvalidRequestError."""
    tenant = await caller.read_tenant()
    conversation = await read_conversation(caller.database, caller.user_id, conversation_id)
    assistant = find_assistant(caller.services.sandbox.registry, conversation.assistant)
    await check_attachments(caller, submission.body, conversation_id)
    locale = await _choose_locale(caller, tenant.config, submission.body, conversation)
    return await _accept(caller, tenant.config, assistant, submission, locale=locale, conversation_id=conversation_id)


async def submit_chat(caller: Caller, submission: Submission, body: ChatMessage) -> Turn:
    """The same in one call; the engine opens the conversation in the turn's own transaction."""
    if body.conversation_id is not None:
        if body.assistant is not None:
            detail = "cannot be chosen for an existing conversation"
            raise InvalidRequestError("The assistant is fixed.", [Violation("/assistant", detail)])
        return await submit_turn(caller, parse_id(body.conversation_id, "conversation"), submission)
    tenant = await caller.read_tenant()
    assistant = choose_assistant(caller, body.assistant)
    if assistant.needs_simulation:
        detail = "begins with a simulation: POST /v1/conversations with its simulation_id"
        raise InvalidRequestError("This assistant needs a conversation.", [Violation("/assistant", detail)])
    await check_attachments(caller, body, None)
    locale = choose_locale(tenant.config, body.message, body.locale)
    return await _accept(caller, tenant.config, assistant, submission, locale=locale, conversation_id=None)


async def submit_response(caller: Caller, interaction_id: UUID, body: InteractionResponse) -> Turn:
    """Answers to an interaction; its turn goes on, or ends when the person cancels it.

    Raises NotFoundError, ConflictError when it is not pending, InvalidRequestError when answers do not fit.
    """
    await caller.read_tenant()
    response = interactions.Response([answer.as_answer() for answer in body.answers or ()], cancel=bool(body.cancel))
    sealed, expires_at = await _seal_for_interaction(caller, interaction_id, cancel=response.cancel)
    return await interactions.respond(
        caller.services.sandbox,
        caller.database,
        caller.user_id,
        interaction_id,
        response,
        sealed=sealed,
        sealed_expires_at=expires_at,
    )


async def _seal_for_interaction(
    caller: Caller, interaction_id: UUID, *, cancel: bool
) -> tuple[bytes, datetime] | tuple[None, None]:
    """A response seals the responder's own token: the first one was erased when the turn paused (DESIGN §2.3)."""
    interaction = await interactions.read_interaction(caller.database, caller.user_id, interaction_id)
    turn = await read_turn(caller.database, caller.user_id, interaction.turn_id)
    if cancel or not find_assistant(caller.services.sandbox.registry, turn.assistant).needs_token:
        return None, None
    return await caller.seal_token(turn.id), caller.identity.expires_at


def choose_assistant(caller: Caller, assistant_id: str | None) -> Assistant:
    """The named assistant, or the registry's first. Raises InvalidRequestError for an unknown one."""
    registry = caller.services.sandbox.registry
    if assistant_id is None:
        return next(iter(registry.values()))
    if assistant_id not in registry:
        raise InvalidRequestError("There is no such assistant.", [Violation("/assistant", "is not registered")])
    return registry[assistant_id]


async def check_attachments(caller: Caller, body: NewTurn, conversation_id: UUID | None) -> None:
    """Raises InvalidRequestError for a name that no document of the conversation has; a new conversation has none."""
    if not body.attachments:
        return
    known: list[str] = []
    if conversation_id is not None:
        async with caller.database.transaction() as connection:
            known = await list_names(connection, Place(caller.database, caller.user_id, conversation_id))
    violations = [
        Violation(f"/attachments/{index}", "is no document of the conversation")
        for index, name in enumerate(body.attachments)
        if name not in known
    ]
    if violations:
        raise InvalidRequestError("An attachment is not there.", violations)


async def _accept(
    caller: Caller,
    config: TenantConfig,
    assistant: Assistant,
    submission: Submission,
    *,
    locale: str,
    conversation_id: UUID | None,
) -> Turn:
    body = submission.body
    _check_agent(config, assistant, body.agent)
    request = TurnRequest(
        user_id=caller.user_id,
        conversation_id=conversation_id,
        message=body.message,
        locale=locale,
        assistant=assistant.id,
        agent=body.agent,
        interactions=body.interactions,
        idempotency_key=submission.idempotency_key,
        request_hash=submission.request_hash,
        on_conflict=body.on_conflict,
        request=body.extras | ({CHANNEL: submission.channel} if submission.channel else {}),
    )
    if assistant.needs_token:
        turn_id = uuid4()
        sealed = await caller.seal_token(turn_id)
        request = replace(request, turn_id=turn_id, sealed=sealed, sealed_expires_at=caller.identity.expires_at)
    return (await accept_turn(caller.services.sandbox, caller.database, request)).turn


def _check_agent(config: TenantConfig, assistant: Assistant, agent: str | None) -> None:
    if agent is not None and agent not in {info.id for info in assistant.agents(config)}:
        detail = "is not an agent of this assistant, or not enabled for the tenant"
        raise InvalidRequestError("There is no such agent.", [Violation("/agent", detail)])


async def _choose_locale(caller: Caller, config: TenantConfig, body: NewTurn, conversation: Conversation) -> str:
    async with caller.database.transaction() as connection:
        row = await (await connection.execute(READ_PREVIOUS_LOCALE_SQL, (conversation.id,))).fetchone()
    previous = row["locale"] if row else None
    return choose_locale(config, body.message, body.locale, conversation.locale, previous=previous)
