"""Health says which part fails, quickly, without secrets, to anybody."""

import time

import boto3
import httpx2
import psycopg
import pytest

from oria_runtime.sandbox import Sandbox
from tests.integration.http.conftest import connect, join_apps, serve
from tests.support.database import DatabaseUrls, execute

OK = {"database": "ok", "schema": "ok", "bus": "ok"}


@pytest.fixture
def event_bus(aws: str) -> str:
    """A bus of the default name."""
    client = boto3.client("events")
    names = {bus["Name"] for bus in client.list_event_buses()["EventBuses"]}
    if "oria" not in names:
        client.create_event_bus(Name="oria")
    return aws


async def ask(sandbox: Sandbox) -> httpx2.Response:
    async with serve(join_apps(sandbox)) as address, connect(address, None) as client:
        return await client.get("/health")


async def test_all_is_well_without_a_token(event_bus: str, sandbox: Sandbox) -> None:
    answer = await ask(sandbox)
    assert (answer.status_code, answer.json()) == (200, {"status": "ok", "checks": OK})


async def test_missing_bus_is_named(aws: str, environ: dict[str, str], sandbox: Sandbox) -> None:
    environ["EVENT_BUS_NAME"] = "nowhere"
    answer = await ask(sandbox)
    assert (answer.status_code, answer.json()["checks"]) == (503, OK | {"bus": "failing"})
    assert "retry-after" in answer.headers


async def test_bus_that_is_away_is_named(event_bus: str, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    assert (await ask(sandbox)).json()["checks"] == OK | {"bus": "failing"}


async def test_outdated_schema_is_named(event_bus: str, sandbox: Sandbox, database_urls: DatabaseUrls) -> None:
    execute(database_urls.owner, "update oria.alembic_version set version_num = '0000'")
    assert (await ask(sandbox)).json()["checks"] == OK | {"schema": "failing"}


async def test_database_that_is_away_is_named_in_time(
    event_bus: str, sandbox: Sandbox, database_urls: DatabaseUrls
) -> None:
    name = psycopg.conninfo.conninfo_to_dict(database_urls.owner)["dbname"]
    elsewhere = psycopg.conninfo.make_conninfo(database_urls.owner, dbname="postgres")
    execute(elsewhere, f"alter database {name} allow_connections false")
    started = time.monotonic()
    answer = await ask(sandbox)
    seconds = time.monotonic() - started
    execute(elsewhere, f"alter database {name} allow_connections true")
    assert (answer.status_code, answer.json()["checks"]) == (
        503,
        {"database": "failing", "schema": "failing", "bus": "ok"},
    )
    assert seconds < 4
    assert "oria_app" not in answer.text


async def test_a_database_that_is_ahead_of_rolled_back_code_is_fine(
    event_bus: str, sandbox: Sandbox, database_urls: DatabaseUrls
) -> None:
    execute(database_urls.owner, "update oria.alembic_version set version_num = '9999'")
    assert (await ask(sandbox)).json()["checks"] == OK
