"""Fixed texts of the profile analysis, by language."""

from collections.abc import Mapping
from typing import Final

Texts = Mapping[str, str]

TITLES: Final[Texts] = {
    "en": "Your profile analysis",
    "fr": "L'analyse de votre profil",
    "es": "El análisis de su perfil",
}
STRENGTHS: Final[Texts] = {"en": "Strengths", "fr": "Points forts", "es": "Puntos fuertes"}
TOPICS: Final[Texts] = {
    "en": "Development topics, most important first",
    "fr": "Axes de développement, par ordre d'importance",
    "es": "Temas de desarrollo, por orden de importancia",
}
SCORES: Final[Texts] = {
    "en": "Your recorded skills cover {percent} % of what your current role asks for.",
    "fr": "Vos compétences enregistrées couvrent {percent} % de ce que demande votre poste actuel.",
    "es": "Sus competencias registradas cubren el {percent} % de lo que pide su puesto actual.",
}
ESTIMATES: Final[Texts] = {
    "en": "Estimated fit with your current role: about {percent} %. {reason}",
    "fr": "Adéquation estimée avec votre poste actuel : environ {percent} %. {reason}",
    "es": "Adecuación estimada a su puesto actual: alrededor del {percent} %. {reason}",
}
LEVELS: Final[Texts] = {
    "en": "level {level} of {target}",
    "fr": "niveau {level} sur {target}",
    "es": "nivel {level} de {target}",
}
ROLES: Final[Texts] = {
    "en": "You work as {job}.",
    "fr": "Vous occupez le poste suivant : {job}.",
    "es": "Su puesto actual es: {job}.",
}
NO_ROLES: Final[Texts] = {
    "en": "No current role is recorded for you.",
    "fr": "Aucun poste actuel n'est enregistré pour vous.",
    "es": "No hay ningún puesto actual registrado para usted.",
}
COUNTS: Final[Texts] = {
    "en": "Your profile shows: skills {skills}, positions {experiences}, current objectives {objectives}.",
    "fr": "Votre profil contient : compétences {skills}, postes {experiences}, objectifs en cours {objectives}.",
    "es": "Su perfil contiene: competencias {skills}, puestos {experiences}, objetivos en curso {objectives}.",
}
GAPS: Final[Texts] = {
    "en": "Skills to develop for this role: {gaps}.",
    "fr": "Compétences à développer pour ce poste : {gaps}.",
    "es": "Competencias por desarrollar para este puesto: {gaps}.",
}
NO_GAPS: Final[Texts] = {
    "en": "No skill gap is recorded.",
    "fr": "Aucun écart de compétences n'est enregistré.",
    "es": "No hay ninguna carencia de competencias registrada.",
}
