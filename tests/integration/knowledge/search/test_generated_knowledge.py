"""The benchmark's knowledge: the database takes what it makes up, and searches find what is truly nearest."""

import psycopg

from local.bench.catalogue import SHARES
from local.bench.knowledge_corpus import generate
from local.bench.knowledge_search import DEPTHS, list_nearest, prepare_questions
from oria_runtime.db.pool import Pool, TenantDatabase
from tests.support.database import DatabaseUrls

CHUNKS = 1_000
READ_INDEXES_SQL = "select indexdef from pg_indexes where tablename like 'knowledge_%' order by indexdef"


def read_indexes(url: str) -> list[str]:
    with psycopg.connect(url) as connection:
        return [row[0] for row in connection.execute(READ_INDEXES_SQL).fetchall()]


async def test_few_vectors_are_searched_exactly(pool: Pool, database_urls: DatabaseUrls) -> None:
    indexes = read_indexes(database_urls.owner)
    corpus = generate(database_urls.owner, CHUNKS, lambda _: None)
    assert len(read_indexes(database_urls.owner)) == len(indexes)
    assert len(corpus.owners) == len(SHARES)
    for owner in corpus.owners[:2]:
        questions, nearest = prepare_questions(database_urls.owner, owner, corpus.writer)
        database = TenantDatabase(pool, owner.tenant)
        for question, true in list(zip(questions, nearest, strict=True))[:10]:
            assert (await list_nearest(database, owner, question))[: max(DEPTHS)] == true
