"""Fixed texts of the opportunity searches, by language."""

from collections.abc import Iterable, Mapping
from typing import Final

from graph.oria.language import pick_text

Texts = Mapping[str, str]

FOUND_TITLES: Final[Texts] = {
    "en": "Opportunities that fit your request",
    "fr": "Opportunités qui correspondent à votre demande",
    "es": "Oportunidades que encajan con su petición",
}
MORE_TITLES: Final[Texts] = {
    "en": "More opportunities that fit your request",
    "fr": "D'autres opportunités qui correspondent à votre demande",
    "es": "Más oportunidades que encajan con su petición",
}
OBJECTIVE_TITLES: Final[Texts] = {
    "en": "Opportunities for your objective",
    "fr": "Opportunités pour votre objectif",
    "es": "Oportunidades para su objetivo",
}
MORE_OBJECTIVE_TITLES: Final[Texts] = {
    "en": "More opportunities for your objective",
    "fr": "D'autres opportunités pour votre objectif",
    "es": "Más oportunidades para su objetivo",
}
MISSES: Final[Texts] = {
    "en": "I found no opportunity that meets these criteria. Ask again with other or fewer criteria whenever you like.",
    "fr": "Je n'ai trouvé aucune opportunité qui réponde à ces critères. Vous pouvez réessayer avec d'autres critères.",
    "es": "No he encontrado ninguna oportunidad que cumpla estos criterios. Puede probar con otros criterios.",
}
NO_MORE: Final[Texts] = {
    "en": "There are no further opportunities that meet these criteria.",
    "fr": "Il n'y a pas d'autres opportunités qui répondent à ces critères.",
    "es": "No hay más oportunidades que cumplan estos criterios.",
}
NO_SUCH_OBJECTIVE: Final[Texts] = {
    "en": "I could not find this objective in your profile.",
    "fr": "Je n'ai pas trouvé cet objectif dans votre profil.",
    "es": "No he encontrado este objetivo en su perfil.",
}
OBJECTIVE_MISSES: Final[Texts] = {
    "en": "I found no opportunity for this objective at the moment.",
    "fr": "Je n'ai trouvé aucune opportunité pour cet objectif en ce moment.",
    "es": "No he encontrado ninguna oportunidad para este objetivo en este momento.",
}
NO_MORE_FOR_OBJECTIVE: Final[Texts] = {
    "en": "There are no further opportunities for this objective at the moment.",
    "fr": "Il n'y a pas d'autres opportunités pour cet objectif en ce moment.",
    "es": "No hay más oportunidades para este objetivo en este momento.",
}
SUPPORTED: Final[Texts] = {"en": "What fits: {facts}.", "fr": "Ce qui correspond : {facts}.", "es": "Encaja: {facts}."}
UNSUPPORTED: Final[Texts] = {
    "en": "Found for your request; its description says whether it fits.",
    "fr": "Trouvée pour votre demande ; sa description dira si elle convient.",
    "es": "Encontrada para su petición; su descripción dirá si encaja.",
}

# How criteria and facts are named, before their values.
NAMES: Final[Mapping[str, Texts]] = {
    "kinds": {"en": "type", "fr": "type", "es": "tipo"},
    "departments": {"en": "department", "fr": "département", "es": "departamento"},
    "locations": {"en": "location", "fr": "lieu", "es": "lugar"},
    "work_modes": {"en": "way of working", "fr": "mode de travail", "es": "modalidad"},
    "classifications": {"en": "classification", "fr": "classification", "es": "clasificación"},
    "employment_types": {"en": "contract", "fr": "contrat", "es": "contrato"},
    "companies": {"en": "company", "fr": "entreprise", "es": "empresa"},
    "languages": {"en": "working language", "fr": "langue de travail", "es": "idioma de trabajo"},
    "skills": {"en": "skills", "fr": "compétences", "es": "competencias"},
    "posted_within_days": {"en": "posted within (days)", "fr": "parue depuis (jours)", "es": "publicada hace (días)"},
    "posted": {"en": "posted on", "fr": "publiée le", "es": "publicada el"},
    "objective_skills": {
        "en": "skills of your objective",
        "fr": "compétences de votre objectif",
        "es": "competencias de su objetivo",
    },
    "objective_words": {
        "en": "words of your objective",
        "fr": "mots de votre objectif",
        "es": "palabras de su objetivo",
    },
    "own_skills": {"en": "skills that you have", "fr": "compétences que vous avez", "es": "competencias que tiene"},
    "topic": {"en": "words of your request", "fr": "mots de votre demande", "es": "palabras de su petición"},
    "interests": {"en": "your interests", "fr": "vos intérêts", "es": "sus intereses"},
}
VALUES: Final[Mapping[str, Texts]] = {
    "job": {"en": "job", "fr": "poste", "es": "puesto"},
    "project": {"en": "project", "fr": "projet", "es": "proyecto"},
    "mission": {"en": "mission", "fr": "mission", "es": "misión"},
    "mentoring": {"en": "mentoring", "fr": "mentorat", "es": "mentoría"},
    "internship": {"en": "internship", "fr": "stage", "es": "prácticas"},
    "on_site": {"en": "on site", "fr": "sur site", "es": "presencial"},
    "hybrid": {"en": "hybrid", "fr": "hybride", "es": "híbrido"},
    "remote": {"en": "remote", "fr": "à distance", "es": "a distancia"},
    "permanent": {"en": "permanent", "fr": "CDI", "es": "indefinido"},
    "fixed_term": {"en": "fixed term", "fr": "CDD", "es": "temporal"},
    "temporary": {"en": "temporary", "fr": "intérim", "es": "eventual"},
}
CODED: Final = frozenset({"kinds", "work_modes", "employment_types"})


def write_values(name: str, values: Iterable[str], locale: str) -> list[str]:
    """The values as the person reads them; coded ones in the person's language."""
    return [pick_text(VALUES[value], locale) if name in CODED else value for value in values]


def write_named(name: str, values: Iterable[str], locale: str) -> str:
    """A criterion or fact in words: `location: Lyon, Paris`."""
    return f"{pick_text(NAMES[name], locale)}: {', '.join(write_values(name, values, locale))}"
