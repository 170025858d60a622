"""Conditional requests, with servers that know them and servers that pretend."""

import pytest

from oria_runtime.knowledge.fetching.policy import Validators
from tests.integration.knowledge.fetching.conftest import OpenReader
from tests.support.hostile_server import ETAG, LAST_MODIFIED, HostileServer, answer, head


async def test_validators_come_and_go_byte_for_byte(server: HostileServer, open_reader: OpenReader) -> None:
    reader = open_reader()
    first = await reader.read("/etag/honest")
    assert not first.not_modified
    second = await reader.read("/etag/honest", validators=first.validators)
    sent = server.requests[1].headers
    assert (sent["if-none-match"], sent["if-modified-since"]) == (ETAG, LAST_MODIFIED)
    assert "if-none-match" not in server.requests[0].headers
    assert second.not_modified
    assert (second.body, second.body_hash, second.validators) == (b"", "", first.validators)


async def test_unchanged_answers_keep_the_connection(server: HostileServer, open_reader: OpenReader) -> None:
    reader = open_reader()
    validators = (await reader.read("/etag/honest")).validators
    for _ in range(5):
        assert (await reader.read("/etag/honest", validators=validators)).not_modified
    assert (len(server.requests), server.connections) == (6, 1)


async def test_a_200_with_the_tag_that_was_sent_is_unchanged(open_reader: OpenReader) -> None:
    reader = open_reader()
    first = await reader.read("/etag/ignored")
    assert (first.validators.etag or "").startswith("W/")
    assert (await reader.read("/etag/ignored", validators=first.validators)).not_modified
    strong = Validators((first.validators.etag or "").removeprefix("W/"))
    assert (await reader.read("/etag/ignored", validators=strong)).not_modified


async def test_another_tag_is_a_new_version(open_reader: OpenReader) -> None:
    fetched = await open_reader().read("/etag/honest", validators=Validators('"old"', LAST_MODIFIED.decode()))
    assert not fetched.not_modified
    assert fetched.body


async def test_a_304_that_leaves_validators_out_keeps_those_that_were_sent(
    server: HostileServer, open_reader: OpenReader
) -> None:
    server.put("/bare", head("304 Not Modified"))
    sent = Validators('"a"', "Sat, 29 Nov 2025 08:09:10 GMT")
    fetched = await open_reader().read("/bare", validators=sent)
    assert (fetched.not_modified, fetched.validators) == (True, sent)


async def test_the_date_alone_is_enough(server: HostileServer, open_reader: OpenReader) -> None:
    server.put("/bare", head("304 Not Modified"))
    assert (await open_reader().read("/bare", validators=Validators(last_modified="yesterday"))).not_modified
    assert server.requests[0].headers["if-modified-since"] == b"yesterday"


@pytest.mark.parametrize("etag", ["unquoted", '"half'])
async def test_what_is_no_entity_tag_proves_nothing(server: HostileServer, open_reader: OpenReader, etag: str) -> None:
    server.put("/odd", answer(b"new", ("ETag", etag), kind="text/plain"))
    assert (await open_reader().read("/odd", validators=Validators(etag))).body == b"new"
    assert server.requests[0].headers["if-none-match"] == etag.encode()
