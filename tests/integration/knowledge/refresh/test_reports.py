"""What a refresh tells operators: numbers and ids, never what it read or where from."""

import json
import time

import pytest

from oria_runtime.knowledge.refresh.consuming import consume
from oria_runtime.turns.invocation import Invocation
from tests.support.knowledge_refresh import World
from tests.support.knowledge_site import write_page

SECRET = "Nobody outside may read that the bonus is 417 crowns."


async def test_a_refresh_counts_its_documents_and_logs_no_text_and_no_location(
    world: World, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    links = {"Bonus": "/bonus?token=very-secret", "Broken": "/broken?key=hidden"}
    world.site.put("/", write_page("Index", "All pages.", links=links))
    world.site.put("/bonus?token=very-secret", write_page("Bonus", SECRET))
    world.site.fail("/broken?key=hidden", 500)
    source = await world.add_source()
    await world.query("update knowledge_sources set next_refresh_at = now()")
    record = {"messageId": "1", "body": world.message(source).as_body()}
    await consume(world.sandbox, [record], Invocation("request", time.monotonic() + 300))
    said, logged = capsys.readouterr().out, [vars(record) for record in caplog.records]
    for hidden in ("bonus", "very-secret", "hidden", "/broken", world.site.url):
        assert hidden not in (said + str(logged)).lower()
    lines = [json.loads(line) for line in said.splitlines()]
    counted = {line["outcome"]: line["knowledge_refreshed"] for line in lines if "knowledge_refreshed" in line}
    assert (counted["new"], counted["unreachable"]) == ([2.0], [1.0])
    (ended,) = [line for line in lines if "knowledge_refreshes" in line]
    assert (ended["status"], ended["kind"]) == ("completed", "web")
    assert any("model_input_tokens" in line for line in lines)
    assert [entry["result"] for entry in logged if entry.get("source_id") == str(source)] == ["completed"]


async def test_the_history_of_a_source_is_bounded(world: World) -> None:
    world.site.put("/", write_page("Index", "All pages."))
    source = await world.add_source()
    await world.query(
        "insert into knowledge_refreshes (tenant_id, source_id, trigger, status, started_at)"
        " select tenant_id, id, 'schedule', 'completed', now() - n * interval '1 hour'"
        " from knowledge_sources, generate_series(1, 130) as n"
    )
    await world.refresh(source)
    (row,) = await world.query("select count(*) as refreshes from knowledge_refreshes")
    assert row["refreshes"] == 100
    assert await world.query("select from knowledge_visits") == []
