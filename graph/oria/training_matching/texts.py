"""Fixed texts of Training Matching, by language."""

from collections.abc import Mapping, Sequence
from typing import Final

from graph.oria.language import pick_text

Texts = Mapping[str, str]

SUPPORTED: Final[Texts] = {
    "en": "Why it fits: {facts}.",
    "fr": "Pourquoi elle vous correspond : {facts}.",
    "es": "Por qué encaja: {facts}.",
}
UNSUPPORTED: Final[Texts] = {
    "en": "Neither your profile nor your search names a particular reason for this training; read what it teaches and "
    "talk it over with your manager.",
    "fr": "Ni votre profil ni votre recherche ne donnent de raison particulière pour cette formation ; lisez ce "
    "qu'elle enseigne et parlez-en avec votre responsable.",
    "es": "Ni su perfil ni su búsqueda dan un motivo concreto para esta formación; lea qué enseña y coméntelo con su "
    "responsable.",
}
NAMES: Final[Mapping[str, Texts]] = {
    "topic": {"en": "what you searched for", "fr": "votre recherche", "es": "lo que buscaba"},
    "mandatory": {"en": "mandatory for you", "fr": "obligatoire pour vous", "es": "obligatoria para usted"},
    "gaps": {
        "en": "skills that your job asks for",
        "fr": "compétences que votre poste demande",
        "es": "competencias que pide su puesto",
    },
    "objective_skills": {
        "en": "skills of your objectives",
        "fr": "compétences de vos objectifs",
        "es": "competencias de sus objetivos",
    },
    "own_skills": {
        "en": "skills that you can build on",
        "fr": "compétences sur lesquelles vous pouvez vous appuyer",
        "es": "competencias en las que puede apoyarse",
    },
    "interests": {"en": "your interests", "fr": "vos intérêts", "es": "sus intereses"},
}


def list_facts(facts: Mapping[str, Sequence[str]], locale: str) -> str:
    """The facts as they are; without any, how to find out."""
    if not facts:
        return pick_text(UNSUPPORTED, locale)
    named = "; ".join(f"{pick_text(NAMES[name], locale)}: {', '.join(values)}" for name, values in facts.items())
    return pick_text(SUPPORTED, locale).format(facts=named)
