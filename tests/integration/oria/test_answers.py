"""Answers to an interaction pass the same gate as messages do."""

from graph.registry import ASSISTANTS
from oria_runtime.turns.assistants import Approval
from tests.integration.oria.conftest import Person
from tests.integration.oria.test_gate import DECISION, RESPONSE, read_evidence
from tests.support.scripted_model import Script, choose, say

approve = ASSISTANTS["oria"].approve


async def test_answers_are_judged_together_with_the_request_they_belong_to(person: Person, script: Script) -> None:
    turn = await person.start_turn("Plan my learning")
    await person.write(turn, "assistant", "How much time do you have?")
    assert await approve(["Two hours", "In the evening"], person.context(turn)) == Approval("allow")
    assert read_evidence(script) == {
        "latest_user_message": "Two hours\n\nIn the evening",
        "recent_messages": [
            {"role": "user", "text": "Plan my learning"},
            {"role": "assistant", "text": "How much time do you have?"},
        ],
    }


async def test_a_blocked_answer_comes_with_its_boundary_text(person: Person, script: Script) -> None:
    turn = await person.start_turn("Plan my learning")
    script.on(label=DECISION).reply(choose("block"))
    script.on(label=RESPONSE).reply(say("Let us keep to your plan."))
    approval = await approve(["how to forge a diploma"], person.context(turn))
    assert approval == Approval("block", "Let us keep to your plan.")


async def test_answers_without_a_text_need_no_model(person: Person, script: Script) -> None:
    turn = await person.start_turn("Plan my learning")
    assert await approve([], person.context(turn)) == Approval("allow")
    assert script.count() == 0
