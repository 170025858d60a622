"""What the answer to an empty search makes of its conditions."""

from typing import Final

from langchain_core.messages import SystemMessage

from graph.oria.prompts import read_prompt
from graph.oria.tools.criteria_question import CriteriaChange, CriterionOption
from graph.oria.tools.talent.intent import TalentSearchIntent, drop_criteria, list_searched, merge_intents
from graph.oria.tools.talent.texts import write_named
from graph.oria.untrusted import data_message, untrusted_content_policy
from graph.policy import TALENT_CHANGE_SECONDS
from oria_runtime.turns.context import TurnContext

LABEL: Final = "talent_finder.change"


def list_options(intent: TalentSearchIntent, locale: str) -> list[CriterionOption]:
    """The searched conditions as the person may give them up; the ignored ones limit nothing."""
    return [
        CriterionOption(condition_id, write_named(condition.field, condition.values, locale))
        for condition_id, condition in list_searched(intent)
    ]


async def change_intent(intent: TalentSearchIntent, change: CriteriaChange, context: TurnContext) -> TalentSearchIntent:
    """The intent without what was given up and with what the answer adds. Raises ModelError: there is no way round it,
    because a search without what the person has just said would be another search."""
    kept = drop_criteria(intent, change.changed)
    if not change.text:
        return kept
    evidence = {
        "conditions_that_stay": [condition.model_dump(mode="json") for condition in kept.criteria],
        "answer": change.text,
    }
    system = SystemMessage(f"{read_prompt('talent/change')}\n\n{untrusted_content_policy()}")
    added = await context.models.structured(
        label=LABEL,
        schema=TalentSearchIntent,
        messages=[system, data_message("Answer", evidence)],
        timeout=TALENT_CHANGE_SECONDS,
    )
    return merge_intents(kept, added)
