"""Finding the colleagues whom a name may mean, as somebody wrote it.

The database bounds the people to compare, by the trigrams of their names (migration 0008); the similarity is measured
here, so that its threshold is the one of the source (seeds/oria_tools.md, person_disambiguation_tool). It knows typos,
accents, the two orders of a name, parts of it, particles and scripts without spaces; it does not transliterate.
"""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from oria_runtime.catalog.spelling import fold_letters
from oria_runtime.db.pool import Connection
from oria_runtime.db.text import clean_text

MAX_NAME_CHARACTERS: Final = 200
# Rows that share most trigrams. Among 50,000 people a look-up took 67 ms in the median, 25 of them comparing these.
PREFILTER_ROWS: Final = 200
# A first name alone fits its bearer less well than a whole name that fits as well.
PARTIAL_NAME: Final = 0.9

# `full`: the same words in any order, particles aside. `part`: every asked word is one of the name. `similar`: neither.
NameFit = Literal["full", "part", "similar"]

WORD: Final = re.compile(r"[^\W_]+")
# Letters that have no decomposition into a base and a mark.
UNDECOMPOSED: Final = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i"})
PARTICLES: Final = frozenset(
    ("de", "la", "le", "du", "des", "del", "della", "di", "da", "dos", "das", "van", "von", "der", "den", "ter", "zu",
     "zur", "bin", "ibn", "y")
)  # fmt: skip


class PersonMatch(BaseModel):
    """A colleague whom a name may mean, and what tells namesakes apart. `person_id` is the external id."""

    model_config = ConfigDict(frozen=True)
    person_id: str
    first_name: str = ""
    last_name: str = ""
    job_title: str | None = None
    department: str | None = None
    location: str | None = None
    email: str | None = None
    similarity: float = 1.0
    fit: NameFit = "full"

    @property
    def name(self) -> str:
        """The name to display; the id where the customer's file has none."""
        return f"{self.first_name} {self.last_name}".strip() or self.person_id


FIND_PEOPLE_SQL = """
select external_id as person_id, first_name, last_name, job_title, department, location, email
from find_people_by_name(%s, %s, %s) as found
join people on external_id = found.person_id
where tenant_id = current_setting('app.tenant')::uuid
"""
READ_PERSON_SQL = """
select external_id as person_id, first_name, last_name, job_title, department, location, email
from people
where tenant_id = current_setting('app.tenant')::uuid and external_id = %s and external_id <> %s and active
"""


async def find_people(
    connection: Connection, name: str, *, excluded: str, threshold: float, limit: int
) -> list[PersonMatch]:
    """The tenant's active people whose names are more similar to this one than the threshold, most similar first.

    Args:
        connection: a transaction under the tenant's setting.
        excluded: the external id of the person who asks; empty for none.
        threshold: similarity from 0 to 1 that a match must exceed.
    """
    asked = clean_text(name)[:MAX_NAME_CHARACTERS]
    cursor = await connection.execute(FIND_PEOPLE_SQL, (asked, excluded, PREFILTER_ROWS))
    compared = [compare_names(asked, PersonMatch.model_validate(row)) for row in await cursor.fetchall()]
    matches = [match for match in compared if match.similarity > threshold]
    return sorted(matches, key=lambda match: (-match.similarity, match.name, match.person_id))[:limit]


async def read_person(connection: Connection, person_id: str, *, excluded: str) -> PersonMatch | None:
    """The tenant's active person with exactly this external id, unless it is the excluded one."""
    row = await (await connection.execute(READ_PERSON_SQL, (clean_text(person_id), excluded))).fetchone()
    return None if row is None else PersonMatch.model_validate(row)


def compare_names(asked: str, person: PersonMatch) -> PersonMatch:
    """The person with similarity and fit measured against the asked name."""
    first, last = person.first_name, person.last_name
    measured = {"similarity": measure_similarity(asked, first, last), "fit": classify_fit(asked, first, last)}
    return person.model_copy(update=measured)


def measure_similarity(asked: str, first_name: str, last_name: str) -> float:
    """How similar a written name is to a person's, from 0 to 1; 1 for the same words in any order."""
    words, name = list_words(asked), list_words(f"{first_name} {last_name}")
    if not words or not name:
        return 0.0
    if classify_fit(asked, first_name, last_name) == "full":
        return 1.0
    written = "".join(words)
    whole = max(measure_ratio(written, joined) for joined in join_orders(first_name, last_name))
    return max(whole, align_words(words, name))


def classify_fit(asked: str, first_name: str, last_name: str) -> NameFit:
    """How the words of the asked name stand to those of the person's."""
    words, name = list_words(asked), list_words(f"{first_name} {last_name}")
    if sorted(words) == sorted(name) or "".join(words) in join_orders(first_name, last_name):
        return "full"
    return "part" if words and set(words) <= set(name) else "similar"


def align_words(words: Sequence[str], name: Sequence[str]) -> float:
    """The similarity of the asked words to the best distinct words of the name, weighted by their length."""
    pairs = sorted(
        ((measure_ratio(word, other), i, j) for i, word in enumerate(words) for j, other in enumerate(name)),
        key=lambda pair: (-pair[0], pair[1], pair[2]),
    )
    aligned: dict[int, float] = {}
    taken: set[int] = set()
    for ratio, i, j in pairs:
        if i not in aligned and j not in taken:
            aligned[i] = ratio
            taken.add(j)
    score = sum(len(words[i]) * ratio for i, ratio in aligned.items()) / sum(map(len, words))
    return score * PARTIAL_NAME if len(words) < len(name) else score


def measure_ratio(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


def join_orders(first_name: str, last_name: str) -> set[str]:
    """The name without spaces, given name first and family name first."""
    first, last = list_words(first_name), list_words(last_name)
    return {"".join([*first, *last]), "".join([*last, *first])}


def list_words(name: str) -> list[str]:
    """The folded words of a name without its particles; all of them where it has nothing else."""
    words = WORD.findall(fold_name(name))
    return [word for word in words if word not in PARTICLES] or words


def fold_name(name: str) -> str:
    """The name without case, accents and ligatures."""
    return fold_letters(name).translate(UNDECOMPOSED)
