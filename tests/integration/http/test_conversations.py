"""Conversations, transcripts, assistants and preferences over HTTP."""

import httpx2

from oria_runtime.db.pool import Pool, TenantDatabase
from tests.integration.http.conftest import BASE_URL, connect
from tests.integration.http.issuer import Issuer
from tests.integration.http.worker import complete, pause
from tests.support.database import create_tenant


async def test_conversation_is_created_where_its_address_says(ada: httpx2.AsyncClient) -> None:
    answer = await ada.post("/conversations", json={"assistant": "oria", "locale": "fr-CA"})
    conversation = answer.json()
    assert answer.status_code == 201
    assert answer.headers["location"] == f"{BASE_URL}/v1/conversations/{conversation['id']}"
    assert (conversation["assistant"], conversation["locale"], conversation["active_turn_id"]) == ("oria", "fr", None)
    assert (await ada.get(f"/conversations/{conversation['id']}")).json() == conversation


async def test_conversations_locale_is_that_of_its_turns(ada: httpx2.AsyncClient) -> None:
    conversation = (await ada.post("/conversations", json={"assistant": "oria", "locale": "es"})).json()["id"]
    turn = await ada.post(f"/conversations/{conversation}/turns", json={"message": "Bonjour, je voudrais apprendre"})
    assert turn.json()["locale"] == "es"


async def test_unknown_assistant_is_refused_with_its_place(ada: httpx2.AsyncClient) -> None:
    answer = await ada.post("/conversations", json={"assistant": "nobody"})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/assistant")


async def test_pages_cover_the_list_exactly_once(ada: httpx2.AsyncClient, bob: httpx2.AsyncClient) -> None:
    await bob.post("/conversations", json={"assistant": "oria"})
    created = [(await ada.post("/conversations", json={"assistant": "oria"})).json()["id"] for _ in range(7)]
    seen: list[str] = []
    cursor = ""
    while True:
        page = (await ada.get(f"/conversations?limit=3{cursor}")).json()
        seen += [item["id"] for item in page["items"]]
        if page["next_cursor"] is None:
            break
        cursor = f"&before={page['next_cursor']}"
    assert seen == created[::-1]


async def test_transcript_is_read_in_pages(ada: httpx2.AsyncClient, database: TenantDatabase) -> None:
    conversation = (await ada.post("/conversations", json={"assistant": "oria"})).json()["id"]
    for number in range(3):
        turn = await ada.post(f"/conversations/{conversation}/turns", json={"message": f"Question {number}"})
        await complete(database, turn.json()["id"], f"Answer {number}")
    first = (await ada.get(f"/conversations/{conversation}/messages?limit=4")).json()
    rest = (await ada.get(f"/conversations/{conversation}/messages?limit=4&after={first['next_cursor']}")).json()
    texts = [message["text"] for message in first["items"] + rest["items"]]
    assert texts == [text for number in range(3) for text in (f"Question {number}", f"Answer {number}")]
    assert rest["next_cursor"] is None
    assert first["items"][0].keys() >= {"id", "role", "text", "cards", "turn_id", "at"}


async def test_deleted_conversation_takes_everything_with_it(ada: httpx2.AsyncClient) -> None:
    turn = (await ada.post("/chat", json={"message": "Hello"})).json()
    path = f"/conversations/{turn['conversation_id']}"
    deleted = await ada.delete(path)
    assert (deleted.status_code, deleted.content) == (204, b"")
    gone = [path, f"{path}/messages", f"/turns/{turn['id']}", f"/turns/{turn['id']}/events"]
    assert [(await ada.get(each)).status_code for each in gone] == [404] * 4
    assert (await ada.delete(path)).status_code == 404


async def test_assistants_are_those_of_the_tenants_configuration(
    ada: httpx2.AsyncClient, address: str, issuer: Issuer, pool: Pool
) -> None:
    config = '{"chatbot": {"agents": {"career_chat": {}, "training_finder": {"active": false}}}}'
    narrow = await create_tenant(pool, "narrow", config)
    everything = (await ada.get("/assistants")).json()["items"]
    assert [agent["id"] for agent in everything[0]["agents"]] == ["career_chat", "training_finder"]
    async with connect(address, issuer.token(narrow)) as client:
        listed = (await client.get("/assistants")).json()["items"]
        assert [agent["id"] for agent in listed[0]["agents"]] == ["career_chat"]
        refused = await client.post("/chat", json={"message": "a", "agent": "training_finder"})
        assert refused.status_code == 422


async def test_preferences_are_read_replaced_and_forgotten(ada: httpx2.AsyncClient, bob: httpx2.AsyncClient) -> None:
    assert (await ada.get("/preferences")).json() == {"items": [], "version": 0}
    written = await ada.put("/preferences", json={"items": ["I like maps"]})
    assert written.json() == {"items": ["I like maps"], "version": 1}
    stale = await ada.put("/preferences", json={"items": [], "version": 7})
    assert stale.status_code == 409
    assert (await ada.put("/preferences", json={"items": ["I like tables"], "version": 1})).json()["version"] == 2
    assert (await bob.get("/preferences")).json()["items"] == []
    assert (await ada.delete("/preferences")).status_code == 204
    assert (await ada.get("/preferences")).json()["items"] == []


async def test_strangers_see_nothing(
    ada: httpx2.AsyncClient, bob: httpx2.AsyncClient, namesake: httpx2.AsyncClient
) -> None:
    """Neither another person of the tenant nor a person of the same name elsewhere (CASES 81)."""
    turn = (await ada.post("/chat", json={"message": "Mine"}, headers={"Idempotency-Key": "key"})).json()
    await ada.put("/preferences", json={"items": ["Mine"]})
    for stranger in (namesake, bob):
        foreign = [
            await stranger.get(f"/turns/{turn['id']}"),
            await stranger.get(f"/turns/{turn['id']}/events"),
            await stranger.post(f"/turns/{turn['id']}/cancel"),
            await stranger.get(f"/conversations/{turn['conversation_id']}"),
            await stranger.get(f"/conversations/{turn['conversation_id']}/messages"),
            await stranger.delete(f"/conversations/{turn['conversation_id']}"),
            await stranger.post(f"/conversations/{turn['conversation_id']}/turns", json={"message": "a"}),
            await stranger.post("/chat", json={"message": "a", "conversation_id": turn["conversation_id"]}),
        ]
        assert [answer.status_code for answer in foreign] == [404] * 8
        assert "Mine" not in "".join(answer.text for answer in foreign)
        assert (await stranger.get("/conversations")).json()["items"] == []
        assert (await stranger.get("/preferences")).json()["items"] == []
        # The same key is another key in other hands.
        own = await stranger.post("/chat", json={"message": "Other"}, headers={"Idempotency-Key": "key"})
        assert (own.status_code, own.json()["id"] == turn["id"]) == (202, False)
    assert (await ada.get(f"/turns/{turn['id']}")).json()["status"] == "accepted"


async def test_strangers_cannot_answer_questions(
    ada: httpx2.AsyncClient, bob: httpx2.AsyncClient, namesake: httpx2.AsyncClient, database: TenantDatabase
) -> None:
    turn = (await ada.post("/chat", json={"message": "Plan"})).json()["id"]
    interaction = await pause(database, turn)
    for stranger in (namesake, bob):
        answer = await stranger.post(f"/interactions/{interaction}/response", json={"cancel": True})
        assert answer.status_code == 404
    assert (await ada.get(f"/turns/{turn}")).json()["status"] == "awaiting_input"
