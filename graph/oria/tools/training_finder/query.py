"""The query of a search: what the person asked and answered, and facts of the profile where they asked for those."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from graph.oria.tools.training_finder.request import Preparation, TrainingRequest
from graph.policy import TRAINING_PROFILE_TERMS, TRAINING_QUERY_CHARACTERS

# Words that every training request has and many descriptions too: matching them would rank by chance.
NOISE: Final = {
    "training", "trainings", "course", "courses", "class", "classes", "learn", "learning", "plan", "path",
    "programme", "program", "find", "show", "more", "want", "need", "help", "formation", "formations", "cours",
    "apprendre", "apprentissage", "parcours", "trouver", "montrer", "veux", "voudrais", "besoin", "curso",
    "cursos", "formación", "formaciones", "aprender", "aprendizaje", "buscar", "mostrar", "quiero", "necesito",
    "week", "weeks", "month", "months", "hour", "hours", "semaine", "semaines", "mois", "heure", "heures",
    "semana", "semanas", "mes", "meses", "hora", "horas",
}  # fmt: skip
WORD: Final = re.compile(r"\w[\w+#.-]*")


@dataclass(frozen=True)
class Query:
    """A resolved query. `text` is embedded; `words` are matched; `stated` is the part of it that the person said."""

    original: str
    text: str
    stated: str = ""

    @property
    def words(self) -> str:
        return " ".join(word for word in WORD.findall(self.text) if word.lower() not in NOISE)


def resolve_query(request: TrainingRequest, preparation: Preparation, answers: Mapping[str, str]) -> Query:
    """The query with what was answered. Time is for the plan alone and finds no training.

    Facts of the profile join when the model asked for them, and in a plan whose target nobody named.
    """
    said = [text for question, text in answers.items() if question != "time" and text]
    untargeted = request.is_learning_plan and "target" in answers and not answers["target"]
    terms = list_profile_terms(preparation["profile"]) if request.is_about_person or untargeted else []
    stated = (request.query, *said, request.user_context)
    return Query(request.query, join_parts((*stated, *terms)), join_parts(stated))


def join_parts(parts: Iterable[str]) -> str:
    return ". ".join(dict.fromkeys(part.strip() for part in parts if part.strip()))[:TRAINING_QUERY_CHARACTERS]


def list_profile_terms(profile: Mapping[str, Any]) -> list[str]:
    """What the profile says about what to learn: gaps, current objectives, interests, and the job."""
    objectives = [objective for objective in profile.get("objectives", ()) if objective["status"] == "current"]
    terms = [
        *(gap["label"] for gap in profile.get("gaps", ())),
        *(objective["title"] for objective in objectives),
        *profile.get("interests", ()),
        profile.get("job_title") or "",
    ]
    return [term for term in terms if term][:TRAINING_PROFILE_TERMS]
