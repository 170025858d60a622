"""The words of a search for people: those of the request that can say something of a person."""

from typing import Final

from graph.oria.tools.comparison import WORD, fold
from graph.oria.tools.opportunities.query import NOISE
from graph.policy import TALENT_QUERY_CHARACTERS

# Words that every such request has, and the names of many departments and jobs too ("People and Culture").
ASKING: Final = {
    "people", "person", "persons", "somebody", "someone", "anybody", "anyone", "nobody", "colleague", "colleagues",
    "company", "expert", "experts", "expertise", "know", "knows", "who", "whom", "works", "working", "lives", "please",
    "mentor", "personne", "personnes", "quelqu", "collegue", "collegues", "entreprise", "connait", "connaissent",
    "maitrise", "maitrisent", "sait", "savent", "travaille", "travaillent", "qui", "persona", "personas", "alguien",
    "companero", "companeros", "colega", "colegas", "empresa", "sabe", "saben", "conoce", "conocen", "trabaja", "quien",
    "quienes",
}  # fmt: skip


def bound_query(request: str) -> str:
    """The request as far as it is embedded."""
    return request[:TALENT_QUERY_CHARACTERS]


def list_words(request: str) -> str:
    """What of the request is matched word by word."""
    return " ".join(word for word in WORD.findall(request) if fold(word) not in NOISE | ASKING)
