"""Does a search find the page that answers? `python -m evals.run --set knowledge --provider offline`.

The handbook of `../shared/data` is indexed by the product's own code into a Postgres of its own, and every question is
asked with the product's own search, in the words of its case. The report has the recall after one to ten passages, the
same by language, the questions whose page is not among the first five with the pages that were found instead, and the
share of the unrelated questions for which nothing was found.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from typing import Final

from evals.handbook_index import index_handbook, name_page, open_database
from evals.knowledge_cases import HELD_OUT, KNOWN, UNRELATED, KnowledgeCase, list_pages, load_knowledge_cases
from oria_runtime.db.pool import TenantDatabase
from oria_runtime.knowledge.search import retrieve
from oria_runtime.models.client import Models

# What a search gives the agent, and how far the curve goes.
SHOWN: Final = 5
DEPTHS: Final = range(1, 11)
NAME_WIDTH: Final = 12


@dataclass(frozen=True)
class Retrieved:
    """A question and the pages of the passages that were found, best first, a page as often as it has passages."""

    case: KnowledgeCase
    found: Sequence[str]

    @property
    def rank(self) -> int | None:
        """The place of the first passage of a right page, from 1 on."""
        return next((place for place, page in enumerate(self.found, start=1) if page in self.case.pages), None)


async def measure_handbook(models: Models) -> float:
    """Index the handbook, ask everything, print the report; the share of all questions whose page was found."""
    pages = list_pages()
    async with open_database() as database:
        started = time.monotonic()
        chunks = await index_handbook(database, models, pages)
        empty = list(chunks.values()).count(0)
        print(f"{len(pages)} pages ({empty} without text), {sum(chunks.values())} chunks, ", end="")
        print(f"indexed in {time.monotonic() - started:.1f} s\n")
        # Each search prints its metric, as on Lambda.
        with redirect_stdout(StringIO()):
            retrieved = {
                name: await retrieve_all(database, models, load_knowledge_cases(name))
                for name in (KNOWN, HELD_OUT, UNRELATED)
            }
    print("\n".join(write_retrieval_report(retrieved)))
    return measure_recall([*retrieved[KNOWN], *retrieved[HELD_OUT]], SHOWN)


async def retrieve_all(database: TenantDatabase, models: Models, cases: Sequence[KnowledgeCase]) -> list[Retrieved]:
    """What the search finds for each question."""
    return [await retrieve_one(database, models, case) for case in cases]


async def retrieve_one(database: TenantDatabase, models: Models, case: KnowledgeCase) -> Retrieved:
    retrieval = await retrieve(database, models, case.question, limit=DEPTHS.stop - 1)
    return Retrieved(case, [name_page(passage.location) for passage in retrieval.passages])


def measure_recall(retrieved: Sequence[Retrieved], depth: int) -> float:
    """The share of the questions with a right page among the first `depth` passages; 1.0 of none."""
    found = sum(each.rank is not None and each.rank <= depth for each in retrieved)
    return found / len(retrieved) if retrieved else 1.0


def write_retrieval_report(retrieved: Mapping[str, Sequence[Retrieved]]) -> Iterable[str]:
    """The whole report, line by line; names of sets to what was found for their questions."""
    known, held_out, unrelated = (retrieved[name] for name in (KNOWN, HELD_OUT, UNRELATED))
    yield f"{'recall@k':<{NAME_WIDTH}}{'questions':>10}" + "".join(f"{depth:>6}" for depth in DEPTHS)
    yield write_curve("tuned on", known)
    yield write_curve("held out", held_out)
    for language in sorted({each.case.language for each in [*known, *held_out]}):
        yield write_curve(language, [each for each in [*known, *held_out] if each.case.language == language])
    yield write_curve("all", [*known, *held_out])
    nothing = sum(not each.found for each in unrelated)
    yield f"\nunrelated questions without a passage: {nothing} of {len(unrelated)}\n"
    for each in [*known, *held_out]:
        if each.rank is None or each.rank > SHOWN:
            yield from write_failure(each)


def write_curve(name: str, retrieved: Sequence[Retrieved]) -> str:
    curve = "".join(f"{measure_recall(retrieved, depth):>6.2f}" for depth in DEPTHS)
    return f"{name:<{NAME_WIDTH}}{len(retrieved):>10}{curve}"


def write_failure(each: Retrieved) -> Iterable[str]:
    """A question whose page is not shown: where it is, and what stands in its place."""
    place = "not found" if each.rank is None else f"place {each.rank}"
    yield f"missed  {each.case.id} ({place}): {each.case.question}"
    yield f"        wanted {', '.join(each.case.pages)}"
    yield f"        found  {', '.join(dict.fromkeys(each.found[:SHOWN])) or 'nothing'}"
