"""Fixed texts of a simulation, by language."""

from collections.abc import Mapping
from typing import Final

Texts = Mapping[str, str]

FINISHED: Final[Texts] = {
    "en": "This simulation is over and has been assessed. Start it again from its card to practise once more.",
    "fr": "Cette simulation est terminée et évaluée. Relancez-la depuis sa fiche pour vous entraîner à nouveau.",
    "es": "Esta simulación ha terminado y ya está evaluada. Iníciela de nuevo desde su ficha para volver a practicar.",
}
ASSESSMENT_TITLES: Final[Texts] = {
    "en": "Assessment: {title}",
    "fr": "Évaluation : {title}",
    "es": "Evaluación: {title}",
}
ENDINGS: Final[Mapping[str, Texts]] = {
    "person": {
        "en": "The simulation is over. Here is how it went.",
        "fr": "La simulation est terminée. Voici votre bilan.",
        "es": "La simulación ha terminado. Este es el balance.",
    },
    "exchanges": {
        "en": "The simulation has reached its number of exchanges. Here is how it went.",
        "fr": "La simulation a atteint son nombre d'échanges. Voici votre bilan.",
        "es": "La simulación ha alcanzado su número de intercambios. Este es el balance.",
    },
    "time": {
        "en": "The time of the simulation is up. Here is how it went.",
        "fr": "Le temps de la simulation est écoulé. Voici votre bilan.",
        "es": "El tiempo de la simulación se ha agotado. Este es el balance.",
    },
}
NOTHING_SAID: Final[Texts] = {
    "en": "The simulation ended before you said anything, so there is nothing to assess.",
    "fr": "La simulation s'est terminée avant que vous ne parliez : il n'y a rien à évaluer.",
    "es": "La simulación terminó antes de que usted dijera algo: no hay nada que evaluar.",
}
UNPROVEN: Final[Texts] = {
    "en": "Nothing in the conversation shows it.",
    "fr": "Rien dans la conversation ne le montre.",
    "es": "Nada en la conversación lo muestra.",
}
OUTCOMES: Final[Texts] = {"en": "Expected outcomes", "fr": "Résultats attendus", "es": "Resultados esperados"}
SKILLS: Final[Texts] = {"en": "Skills", "fr": "Compétences", "es": "Competencias"}
NEXT_STEPS: Final[Texts] = {"en": "Next steps", "fr": "Prochaines étapes", "es": "Próximos pasos"}
VERDICTS: Final[Mapping[str, Texts]] = {
    "met": {"en": "met", "fr": "atteint", "es": "logrado"},
    "partly": {"en": "partly met", "fr": "atteint en partie", "es": "logrado en parte"},
    "not_met": {"en": "not met", "fr": "non atteint", "es": "no logrado"},
    "strong": {"en": "strong", "fr": "très bien maîtrisé", "es": "muy sólido"},
    "proficient": {"en": "proficient", "fr": "maîtrisé", "es": "sólido"},
    "developing": {"en": "developing", "fr": "en développement", "es": "en desarrollo"},
    "not_shown": {"en": "not shown", "fr": "non montré", "es": "no mostrado"},
}
