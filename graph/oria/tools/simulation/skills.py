"""The catalogue's skills behind the skill names of a practice request."""

from collections.abc import Sequence
from typing import NamedTuple

from graph.oria.tools.skill_labels import clean_labels, map_labels
from graph.policy import SIMULATION_SKILLS
from oria_runtime.turns.context import TurnContext


class CatalogueSkill(NamedTuple):
    """A skill of the tenant's library."""

    code: str
    label: str


async def map_skills(names: Sequence[str], context: TurnContext) -> list[CatalogueSkill]:
    """The skills of the catalogue that the names mean, each once; a name that none comes close to is left out.

    Without embeddings, names that are equal to a label are found all the same: codes are an addition to a scenario.
    """
    labels = list(dict.fromkeys(clean_labels(names)))[: SIMULATION_SKILLS[1]]
    matches = await map_labels(labels, context)
    return list(dict.fromkeys(CatalogueSkill(match.code, match.mapped_label) for match in matches if match))
