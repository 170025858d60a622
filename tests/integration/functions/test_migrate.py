"""The migration as CloudFormation asks for it: a real database, and a real HTTP server at the response URL."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import psycopg
import pytest

from functions.migrate import app
from functions.migrate.custom_resource import answer
from oria_runtime.db.versions import expected_versions
from oria_runtime.sandbox import get_sandbox
from tests.support.database import DatabaseUrls
from tests.support.events import load_event


@dataclass
class ResponseServer:
    """S3's side of the response URL: records the answers; refuses the first `failures` of them."""

    url: str = ""
    failures: int = 0
    answers: list[dict[str, Any]] = field(default_factory=list)
    content_types: list[str | None] = field(default_factory=list)


class _Handler(BaseHTTPRequestHandler):
    def __init__(self, server: ResponseServer, *arguments: Any) -> None:
        self.recorded = server
        super().__init__(*arguments)

    def do_PUT(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.recorded.failures:
            self.recorded.failures -= 1
            self.send_response(503)
        else:
            self.recorded.answers.append(json.loads(body))
            self.recorded.content_types.append(self.headers["Content-Type"])
            self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def responses() -> Iterator[ResponseServer]:
    recorded = ResponseServer()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, recorded))
    thread = Thread(target=server.serve_forever)
    thread.start()
    recorded.url = f"http://127.0.0.1:{server.server_port}/response"
    yield recorded
    server.shutdown()
    thread.join()
    server.server_close()


@dataclass(frozen=True)
class Context:
    """What the handler reads of Lambda's context."""

    aws_request_id: str = "c2a1b7de-3f5a-4e66-9b1d-5d0f7a8e6c03"
    function_name: str = "oria-migrate"
    function_version: str = "$LATEST"
    memory_limit_in_mb: int = 512
    invoked_function_arn: str = "arn:aws:lambda:eu-west-1:123456789012:function:oria-migrate"
    log_stream_name: str = "2026/11/30/[$LATEST]0"


@pytest.fixture
def environ(monkeypatch: pytest.MonkeyPatch, database_urls: DatabaseUrls) -> Iterator[None]:
    """The variables of the function; its sandbox is made anew, as in a new process."""
    monkeypatch.setenv("DATABASE_URL", database_urls.app)
    monkeypatch.setenv("MIGRATION_DATABASE_URL", database_urls.owner)
    monkeypatch.setenv("POWERTOOLS_TRACE_DISABLED", "true")
    get_sandbox.cache_clear()
    yield
    get_sandbox().loop.close()
    get_sandbox.cache_clear()


@pytest.mark.parametrize("case", ["create", "update"])
def test_create_and_update_migrate_and_say_which_schema_is_there(
    responses: ResponseServer, environ: None, case: str
) -> None:
    app.handler(load_event(f"migrate/{case}", response_url=responses.url), Context())
    (told,) = responses.answers
    assert told["Status"] == "SUCCESS"
    assert told["Data"] == {"SchemaVersion": expected_versions()["schema"]}
    assert (told["LogicalResourceId"], told["PhysicalResourceId"]) == ("Migration", "oria-migration")


def test_answers_have_the_content_type_that_the_address_is_signed_for(responses: ResponseServer, environ: None) -> None:
    app.handler(load_event("migrate/create", response_url=responses.url), Context())
    assert responses.content_types == [""]


def test_a_rolled_back_release_leaves_the_newer_schema(
    responses: ResponseServer, environ: None, database_urls: DatabaseUrls
) -> None:
    """Otherwise CloudFormation's rollback would fail too, and the stack would be stuck."""
    with psycopg.connect(database_urls.owner) as connection:
        connection.execute("update oria.alembic_version set version_num = '9999'")
    app.handler(load_event("migrate/update", response_url=responses.url), Context())
    assert responses.answers[0]["Status"] == "SUCCESS"
    assert responses.answers[0]["Data"] == {"SchemaVersion": "9999"}


def test_delete_answers_and_keeps_the_data(
    responses: ResponseServer, environ: None, database_urls: DatabaseUrls
) -> None:
    app.handler(load_event("migrate/delete", response_url=responses.url), Context())
    assert responses.answers[0]["Status"] == "SUCCESS"
    with psycopg.connect(database_urls.owner) as connection:
        assert connection.execute("select count(*) from oria.turns").fetchone() == (0,)


def test_a_failure_is_answered_without_its_text_and_raised(responses: ResponseServer) -> None:
    def fail(_: Mapping[str, Any]) -> dict[str, str]:
        raise ConnectionError("postgresql://owner:secret@host/oria")

    with pytest.raises(ConnectionError):
        answer(load_event("migrate/create", response_url=responses.url), "stream-1", fail)
    (told,) = responses.answers
    assert told["Status"] == "FAILED"
    assert told["Reason"] == "ConnectionError: see log stream stream-1"
    assert "secret" not in json.dumps(told)


def test_an_unanswered_response_is_sent_again(responses: ResponseServer) -> None:
    responses.failures = 1
    answer(load_event("migrate/create", response_url=responses.url), "stream-1", lambda _: {})
    assert [told["Status"] for told in responses.answers] == ["SUCCESS"]


def test_the_application_role_gets_the_password_of_its_url() -> None:
    assert app.read_password("postgresql://oria_app:s3cret@host/oria", "oria_app") == "s3cret"
    assert app.read_password("postgresql://other:s3cret@host/oria", "oria_app") is None
    assert app.read_password("postgresql://oria_app@host/oria", "oria_app") is None
