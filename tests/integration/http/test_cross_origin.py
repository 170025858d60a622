"""Web clients of other origins: only those that the deployment names."""

import httpx2
import pytest

from oria_runtime.http.app import create_app
from oria_runtime.sandbox import Sandbox
from tests.integration.http.conftest import serve

PREFLIGHT = {
    "Access-Control-Request-Method": "POST",
    "Access-Control-Request-Headers": "authorization,content-type,idempotency-key",
}


@pytest.mark.parametrize(("origin", "allowed"), [("https://app.example.test", True), ("https://evil.test", False)])
async def test_a_preflight_is_answered_for_named_origins_only(
    environ: dict[str, str], origin: str, allowed: bool
) -> None:
    sandbox = Sandbox(environ | {"CORS_ORIGINS": "https://app.example.test, https://other.test"}, registry={})
    async with serve(create_app(sandbox)) as address, httpx2.AsyncClient() as client:
        answer = await client.options(f"{address}/v1/conversations", headers=PREFLIGHT | {"Origin": origin})
    assert answer.headers.get("access-control-allow-origin") == (origin if allowed else None)
    assert "access-control-allow-credentials" not in answer.headers


async def test_without_origins_nothing_is_allowed(environ: dict[str, str]) -> None:
    async with serve(create_app(Sandbox(environ, registry={}))) as address, httpx2.AsyncClient() as client:
        answer = await client.options(f"{address}/v1/conversations", headers=PREFLIGHT | {"Origin": "https://a.test"})
    assert "access-control-allow-origin" not in answer.headers
