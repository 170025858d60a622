"""Searches of the knowledge: whose, which, in which order, and what counts as nothing."""

import asyncio

import psycopg
import pytest

from oria_runtime.db.pool import Pool, TenantDatabase
from oria_runtime.knowledge.availability import has_knowledge
from oria_runtime.knowledge.limits import PASSAGE_CHARACTERS, PASSAGES_OF_A_DOCUMENT
from oria_runtime.knowledge.search import Passage
from tests.integration.knowledge.search.conftest import Library
from tests.support.database import DatabaseUrls, create_tenant
from tests.support.knowledge import add_source


def names(passages: list[Passage]) -> list[str]:
    return [passage.location.rpartition("/")[2] for passage in passages]


async def test_a_passage_says_where_it_stands(library: Library) -> None:
    await library.add("leave", "Parental leave lasts sixteen weeks.", angles=[0])
    [passage] = await library.find("parental leave", 5)
    assert (passage.title, passage.path, passage.anchor) == ("Leave", ("Leave", "Part 0"), "part-0")
    assert passage.url == "https://handbook.example/leave#part-0"
    assert passage.text == "Parental leave lasts sixteen weeks."


async def test_words_and_vectors_find_each_what_the_other_does_not(library: Library) -> None:
    await library.add("words", "The reimbursement of bicycles is generous.", angles=[170])
    await library.add("meaning", "Cycling to the office is paid.", angles=[10])
    await library.add("neither", "The canteen opens at noon.", angles=[175])
    assert sorted(names(await library.find("reimbursement bicycles", 0))) == ["meaning", "words"]
    assert names(await library.find("reimbursement bicycles")) == ["words"]


async def test_what_both_lists_find_comes_first(library: Library) -> None:
    await library.add("far", "Something else entirely.", angles=[20])
    await library.add("both", "Notice period of three months.", angles=[30])
    await library.add("farther", "And another thing.", angles=[40])
    assert names(await library.find("notice period months", 0)) == ["both", "far", "farther"]


async def test_far_vectors_and_scattered_words_are_no_evidence(library: Library) -> None:
    await library.add("leave", "Leave is granted by the manager of the department.", angles=[95])
    assert await library.find("why do cats purr at the manager", 0) == []
    assert await library.find("the of by is", 0) == []


async def test_every_chunk_is_read_in_its_own_language(library: Library) -> None:
    await library.add("fr", "Les congés parentaux durent seize semaines.", language="fr")
    await library.add("es", "Las vacaciones se solicitan con antelación.", language="es")
    await library.add("none", "Urlaubsantrag beim Vorgesetzten einreichen.", language=None)
    assert names(await library.find("congé parental")) == ["fr"]
    assert names(await library.find("solicitar vacaciones")) == ["es"]
    assert names(await library.find("Urlaubsantrag einreichen")) == ["none"]


async def test_neighbours_are_one_passage_in_reading_order(library: Library) -> None:
    texts = ["Before all.", "First claim your expenses.", "Then claim the travel expenses.", "After all."]
    await library.add("expenses", *texts, angles=[90, 10, 5, 90])
    [passage] = await library.find("claim travel expenses", 0)
    assert passage.anchor == "part-2"
    assert [passage.text.index(text) for text in texts] == sorted(passage.text.index(text) for text in texts)
    assert "Part 3\n\nAfter all." in passage.text


async def test_a_chunk_between_two_passages_makes_them_one(library: Library) -> None:
    await library.add("doc", "First.", "Second.", "Third.", angles=[1, 5, 2])
    [passage] = await library.find("nothing of that", 0)
    assert (passage.anchor, passage.text) == ("part-0", "First.\n\nPart 1\n\nSecond.\n\nPart 2\n\nThird.")


async def test_a_passage_is_bounded_and_a_document_has_few(library: Library) -> None:
    texts = [f"Claim number {number}. " + "word " * 200 for number in range(12)]
    await library.add("long", *texts, angles=[float(number) for number in range(12)])
    await library.add("short", "Claim quickly.", angles=[40])
    passages = await library.find("claim number", 0)
    assert names(passages).count("long") == PASSAGES_OF_A_DOCUMENT
    assert "short" in names(passages)
    assert all(len(passage.text) <= PASSAGE_CHARACTERS + 100 for passage in passages)


async def test_at_most_as_many_as_asked_for(library: Library) -> None:
    for number in range(8):
        await library.add(f"d{number}", "Training budget per person.", angles=[float(number)])
    assert names(await library.find("nothing of that", 0)) == ["d0", "d1", "d2", "d3", "d4"]
    assert names(await library.find("nothing of that", 0, limit=2)) == ["d0", "d1"]


async def test_the_order_outlives_the_planners_statistics(library: Library, database_urls: DatabaseUrls) -> None:
    source = await add_source(library.database)
    for number in range(120):
        await library.add(f"d{number}", f"Rule {number} on desks.", source=source, angles=[float(number % 60) + 0.5])
    await library.add("right", "Desks are shared on Mondays.", source=source, angles=[0])
    before = await library.find("desks shared mondays", 0)
    async with await psycopg.AsyncConnection.connect(database_urls.owner, autocommit=True) as connection:
        await connection.execute("analyze")
    after = await library.find("desks shared mondays", 0)
    assert names(after)[0] == "right"
    assert names(after) == names(before)


async def test_disabled_sources_and_documents_that_are_gone_are_not_found(library: Library) -> None:
    off = await add_source(library.database, name="Off", status="disabled")
    await library.add("off", "Overtime is paid.", source=off, angles=[0])
    gone = await library.add("gone", "Overtime is paid double.", angles=[0])
    await library.add("on", "Overtime is compensated.", angles=[10])
    await library.execute("update knowledge_documents set status = 'gone' where id = %s", gone)
    assert names(await library.find("overtime paid", 0)) == ["on"]
    await library.execute("update knowledge_documents set status = 'unreachable' where id <> %s", gone)
    assert names(await library.find("overtime paid", 0)) == ["on"]


async def test_rows_are_found_though_most_of_the_nearest_are_hidden(library: Library) -> None:
    off = await add_source(library.database, name="Off", status="disabled")
    hidden = [f"Hidden rule {number}." for number in range(300)]
    await library.add("off", *hidden, source=off, angles=[1.0] * 300)
    await library.add("on", "The visible rule.", angles=[50])
    assert names(await library.find("nothing of that", 0)) == ["on"]


async def test_no_other_tenants_knowledge_is_found(library: Library, pool: Pool) -> None:
    other = await Library(TenantDatabase(pool, await create_tenant(pool, "other"))).open()
    await other.add("secret", "Redundancy plan of the winter.", angles=[0])
    await library.add("own", "Winter tyres.", angles=[20])
    assert names(await library.find("redundancy plan winter", 0)) == ["own"]
    assert names(await other.find("redundancy plan winter", 0)) == ["secret"]
    # Not even by the other's index.
    async with library.database.transaction() as connection:
        values = (str([1.0] + [0.0] * 511), other.index_id)
        query = b"select chunk_id from search_knowledge_by_vector(%s::public.halfvec, %s, 10)"
        assert await (await connection.execute(query, values)).fetchall() == []


async def test_a_search_without_a_tenant_is_refused(pool: Pool) -> None:
    async with pool.connection() as connection:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            await connection.execute("select chunk_id from search_knowledge_by_text('leave', 0.5, 10)")


ODD = [
    "",
    "   ",
    "\x00",
    "' | & ! ( ) :* <-> \\",
    "a" * 32_000,
    "年次有給休暇は何日ですか",
    "🙂🙂",
    "إجازة سنوية",
    "%s %(x)s",
]


@pytest.mark.parametrize("words", ODD)
async def test_odd_questions_find_nothing_and_break_nothing(library: Library, words: str) -> None:
    await library.add("leave", "Leave lasts a month.", angles=[0])
    assert names(await library.find(words)) == []


async def test_scripts_without_stemming_are_found_by_their_words(library: Library) -> None:
    await library.add("ar", "إجازة سنوية مدتها شهر", language=None)
    assert names(await library.find("إجازة سنوية")) == ["ar"]


async def test_a_document_that_is_swapped_meanwhile_is_seen_whole(library: Library) -> None:
    """Both versions have three neighbouring chunks; a mixture would have words of both."""
    await library.add("doc", *[f"old claim {n}" for n in range(3)], angles=[0, 1, 2])
    stop = asyncio.Event()

    async def swap() -> None:
        words = ["new", "old"]
        while not stop.is_set():
            words.reverse()
            await library.execute("update knowledge_chunks set content = replace(content, %s, %s)", *words)

    swapping = asyncio.create_task(swap())
    try:
        for _ in range(60):
            [passage] = await library.find("claim", 0)
            assert len({word for word in passage.text.split() if word in ("old", "new")}) == 1
    finally:
        stop.set()
        await swapping


@pytest.mark.parametrize(
    ("kind", "status", "indexed", "found"),
    [
        ("upload", "active", False, False),
        ("upload", "active", True, True),
        ("upload", "disabled", True, False),
        ("web", "active", False, True),
        ("web", "disabled", True, False),
        ("sitemap", "active", False, False),
        ("sitemap", "active", True, True),
    ],
)
async def test_there_is_knowledge_where_a_source_is_active_and_has_something(
    library: Library, kind: str, status: str, indexed: bool, found: bool
) -> None:
    location = None if kind == "upload" else "https://handbook.example/"
    source = await add_source(library.database, location, kind=kind, status=status)
    if indexed:
        await library.add("leave", "Leave.", source=source)
    async with library.database.transaction() as connection:
        assert await has_knowledge(connection) is found


async def test_other_tenants_knowledge_is_none(library: Library, pool: Pool) -> None:
    other = Library(TenantDatabase(pool, await create_tenant(pool, "other")))
    await add_source(other.database, "https://handbook.example/")
    async with library.database.transaction() as connection:
        assert await has_knowledge(connection) is False
