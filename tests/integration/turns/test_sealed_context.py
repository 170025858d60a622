"""The caller's token reaches the tools of its turn, and is erased at every pause and end (DESIGN §2.3)."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import boto3
import pytest

from oria_runtime.turns.interactions import Response, respond
from oria_runtime.turns.models import Answer, Turn
from tests.support.engine import USER, Engine

TOKEN = "header.payload.signature"


@pytest.fixture
def sealing(engine: Engine, aws: str) -> Engine:
    """The engine with a KMS key."""
    engine.kms_key_id = boto3.client("kms").create_key()["KeyMetadata"]["KeyId"]
    return engine


async def say_sealed(engine: Engine, message: str, *, seconds: float = 3600) -> Turn:
    turn_id = uuid4()
    sealed = await engine.front.sealer.seal(TOKEN, tenant_id=engine.tenant_id, turn_id=turn_id)
    expires_at = datetime.now(UTC) + timedelta(seconds=seconds)
    turn = await engine.say(message, turn_id=turn_id, sealed=sealed, sealed_expires_at=expires_at)
    await engine.drain(engine.worker())
    return await engine.turn(turn.id)


async def stored(engine: Engine, turn_id: UUID) -> Any:
    async with engine.database.transaction() as connection:
        cursor = await connection.execute("select sealed_context from turns where id = %s", (turn_id,))
        row = await cursor.fetchone()
    return row and row["sealed_context"]


async def test_a_tool_reads_the_token_and_the_end_erases_it(sealing: Engine) -> None:
    turn = await say_sealed(sealing, "token")
    assert turn.outcome is not None
    assert turn.outcome["text"].endswith(f"token:{TOKEN}")
    assert await stored(sealing, turn.id) is None


async def test_an_expired_token_is_sign_in_again(sealing: Engine) -> None:
    turn = await say_sealed(sealing, "token", seconds=-1)
    assert turn.outcome is not None
    assert turn.outcome["text"].endswith("token:sign in again")


async def test_a_pause_erases_the_token_and_the_response_brings_the_responders_own(sealing: Engine) -> None:
    turn = await say_sealed(sealing, "choose token")
    assert await stored(sealing, turn.id) is None
    assert turn.outcome is not None
    theirs = await sealing.front.sealer.seal("theirs", tenant_id=sealing.tenant_id, turn_id=turn.id)
    interaction_id = UUID(turn.outcome["interaction"]["id"])
    response = Response([Answer("q1", option_ids=["o1"])])
    await respond(sealing.front, sealing.database, USER, interaction_id, response, sealed=theirs)
    await sealing.drain()
    turn = await sealing.turn(turn.id)
    assert turn.outcome is not None
    assert turn.outcome["text"].endswith("token:theirs")
