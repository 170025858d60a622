"""Fixed texts of the search for people, by language."""

from collections.abc import Mapping, Sequence
from typing import Final

from graph.oria.language import pick_text
from graph.oria.tools.opportunities.texts import VALUES
from graph.oria.tools.talent.intent import TalentCriterion

Texts = Mapping[str, str]

FOUND_TITLES: Final[Texts] = {
    "en": "People who match your search",
    "fr": "Personnes qui correspondent à votre recherche",
    "es": "Personas que encajan con su búsqueda",
}
MORE_TITLES: Final[Texts] = {
    "en": "More people who match your search",
    "fr": "D'autres personnes qui correspondent à votre recherche",
    "es": "Más personas que encajan con su búsqueda",
}
MISSES: Final[Texts] = {
    "en": "I found nobody who meets these conditions. You can ask again with other or fewer ones.",
    "fr": "Je n'ai trouvé personne qui réponde à ces conditions. Vous pouvez réessayer avec d'autres conditions.",
    "es": "No he encontrado a nadie que cumpla estas condiciones. Puede probar con otras condiciones.",
}
NO_MORE: Final[Texts] = {
    "en": "There is nobody further who meets these conditions.",
    "fr": "Il n'y a personne d'autre qui réponde à ces conditions.",
    "es": "No hay nadie más que cumpla estas condiciones.",
}
IGNORED: Final[Texts] = {
    "en": "Not taken into account, because this search cannot check it: {conditions}.",
    "fr": "Non pris en compte, car cette recherche ne peut pas le vérifier : {conditions}.",
    "es": "No se ha tenido en cuenta, porque esta búsqueda no puede comprobarlo: {conditions}.",
}
SUPPORTED: Final[Texts] = {
    "en": "What matches: {facts}.",
    "fr": "Ce qui correspond : {facts}.",
    "es": "Coincide: {facts}.",
}
# When nothing is supported: a way to find out, without a word on what would be found.
UNSUPPORTED: Final[Texts] = {
    "en": "This profile does not settle whether it fits. A short, focused discussion would tell, and examples of their "
    "work if there are any.",
    "fr": "Ce profil ne permet pas de le dire. Un court échange ciblé le dira, ou des exemples de travaux s'il y en a.",
    "es": "Este perfil no permite saberlo. Una breve conversación concreta lo dirá, o ejemplos de su trabajo, si hay.",
}
NAMES: Final[Mapping[str, Texts]] = {
    "classification": {"en": "classification", "fr": "classification", "es": "clasificación"},
    "location": {"en": "location", "fr": "lieu", "es": "lugar"},
    "work_arrangement": {"en": "way of working", "fr": "mode de travail", "es": "modalidad"},
    "skill": {"en": "skills", "fr": "compétences", "es": "competencias"},
    "role": {"en": "role, now or earlier", "fr": "poste, actuel ou passé", "es": "puesto, actual o anterior"},
    "employer": {
        "en": "employer, now or earlier",
        "fr": "employeur, actuel ou passé",
        "es": "empresa, actual o anterior",
    },
    "department": {
        "en": "department, now or earlier",
        "fr": "département, actuel ou passé",
        "es": "departamento, actual o anterior",
    },
    "education": {"en": "education", "fr": "formation", "es": "formación"},
    "certification": {"en": "certification", "fr": "certification", "es": "certificación"},
    "experience_duration": {"en": "length of experience", "fr": "durée d'expérience", "es": "años de experiencia"},
}


def write_values(field: str, values: Sequence[str], locale: str) -> list[str]:
    """The values as the person reads them; work arrangements in the person's language."""
    coded = field == "work_arrangement"
    return [pick_text(VALUES[value], locale) if coded and value in VALUES else value for value in values]


def write_named(field: str, values: Sequence[str], locale: str) -> str:
    """A condition or fact in words: `location: Lyon, Paris`."""
    return f"{pick_text(NAMES[field], locale)}: {', '.join(write_values(field, values, locale))}"


def write_ignored(criteria: Sequence[TalentCriterion], locale: str) -> str:
    """The note on conditions that were dropped on purpose; empty without any."""
    if not criteria:
        return ""
    conditions = "; ".join(write_named(criterion.field, criterion.values, locale) for criterion in criteria)
    return pick_text(IGNORED, locale).format(conditions=conditions)
