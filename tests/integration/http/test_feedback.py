"""Feedback on answers: given, changed, withdrawn, given again; whose it is and what it names."""

import asyncio
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from oria_runtime.db.pool import TenantDatabase
from oria_runtime.turns.feedback import GIVE_SQL, READ_MESSAGE_SQL
from tests.integration.http.worker import complete

# Not pg_stat_activity, which stays as it was when the transaction first asked.
WAITING_SQL = "select from pg_locks where not granted"
Message = dict[str, Any]


@pytest.fixture
async def transcript(ada: httpx2.AsyncClient, database: TenantDatabase) -> list[Message]:
    """Her question and the answer to it."""
    turn = (await ada.post("/chat", json={"message": "Hello"})).json()
    await complete(database, turn["id"], "Hello, Ada.")
    return await read(ada, turn["conversation_id"])


async def read(client: httpx2.AsyncClient, conversation_id: str) -> list[Message]:
    found: list[Message] = (await client.get(f"/conversations/{conversation_id}/messages")).json()["items"]
    return found


async def read_status(database: TenantDatabase, message_id: str) -> dict[str, Any] | None:
    async with database.transaction() as connection:
        cursor = await connection.execute(
            "select status, rating, comment from feedback where message_id = %s", (message_id,)
        )
        return await cursor.fetchone()


async def test_feedback_is_given_changed_withdrawn_and_given_again(
    ada: httpx2.AsyncClient, transcript: list[Message], database: TenantDatabase
) -> None:
    answer = transcript[1]
    path = f"/messages/{answer['id']}/feedback"
    given = (await ada.put(path, json={"rating": "up"})).json()
    assert (given["status"], given["rating"], given["comment"]) == ("given", "up", None)
    assert given["turn_id"] == answer["turn_id"]
    assert given["trace_id"] == answer["turn_id"].replace("-", "")
    assert (await ada.put(path, json={"rating": "up"})).json() == given, "the same again changes nothing"
    changed = (await ada.put(path, json={"rating": "down", "comment": "Not my job."})).json()
    assert (changed["status"], changed["comment"]) == ("changed", "Not my job.")
    assert [(await ada.delete(path)).status_code for _ in range(2)] == [204, 204]
    assert await read_status(database, answer["id"]) == {"status": "withdrawn", "rating": None, "comment": None}
    again = (await ada.put(path, json={"rating": "down"})).json()
    assert (again["status"], again["created_at"]) == ("given", given["created_at"])


async def test_the_transcript_shows_ones_own_feedback(ada: httpx2.AsyncClient, transcript: list[Message]) -> None:
    question, answer = transcript
    assert (question["feedback"], answer["feedback"]) == (None, None)
    path = f"/messages/{answer['id']}/feedback"
    await ada.put(path, json={"rating": "down", "comment": "Too long"})
    conversation = (await ada.get("/conversations")).json()["items"][0]["id"]
    assert [message["feedback"] for message in await read(ada, conversation)] == [
        None,
        {"rating": "down", "comment": "Too long"},
    ]
    await ada.delete(path)
    assert (await read(ada, conversation))[1]["feedback"] is None


async def test_withdrawing_what_was_not_given_is_no_error(
    ada: httpx2.AsyncClient, transcript: list[Message], database: TenantDatabase
) -> None:
    assert (await ada.delete(f"/messages/{transcript[1]['id']}/feedback")).status_code == 204
    assert await read_status(database, transcript[1]["id"]) is None


async def test_only_answers_take_feedback_and_only_their_readers(
    ada: httpx2.AsyncClient, bob: httpx2.AsyncClient, namesake: httpx2.AsyncClient, transcript: list[Message]
) -> None:
    question, answer = transcript
    assert (await ada.put(f"/messages/{question['id']}/feedback", json={"rating": "up"})).status_code == 422
    for client, message in ((bob, answer["id"]), (namesake, answer["id"]), (ada, uuid4()), (ada, "nonsense")):
        path = f"/messages/{message}/feedback"
        assert (await client.put(path, json={"rating": "up"})).status_code == 404
        assert (await client.delete(path)).status_code == 404


@pytest.mark.parametrize(
    "body", [{}, {"rating": "great"}, {"rating": "up", "comment": " "}, {"rating": "up", "comment": "x" * 2_001}]
)
async def test_what_is_no_feedback_is_refused(
    ada: httpx2.AsyncClient, transcript: list[Message], body: dict[str, Any]
) -> None:
    assert (await ada.put(f"/messages/{transcript[1]['id']}/feedback", json=body)).status_code == 422


async def test_metrics_have_no_texts_and_count_changes_only(
    ada: httpx2.AsyncClient, transcript: list[Message], capsys: pytest.CaptureFixture[str]
) -> None:
    path = f"/messages/{transcript[1]['id']}/feedback"
    for _ in range(2):
        await ada.put(path, json={"rating": "down", "comment": "Something private"})
    await ada.delete(path)
    written = capsys.readouterr().out
    assert written.count('"feedback"') == 4, "the name in the definition and the value, for each of two changes"
    assert '"withdrawn"' in written
    assert "private" not in written


async def test_feedback_goes_with_its_conversation(
    ada: httpx2.AsyncClient, transcript: list[Message], database: TenantDatabase
) -> None:
    await ada.put(f"/messages/{transcript[1]['id']}/feedback", json={"rating": "up"})
    conversation = (await ada.get("/conversations")).json()["items"][0]["id"]
    await ada.delete(f"/conversations/{conversation}")
    assert await read_status(database, transcript[1]["id"]) is None


async def test_feedback_and_the_deletion_of_its_conversation_wait_for_each_other(
    ada: httpx2.AsyncClient, transcript: list[Message], database: TenantDatabase
) -> None:
    answer = transcript[1]
    conversation = (await ada.get("/conversations")).json()["items"][0]["id"]
    arguments = {"message": answer["id"], "tenant": database.tenant_id, "user": "ada"}
    given = {"turn": answer["turn_id"], "trace": "t", "rating": "up", "comment": None}
    async with database.transaction() as connection:
        assert await (await connection.execute(READ_MESSAGE_SQL, arguments)).fetchone() is not None
        deleting = asyncio.create_task(ada.delete(f"/conversations/{conversation}"))
        while await (await connection.execute(WAITING_SQL)).fetchone() is None:
            await asyncio.sleep(0.02)
        await connection.execute(GIVE_SQL, arguments | given)
    assert (await deleting).status_code == 204
    assert (await ada.put(f"/messages/{answer['id']}/feedback", json={"rating": "up"})).status_code == 404
