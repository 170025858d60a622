"""Turns over HTTP: accepted, waited for, repeated, queued, cancelled, answered."""

import asyncio
import base64
from uuid import UUID, uuid4

import httpx2

from oria_runtime.db.pool import TenantDatabase
from oria_runtime.sandbox import Sandbox
from tests.integration.http.conftest import BASE_URL, RecordingBus, connect, join_apps, serve
from tests.integration.http.issuer import Issuer
from tests.integration.http.worker import QUESTIONS, block, complete, fail, pause

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(32)).decode()


async def begin(client: httpx2.AsyncClient, **body: object) -> str:
    """A conversation's id."""
    answer = await client.post("/conversations", json={"assistant": "oria", **body})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


async def say(client: httpx2.AsyncClient, conversation: str, message: str = "Hello", **body: object) -> httpx2.Response:
    return await client.post(f"/conversations/{conversation}/turns", json={"message": message, **body})


async def test_message_is_accepted_with_the_turns_address(ada: httpx2.AsyncClient, bus: RecordingBus) -> None:
    conversation = await begin(ada)
    answer = await say(ada, conversation, agent="training_finder", locale="fr")
    turn = answer.json()
    assert answer.status_code == 202
    # The stage of API Gateway is part of it (CASES 44).
    assert answer.headers["location"] == f"{BASE_URL}/v1/turns/{turn['id']}"
    assert {key: turn[key] for key in ("conversation_id", "assistant", "status", "stage", "locale", "outcome")} == {
        "conversation_id": conversation,
        "assistant": "oria",
        "status": "accepted",
        "stage": "gate",
        "locale": "fr",
        "outcome": None,
    }
    assert [(event.detail_type, event.detail["stage"]) for event in bus.events] == [("turn.stage", "gate")]
    assert "Hello" not in str(bus.events)
    again = (await ada.get(f"/turns/{turn['id']}")).json()
    assert again == turn


async def test_waiting_gives_the_outcome_when_it_comes_in_time(
    ada: httpx2.AsyncClient, database: TenantDatabase
) -> None:
    conversation = await begin(ada)

    async def finish() -> None:
        while not (active := (await ada.get(f"/conversations/{conversation}")).json()["active_turn_id"]):
            await asyncio.sleep(0.02)
        await complete(database, active, "Bonjour")

    finishing = asyncio.create_task(finish())
    answer = await ada.post(
        f"/conversations/{conversation}/turns", json={"message": "Hello"}, headers={"Prefer": "respond-async, wait=10"}
    )
    await finishing
    assert answer.status_code == 200
    assert answer.headers["preference-applied"] == "wait=10"
    assert answer.headers["content-location"] == f"{BASE_URL}/v1/turns/{answer.json()['id']}"
    assert answer.json()["outcome"] == {
        "type": "message",
        "text": "Bonjour",
        "decision": None,
        "cards": [],
        "sources": [],
        "interaction": None,
        "error": None,
    }


async def test_waiting_in_vain_gives_202(ada: httpx2.AsyncClient) -> None:
    conversation = await begin(ada)
    answer = await ada.post(
        f"/conversations/{conversation}/turns", json={"message": "Hello"}, headers={"Prefer": "wait=1"}
    )
    assert (answer.status_code, answer.json()["status"]) == (202, "accepted")
    assert "location" in answer.headers
    assert answer.headers["preference-applied"] == "wait=1"


async def test_waiting_ends_before_the_gateway_cuts(sandbox: Sandbox, issuer: Issuer, tenant: UUID) -> None:
    app = join_apps(sandbox, request_seconds=2.0)
    async with serve(app) as address, connect(address, issuer.token(tenant)) as client:
        answer = await client.post("/chat", json={"message": "Hi"}, headers={"Prefer": "wait=25"})
    assert (answer.status_code, answer.json()["status"]) == (202, "accepted")


async def test_preferences_nobody_knows_are_ignored(ada: httpx2.AsyncClient) -> None:
    answer = await ada.post("/chat", json={"message": "Hi"}, headers={"Prefer": "wait=soon, handling=lenient"})
    assert answer.status_code == 202
    assert "preference-applied" not in answer.headers


async def test_chat_opens_a_conversation_and_goes_on_with_it(ada: httpx2.AsyncClient, database: TenantDatabase) -> None:
    first = (await ada.post("/chat", json={"message": "Bonjour, je voudrais apprendre à coder"})).json()
    assert (first["assistant"], first["locale"]) == ("oria", "fr")
    await complete(database, first["id"])
    second = await ada.post("/chat", json={"message": "ok", "conversation_id": first["conversation_id"]})
    assert second.json()["conversation_id"] == first["conversation_id"]
    # Too short to tell: the language of the conversation's previous turn.
    assert second.json()["locale"] == "fr"
    messages = (await ada.get(f"/conversations/{first['conversation_id']}/messages")).json()["items"]
    assert [(message["role"], message["text"]) for message in messages] == [
        ("user", "Bonjour, je voudrais apprendre à coder"),
        ("assistant", "Done."),
        ("user", "ok"),
    ]


async def test_repeated_key_gives_the_same_turn_and_no_second_conversation(
    ada: httpx2.AsyncClient, bus: RecordingBus
) -> None:
    headers = {"Idempotency-Key": "one"}
    answers = await asyncio.gather(*(ada.post("/chat", json={"message": "Hi"}, headers=headers) for _ in range(4)))
    defaults = await ada.post("/chat", json={"message": "Hi", "interactions": True}, headers=headers)
    assert {answer.status_code for answer in (*answers, defaults)} == {202}
    assert len({answer.json()["id"] for answer in (*answers, defaults)}) == 1
    assert len((await ada.get("/conversations")).json()["items"]) == 1
    assert len(bus.events) == 1


async def test_key_of_another_request_is_refused(ada: httpx2.AsyncClient) -> None:
    headers = {"Idempotency-Key": "one"}
    await ada.post("/chat", json={"message": "Hi"}, headers=headers)
    for body in ({"message": "Other"}, {"message": "Hi", "locale": "fr"}):
        assert (await ada.post("/chat", json=body, headers=headers)).status_code == 422


async def test_key_is_bound_to_its_conversation(ada: httpx2.AsyncClient) -> None:
    first, second = await begin(ada), await begin(ada)
    headers = {"Idempotency-Key": "one"}
    assert (await ada.post(f"/conversations/{first}/turns", json={"message": "Hi"}, headers=headers)).status_code == 202
    assert (
        await ada.post(f"/conversations/{second}/turns", json={"message": "Hi"}, headers=headers)
    ).status_code == 422


async def test_malformed_key_is_refused(ada: httpx2.AsyncClient) -> None:
    for key in ("", "a" * 256, "tab\tinside", "é"):
        answer = await ada.post("/chat", json={"message": "Hi"}, headers=[(b"Idempotency-Key", key.encode())])
        assert answer.status_code == 400
        assert answer.json()["errors"][0]["pointer"] == "/header/Idempotency-Key"


async def test_second_message_names_the_turn_in_the_way(ada: httpx2.AsyncClient, database: TenantDatabase) -> None:
    conversation = await begin(ada)
    turn = (await say(ada, conversation)).json()["id"]
    answer = await say(ada, conversation, "And?")
    assert (answer.status_code, answer.json()["blocking"]) == (409, {"turn_id": turn})
    interaction = await pause(database, turn)
    answer = await say(ada, conversation, "And?", on_conflict="enqueue")
    assert answer.json()["blocking"] == {"turn_id": turn, "interaction_id": interaction}


async def test_message_may_wait_or_interrupt(ada: httpx2.AsyncClient) -> None:
    conversation = await begin(ada)
    first = (await say(ada, conversation)).json()["id"]
    queued = await say(ada, conversation, "Later", on_conflict="enqueue")
    assert (queued.status_code, queued.json()["status"]) == (202, "queued")
    await say(ada, conversation, "Now", on_conflict="interrupt")
    assert (await ada.get(f"/turns/{first}")).json()["status"] == "cancelled"


async def test_cancel_ends_the_turn_once(ada: httpx2.AsyncClient) -> None:
    conversation = await begin(ada)
    turn = (await say(ada, conversation)).json()["id"]
    cancelled = await ada.post(f"/turns/{turn}/cancel")
    assert (cancelled.status_code, cancelled.json()["outcome"]["type"]) == (200, "cancellation")
    assert (await ada.post(f"/turns/{turn}/cancel")).json() == cancelled.json()


async def test_outcomes_of_every_kind_have_their_shape(ada: httpx2.AsyncClient, database: TenantDatabase) -> None:
    outcomes = []
    for end in (block, fail):
        turn = (await ada.post("/chat", json={"message": "Hi"})).json()["id"]
        await end(database, turn)
        outcomes.append((await ada.get(f"/turns/{turn}")).json())
    blocked, failed = outcomes
    assert (blocked["status"], blocked["outcome"]["type"], blocked["outcome"]["decision"]) == (
        "blocked",
        "boundary",
        "block",
    )
    assert (failed["status"], failed["outcome"]["error"]) == ("failed", {"code": "deadline", "retryable": True})


async def test_questions_are_answered_all_at_once(ada: httpx2.AsyncClient, database: TenantDatabase) -> None:
    turn = (await ada.post("/chat", json={"message": "Plan"})).json()
    interaction = await pause(database, turn["id"])
    paused = (await ada.get(f"/turns/{turn['id']}")).json()
    assert paused["status"] == "awaiting_input"
    assert paused["outcome"]["interaction"]["questions"] == [question.as_json() for question in QUESTIONS]
    answers = [{"question_id": "level", "option_ids": ["beginner"]}, {"question_id": "goal", "text": "Python"}]
    answer = await ada.post(f"/interactions/{interaction}/response", json={"answers": answers})
    assert (answer.status_code, answer.json()["id"], answer.json()["status"]) == (202, turn["id"], "accepted")
    assert answer.headers["location"].endswith(f"/v1/turns/{turn['id']}")
    again = await ada.post(f"/interactions/{interaction}/response", json={"answers": answers})
    assert (again.status_code, again.json()["blocking"]) == (409, {"turn_id": turn["id"]})


async def test_cancelling_the_questions_ends_the_turn(ada: httpx2.AsyncClient, database: TenantDatabase) -> None:
    turn = (await ada.post("/chat", json={"message": "Plan"})).json()
    interaction = await pause(database, turn["id"])
    answer = await ada.post(f"/interactions/{interaction}/response", json={"cancel": True})
    assert (answer.status_code, answer.json()["status"]) == (200, "cancelled")


WRONG_RESPONSES: dict[str, tuple[object, str]] = {
    "nothing": ({}, ""),
    "both": ({"answers": [{"question_id": "goal", "skip": True}], "cancel": True}, ""),
    "not cancelled": ({"cancel": False}, "/cancel"),
    "no answers": ({"answers": []}, "/answers"),
    "one missing": ({"answers": [{"question_id": "goal", "skip": True}]}, "/answers"),
    "unknown question": ({"answers": [{"question_id": "x", "skip": True}]}, "/answers/0/question_id"),
    "two kinds": ({"answers": [{"question_id": "goal", "text": "a", "skip": True}]}, "/answers/0"),
    "no kind": ({"answers": [{"question_id": "goal"}]}, "/answers/0"),
    "unknown field": ({"answers": [{"question_id": "goal", "skip": True, "x": 1}]}, "/answers/0/x"),
    "wrong type": ({"answers": [{"question_id": 7, "skip": True}]}, "/answers/0/question_id"),
}


async def test_wrong_response_leaves_the_pause_untouched(ada: httpx2.AsyncClient, database: TenantDatabase) -> None:
    turn = (await ada.post("/chat", json={"message": "Plan"})).json()["id"]
    interaction = await pause(database, turn)
    found = {}
    for name, (body, _) in WRONG_RESPONSES.items():
        answer = await ada.post(f"/interactions/{interaction}/response", json=body)
        found[name] = (answer.status_code, answer.json()["errors"][0]["pointer"])
    assert found == {name: (422, pointer) for name, (_, pointer) in WRONG_RESPONSES.items()}
    assert (await ada.get(f"/turns/{turn}")).json()["status"] == "awaiting_input"


async def test_what_only_the_graph_understands_is_stored(ada: httpx2.AsyncClient, database: TenantDatabase) -> None:
    body = {"message": "Look", "image": PNG, "confirmation": False, "attachments": ["cv.txt"], "interactions": False}
    conversation = (await ada.post("/conversations", json={"assistant": "oria"})).json()["id"]
    await ada.put(f"/conversations/{conversation}/documents/cv.txt", content=b"Hello")
    turn = UUID((await ada.post("/chat", json=body | {"conversation_id": conversation})).json()["id"])
    async with database.transaction() as connection:
        cursor = await connection.execute("select request, interactions from turns where id = %s", (turn,))
        row = await cursor.fetchone()
    assert row is not None
    assert row["request"] == {
        "attachments": ["cv.txt"],
        "confirmation": False,
        "image": f"data:image/png;base64,{PNG}",
    }
    assert row["interactions"] is False


WRONG_TURNS: dict[str, tuple[dict[str, object], str]] = {
    "blank": ({"message": " \n"}, "/message"),
    "empty": ({"message": ""}, "/message"),
    "too long": ({"message": "a" * 32_001}, "/message"),
    "a megabyte": ({"message": "a" * 1_000_000}, "/message"),
    "a number": ({"message": 5}, "/message"),
    "missing": ({}, "/message"),
    "unknown field": ({"message": "a", "agents": "x"}, "/agents"),
    "unknown agent": ({"message": "a", "agent": "talent_finder"}, "/agent"),
    "malformed locale": ({"message": "a", "locale": "français"}, "/locale"),
    "unknown assistant": ({"message": "a", "assistant": "nobody"}, "/assistant"),
    "string for a boolean": ({"message": "a", "interactions": "true"}, "/interactions"),
    "unknown conflict": ({"message": "a", "on_conflict": "panic"}, "/on_conflict"),
    "too many attachments": ({"message": "a", "attachments": ["x"] * 11}, "/attachments"),
    "image that is none": ({"message": "a", "image": base64.b64encode(b"text").decode()}, "/image"),
    "image that is no base64": ({"message": "a", "image": "***"}, "/image"),
    "NUL": ({"message": "a\x00b"}, "/message"),
    "NUL deep inside": ({"message": "a", "attachments": ["ok", "a\x00"]}, "/attachments/1"),
}


async def test_wrong_message_is_refused_with_its_place(ada: httpx2.AsyncClient) -> None:
    found = {}
    for name, (body, _) in WRONG_TURNS.items():
        answer = await ada.post("/chat", json=body)
        assert answer.headers["content-type"] == "application/problem+json"
        found[name] = (answer.status_code, [error["pointer"] for error in answer.json()["errors"]])
    assert found == {name: (422, [pointer]) for name, (_, pointer) in WRONG_TURNS.items()}
    assert (await ada.get("/conversations")).json()["items"] == []


async def test_assistant_of_an_existing_conversation_is_fixed(ada: httpx2.AsyncClient) -> None:
    body = {"message": "a", "assistant": "oria", "conversation_id": await begin(ada)}
    assert (await ada.post("/chat", json=body)).status_code == 422


async def test_conversation_that_is_not_there_is_a_404(ada: httpx2.AsyncClient) -> None:
    for conversation in (str(uuid4()), "nonsense", ""):
        assert (await ada.post("/chat", json={"message": "a", "conversation_id": conversation})).status_code == 404
