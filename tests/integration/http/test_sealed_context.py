"""Sealing against moto's KMS over HTTP (DESIGN §2.3)."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import boto3
import pytest

from oria_runtime.db.pool import TenantDatabase
from oria_runtime.errors import ConfigurationError, UnavailableError
from oria_runtime.sandbox import Sandbox
from oria_runtime.tenancy.sealed_context import ContextSealer, SealBrokenError
from tests.integration.http.conftest import connect, join_apps, serve
from tests.integration.http.issuer import Issuer
from tests.integration.http.worker import pause

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)
TENANT, TURN = uuid4(), uuid4()


@pytest.fixture
def key(aws: str) -> str:
    """A KMS key."""
    return boto3.client("kms").create_key()["KeyMetadata"]["KeyId"]


@pytest.mark.parametrize("token", ["short", "x" * 12_000])
async def test_token_comes_back_whatever_its_size(key: str, token: str) -> None:
    sealed = await ContextSealer(key).seal(token, tenant_id=TENANT, turn_id=TURN)
    assert token.encode() not in sealed
    # Another sandbox opens it.
    assert await ContextSealer(key).unseal(sealed, LATER, tenant_id=TENANT, turn_id=TURN, now=NOW) == token


async def test_same_token_is_never_sealed_alike(key: str) -> None:
    sealer = ContextSealer(key)
    assert len({await sealer.seal("token", tenant_id=TENANT, turn_id=TURN) for _ in range(3)}) == 3


async def test_expired_or_absent_token_is_none(key: str) -> None:
    sealer = ContextSealer(key)
    sealed = await sealer.seal("token", tenant_id=TENANT, turn_id=TURN)
    assert await sealer.unseal(sealed, NOW, tenant_id=TENANT, turn_id=TURN, now=NOW) is None
    assert await sealer.unseal(None, None, tenant_id=TENANT, turn_id=TURN, now=NOW) is None


async def test_seal_of_another_tenant_or_turn_does_not_open(key: str) -> None:
    sealer = ContextSealer(key)
    sealed = await sealer.seal("token", tenant_id=TENANT, turn_id=TURN)
    for tenant_id, turn_id in ((uuid4(), TURN), (TENANT, uuid4())):
        with pytest.raises(SealBrokenError):
            await sealer.unseal(sealed, LATER, tenant_id=tenant_id, turn_id=turn_id, now=NOW)


async def test_changed_or_cut_seal_does_not_open(key: str) -> None:
    sealer = ContextSealer(key)
    sealed = await sealer.seal("token", tenant_id=TENANT, turn_id=TURN)
    for broken in (
        sealed[:-1] + bytes([sealed[-1] ^ 1]),
        sealed[:20],
        b"",
        b"\x02" + sealed[1:],
        sealed[:1] + b"\xff\xff",
    ):
        with pytest.raises(SealBrokenError):
            await sealer.unseal(broken, LATER, tenant_id=TENANT, turn_id=TURN, now=NOW)


async def test_key_service_that_is_down_can_be_tried_again(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    with pytest.raises(UnavailableError):
        await ContextSealer(key).seal("token", tenant_id=TENANT, turn_id=TURN)


async def test_deployment_without_a_key_is_a_configuration_error() -> None:
    with pytest.raises(ConfigurationError):
        await ContextSealer("").seal("token", tenant_id=TENANT, turn_id=TURN)


async def test_turn_and_response_seal_their_callers_token(
    key: str, environ: dict[str, str], sandbox: Sandbox, issuer: Issuer, database: TenantDatabase
) -> None:
    environ["KMS_KEY_ID"] = key
    first, second = issuer.token(database.tenant_id, scope="one"), issuer.token(database.tenant_id, scope="two")
    async with serve(join_apps(sandbox)) as address:
        async with connect(address, first) as client:
            turn = (await client.post("/chat", json={"message": "a", "assistant": "sealing"})).json()["id"]
        assert await unseal(database, key, turn) == first
        interaction = await pause(database, turn)
        answers = [{"question_id": "level", "skip": True}, {"question_id": "goal", "skip": True}]
        async with connect(address, second) as client:
            await client.post(f"/interactions/{interaction}/response", json={"answers": answers})
        assert await unseal(database, key, turn) == second


async def unseal(database: TenantDatabase, key: str, turn: str) -> str | None:
    """The token that a turn's row holds."""
    async with database.transaction() as connection:
        row = await (await connection.execute("select * from turns where id = %s", (turn,))).fetchone()
    assert row is not None
    return await ContextSealer(key).unseal(
        bytes(row["sealed_context"]),
        row["sealed_expires_at"],
        tenant_id=database.tenant_id,
        turn_id=row["id"],
        now=datetime.now(UTC),
    )
