"""How long the searches take on a generated catalogue, for its big tenant and for the one with 1 % of the rows."""

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from graph.oria.tools.fusion import FUSION
from local.bench.catalogue import MODEL, SIZES, SOME_DAY, Catalogue, Writer, generate
from local.bench.catalogue_import import measure_imports
from local.bench.catalogue_words import TOPICS
from local.bench.figures import Table, judge, milliseconds, percentile
from local.cloud.database import Database
from local.cloud.options import CloudOptions
from oria_runtime.catalog.job_search import match_jobs
from oria_runtime.catalog.opportunity_search import OpportunityFilters, search_opportunities
from oria_runtime.catalog.search import TrainingFilters, search_trainings
from oria_runtime.catalog.skill_search import match_skills
from oria_runtime.catalog.talent_search import Criterion, search_people
from oria_runtime.db.pool import Connection, Pool, TenantDatabase, create_pool

WARMING, SAMPLES = 10, 60
AIM_MS = 150
LIMIT = 10
TITLES = 5
ANY_TRAINING, ANY_OPPORTUNITY = TrainingFilters(), OpportunityFilters()


@dataclass
class Question:
    """What one search is asked: words and vector of one topic, and the words that only filters use."""

    topic: int
    words: str
    vectors: Sequence[Sequence[float]]

    @property
    def name(self) -> str:
        return TOPICS[self.topic][0]

    @property
    def skills(self) -> list[str]:
        return TOPICS[self.topic][1].split()[:3]


Search = Callable[[Connection, Question], Awaitable[Sequence[object]]]


def make_question(writer: Writer) -> Question:
    """Three words of a topic among four that are everywhere, as in a sentence of a person."""
    topic = writer.topic()
    vectors = [writer.vector(topic).tolist() for _ in range(TITLES)]
    return Question(topic, writer.words(topic, 3, 4), vectors)


async def find_trainings(
    connection: Connection, question: Question, filters: TrainingFilters = ANY_TRAINING
) -> Sequence[object]:
    return await search_trainings(
        connection, words=question.words, vector=question.vectors[0], model=MODEL, filters=filters, excluded=(),
        fusion=FUSION, limit=LIMIT,
    )  # fmt: skip


async def find_filtered_trainings(connection: Connection, question: Question) -> Sequence[object]:
    filters = TrainingFilters(languages=["fr"], levels=["beginner"], formats=["online", "video"], max_minutes=90)
    return await find_trainings(connection, question, filters)


async def find_opportunities(
    connection: Connection, question: Question, filters: OpportunityFilters = ANY_OPPORTUNITY
) -> Sequence[object]:
    return await search_opportunities(
        connection, words=question.words, vector=question.vectors[0], model=MODEL, filters=filters, excluded=(),
        fusion=FUSION, limit=LIMIT,
    )  # fmt: skip


async def find_filtered_opportunities(connection: Connection, question: Question) -> Sequence[object]:
    filters = OpportunityFilters(
        kinds=["job"], locations=["lyon", "paris", "québec"], work_modes=["hybrid", "remote"],
        skills_any=question.skills, open_on=SOME_DAY + timedelta(days=100),
    )  # fmt: skip
    return await find_opportunities(connection, question, filters)


async def find_people(
    connection: Connection, question: Question, criteria: Sequence[Criterion] = (), *, ranked: bool = True
) -> Sequence[object]:
    return await search_people(
        connection, criteria=criteria, words=question.words if ranked else "",
        vector=question.vectors[0] if ranked else None, model=MODEL, excluded=(), fusion=FUSION, limit=LIMIT,
    )  # fmt: skip


def list_criteria(question: Question) -> list[Criterion]:
    return [
        Criterion("department", "any", [question.name]),
        Criterion("skill", "all", question.skills[:2]),
        Criterion("work_mode", "any", ["hybrid", "remote"]),
    ]


async def find_wide_people(connection: Connection, question: Question) -> Sequence[object]:
    return await find_people(connection, question, [Criterion("work_mode", "any", ["hybrid", "remote"])])


async def find_narrow_people(connection: Connection, question: Question) -> Sequence[object]:
    return await find_people(connection, question, list_criteria(question))


async def find_people_elsewhere(connection: Connection, question: Question) -> Sequence[object]:
    """The criterion is about another topic than words and vector: no index on vectors leads there."""
    other = TOPICS[(question.topic + 1) % len(TOPICS)][0]
    return await find_people(connection, question, [Criterion("department", "any", [other])])


async def list_people(connection: Connection, question: Question) -> Sequence[object]:
    return await find_people(connection, question, list_criteria(question), ranked=False)


async def map_jobs(connection: Connection, question: Question) -> Sequence[object]:
    titles = [f"{question.name} {number}" for number in range(TITLES)]
    return await match_jobs(connection, titles, question.vectors, MODEL, threshold=0.2)


async def map_skills(connection: Connection, question: Question) -> Sequence[object]:
    labels = [f"{question.name} {number}" for number in range(TITLES)]
    return await match_skills(connection, labels, question.vectors, MODEL, threshold=0.2)


SEARCHES: dict[str, Search] = {
    "trainings": find_trainings,
    "trainings, four filters": find_filtered_trainings,
    "opportunities": find_opportunities,
    "opportunities, five filters": find_filtered_opportunities,
    "people": find_people,
    "people, one wide criterion": find_wide_people,
    "people, three criteria": find_narrow_people,
    "people, criterion of another topic": find_people_elsewhere,
    "people, three criteria alone": list_people,
    f"jobs, {TITLES} titles": map_jobs,
    f"skills, {TITLES} labels": map_skills,
}


@dataclass
class Times:
    """Seconds of each search, transaction included, and how many rows it found."""

    seconds: list[float] = field(default_factory=list)
    found: list[int] = field(default_factory=list)


async def measure(say: Callable[[str], None]) -> list[Table]:
    """Generate, search as the application role, import."""
    with tempfile.TemporaryDirectory(prefix="oria-bench-") as folder:
        database = Database(CloudOptions(data=Path(folder)))
        urls = await database.start()
        try:
            catalogue = await asyncio.to_thread(generate, urls.owner, say)
            async with create_pool(urls.app, max_size=2, name="bench") as pool:
                searched = await measure_searches(pool, catalogue, say)
                return [searched, await measure_imports(TenantDatabase(pool, catalogue.tenants[1]), say)]
        finally:
            await database.stop()


async def measure_searches(pool: Pool, catalogue: Catalogue, say: Callable[[str], None]) -> Table:
    """Every search for both tenants."""
    databases = [TenantDatabase(pool, tenant) for tenant in catalogue.tenants[:2]]
    rows = []
    for name, search in SEARCHES.items():
        say(name)
        cells = [name]
        for database in databases:
            cells += describe(await repeat(database, search, catalogue.writer))
        rows.append(cells)
    sizes = ", ".join(f"{count:,} {table}" for table, count in SIZES.items())
    columns = ["", *(f"{each} {figure}" for each in ("60 %", "1 %") for figure in ("rows", "p50", "p95", "aim"))]
    notes = [
        f"{sizes}, of five tenants; application role, row-level security, warm, {SAMPLES} questions each.",
        f"Words and vector of the same topic, {FUSION.depth} rows of each list, {LIMIT} wanted; rows: the mean found.",
    ]
    return Table(
        "7. Searches of a big catalogue, for the tenant with 60 % of it and the one with 1 %", columns, rows, notes
    )


async def repeat(database: TenantDatabase, search: Search, writer: Writer) -> Times:
    """Warm up, then take the times of as many questions, each another one."""
    times = Times()
    for number in range(WARMING + SAMPLES):
        question = make_question(writer)
        started = time.perf_counter()
        async with database.transaction() as connection:
            found = await search(connection, question)
        if number >= WARMING:
            times.seconds.append(time.perf_counter() - started)
            times.found.append(sum(row is not None for row in found))
    return times


def describe(times: Times) -> list[str]:
    p50, p95 = percentile(times.seconds, 0.5), percentile(times.seconds, 0.95)
    mean = sum(times.found) / len(times.found)
    return [f"{mean:.1f}", milliseconds(p50), milliseconds(p95), judge(p95 * 1000, AIM_MS)]
