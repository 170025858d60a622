"""The card of a simulation, and the text that stands for it where cards cannot be shown.

The person sees what they practise and what they are to reach. The counterpart's attitude and private instructions and
the criteria of the skills stay on the server: knowing them would take the practice out of the practice.
"""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from graph.oria.language import pick_text
from graph.simulation.budget import plan_budget
from graph.simulation.scenario import Scenario

CARD_TYPE: Final = "simulation"
IDS_KEY: Final = "simulation_ids"

Texts = Mapping[str, str]

LINES: Final[Texts] = {
    "en": "You talk to: {counterpart}\nYour goal: {goal}\nDuration: about {minutes} min, {difficulty}",
    "fr": "Votre interlocuteur : {counterpart}\nVotre objectif : {goal}\nDurée : environ {minutes} min, {difficulty}",
    "es": "Habla con: {counterpart}\nSu objetivo: {goal}\nDuración: unos {minutes} min, {difficulty}",
}
START: Final[Texts] = {
    "en": "Start the simulation from its card when you are ready.",
    "fr": "Lancez la simulation depuis sa fiche quand vous êtes prêt.",
    "es": "Inicie la simulación desde su ficha cuando quiera.",
}
UNRESOLVED: Final[Texts] = {
    "en": "I could not tell which colleague you mean, so the counterpart is nobody in particular.",
    "fr": "Je n'ai pas su de quel collègue il s'agit : votre interlocuteur n'est donc personne en particulier.",
    "es": "No he podido determinar a qué colega se refiere, así que el interlocutor no es nadie en concreto.",
}
DIFFICULTIES: Final[Mapping[str, Texts]] = {
    "beginner": {"en": "beginner", "fr": "débutant", "es": "principiante"},
    "intermediate": {"en": "intermediate", "fr": "intermédiaire", "es": "intermedio"},
    "advanced": {"en": "advanced", "fr": "avancé", "es": "avanzado"},
}


def build_card(simulation_id: UUID, scenario: Scenario) -> dict[str, Any]:
    """The card; `simulation_id` starts a conversation, `budget` is where it ends by itself."""
    counterpart, budget = scenario.counterpart, plan_budget(scenario.minutes)
    return {
        "type": CARD_TYPE,
        "simulation_id": str(simulation_id),
        "title": scenario.title,
        "situation": scenario.situation,
        "counterpart": {"role": counterpart.role, "person_id": counterpart.person_id, "name": counterpart.name},
        "goal": scenario.goal,
        "opening_line": scenario.opening_line,
        "expected_outcomes": list(scenario.outcomes),
        "skills": [{"title": skill.title, "code": skill.code} for skill in scenario.skills],
        "difficulty": scenario.difficulty,
        "estimated_minutes": scenario.minutes,
        "budget": {"exchanges": budget.exchanges, "minutes": budget.minutes},
    }


def write_text(scenario: Scenario, locale: str, *, unresolved: bool = False) -> str:
    """Title, situation, counterpart, goal and duration; `unresolved` says that a named colleague was not found."""
    counterpart = scenario.counterpart
    lines = pick_text(LINES, locale).format(
        counterpart=f"{counterpart.name}, {counterpart.role}" if counterpart.name else counterpart.role,
        goal=scenario.goal,
        minutes=scenario.minutes,
        difficulty=pick_text(DIFFICULTIES[scenario.difficulty], locale),
    )
    notes = [pick_text(UNRESOLVED, locale)] if unresolved else []
    return "\n\n".join([scenario.title, scenario.situation, lines, *notes, pick_text(START, locale)])
