"""Profile Analysis and Task Helper in whole turns: the action plan's exception, and deliveries without deltas."""

from collections.abc import AsyncIterator
from uuid import UUID

import pytest

from oria_runtime.turns.models import TurnStatus
from tests.support.database import DatabaseUrls
from tests.support.oria_engine import SUPERVISOR, OriaEngine
from tests.support.scripted_model import call, choose, decide, give, say, serve_scripted_model

ANALYSIS = "display_user_profile_tool"
HELPER = "task_helper_tool"
AGENT = "langgraph.profile_analysis_agent"
GAP = {"code": "py", "label": "Python", "level": 2, "target_level": 4}


@pytest.fixture
async def oria(database_urls: DatabaseUrls, tenant: UUID, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[OriaEngine]:
    async with serve_scripted_model() as script:
        for name, value in script.environ.items():
            monkeypatch.setenv(name, value)
        engine = OriaEngine(database_urls, tenant, script=script)
        yield engine
        await engine.close()


async def test_elaborating_the_plan_of_a_card_stays_with_profile_analysis(oria: OriaEngine) -> None:
    await oria.add_person(skills=[{"code": "py", "level": 2}], gaps=[GAP])
    script = oria.script
    script.on(label=SUPERVISOR).reply(choose("profile_analysis"))
    script.on(label=AGENT, tool=ANALYSIS).reply(call(ANALYSIS))
    written = {"objectives": [{"gap": 1, "title": "Write tested scripts", "description": "Start with one report."}]}
    script.on(label="profile_analysis.objectives").reply(give(written))
    turn = await oria.run("Analyse my profile")
    assert turn.status is TurnStatus.COMPLETED
    assert turn.outcome is not None
    assert [card["type"] for card in turn.outcome["cards"]] == ["profile_analysis"]
    assert not {"message.delta"} & set(await oria.kinds(turn.id))

    asked = len(script.requests)
    script.on(label=SUPERVISOR).reply(decide(destination="training_finder", elaborates_action_plan=0.9))
    script.on(label=AGENT).reply(say("ANSWER"))
    script.on(label=AGENT, where=lambda seen: not seen.tools).reply(say("First, one tested script a week."))
    turn = await oria.run("How do I work on the first one?")
    assert turn.status is TurnStatus.COMPLETED
    assert turn.outcome is not None
    assert turn.outcome["text"] == "First, one tested script a week."
    assert turn.outcome["cards"] == []
    assert (await oria.state())["active_agent"] == "profile_analysis"
    labels = [seen.label for seen in script.requests[asked:]]
    assert not [label for label in labels if label.startswith(("profile_analysis.", "training_finder."))]
    assert all("Write tested scripts" in seen.text for seen in script.requests[asked:] if seen.label == AGENT)


async def test_guidance_is_a_complete_delivery(oria: OriaEngine) -> None:
    script = oria.script
    script.on(label=SUPERVISOR).reply(choose("task_helper"))
    script.on(tool=HELPER).reply(call(HELPER, user_question="Minutes of the retrospective, for the team"))
    script.on(label="task_helper.guidance").reply(say(":memo: Actions first."))
    turn = await oria.run("Minutes of the retrospective, for the team")
    assert turn.outcome is not None
    assert turn.outcome["text"] == "📝 Actions first."
    kinds = await oria.kinds(turn.id)
    assert "message.completed" in kinds
    assert "message.delta" not in kinds
    usage = await oria.usage(turn.id)
    assert "task_helper.guidance" in str(usage)
    await oria.assert_goes_on()
