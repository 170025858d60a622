"""Fixed texts of the training search, by language."""

from collections.abc import Mapping
from typing import Final

Texts = Mapping[str, str]

FOUND_TITLES: Final[Texts] = {
    "en": "Trainings that fit your request",
    "fr": "Formations qui correspondent à votre demande",
    "es": "Formaciones que encajan con su petición",
}
MORE_TITLES: Final[Texts] = {
    "en": "More trainings that fit your request",
    "fr": "D'autres formations qui correspondent à votre demande",
    "es": "Más formaciones que encajan con su petición",
}
PLAN_TITLES: Final[Texts] = {
    "en": "Your learning plan",
    "fr": "Votre plan de formation",
    "es": "Su plan de aprendizaje",
}
PLAN_SUBTITLES: Final[Texts] = {
    "en": "Weeks: {weeks}. Phases: {phases}.",
    "fr": "Semaines : {weeks}. Phases : {phases}.",
    "es": "Semanas: {weeks}. Fases: {phases}.",
}
PHASE_TITLES: Final[Texts] = {"en": "Phase {number}", "fr": "Phase {number}", "es": "Fase {number}"}
TIME_BOXES: Final[Texts] = {
    "en": "weeks {start} to {end}, about {minutes} min",
    "fr": "semaines {start} à {end}, environ {minutes} min",
    "es": "semanas {start} a {end}, unos {minutes} min",
}
WEEK_BOXES: Final[Texts] = {
    "en": "week {start}, about {minutes} min",
    "fr": "semaine {start}, environ {minutes} min",
    "es": "semana {start}, unos {minutes} min",
}
MISSES: Final[Texts] = {
    "en": "I found no training for this in the catalogue. Try other words, or fewer conditions.",
    "fr": "Je n'ai trouvé aucune formation à ce sujet dans le catalogue. Essayez d'autres mots ou moins de conditions.",
    "es": "No he encontrado ninguna formación sobre esto en el catálogo. Pruebe con otras palabras.",
}
NO_MORE: Final[Texts] = {
    "en": "There are no further trainings for this request. Try other words, or fewer conditions.",
    "fr": "Il n'y a pas d'autres formations pour cette demande. Essayez d'autres mots ou moins de conditions.",
    "es": "No hay más formaciones para esta petición. Pruebe con otras palabras o menos condiciones.",
}
