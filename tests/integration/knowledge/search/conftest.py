"""Knowledge to search in: chunks with vectors of a made-up model whose space a test can draw."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID, uuid4

import pytest

from oria_runtime.db.pool import TenantDatabase
from oria_runtime.knowledge.indexes import Index, find_active
from oria_runtime.knowledge.search import Passage, search_passages
from tests.support.knowledge import add_source

INSERT_INDEX_SQL = "insert into knowledge_indexes (id, tenant_id, model, address, status) values (%s, %s, %s, '{}', %s)"
INSERT_DOCUMENT_SQL = """
insert into knowledge_documents (id, tenant_id, source_id, location, title, status)
values (%s, %s, %s, %s, %s, 'indexed')
"""
INSERT_CHUNK_SQL = """
insert into knowledge_chunks (id, tenant_id, document_id, ordinal, path, anchor, content, language)
values (%s, %s, %s, %s, %s, %s, %s, %s)
"""
INSERT_VECTOR_SQL = """
insert into knowledge_vectors (index_id, chunk_id, tenant_id, embedding) values (%s, %s, %s, %s::public.halfvec)
"""
MODEL = "drawn"


def draw(degrees: float) -> list[float]:
    """A vector at an angle in the plane of the first two dimensions."""
    return [math.cos(math.radians(degrees)), math.sin(math.radians(degrees)), *([0.0] * 510)]


@dataclass
class Library:
    """A tenant's documents. `angles` of chunks are those of `draw`; without them a chunk has no vector."""

    database: TenantDatabase
    index_id: UUID = field(default_factory=uuid4)

    async def open(self) -> "Library":
        async with self.database.transaction() as connection:
            await connection.execute(INSERT_INDEX_SQL, (self.index_id, self.database.tenant_id, MODEL, "active"))
        return self

    async def add(
        self,
        name: str,
        *texts: str,
        source: UUID | None = None,
        angles: Sequence[float | None] = (),
        language: str | None = "en",
    ) -> UUID:
        """A document of neighbouring chunks; its id."""
        source = source or await add_source(self.database, name=f"Source of {name} {uuid4().hex}")
        document, tenant = uuid4(), self.database.tenant_id
        async with self.database.transaction() as connection:
            location = f"https://handbook.example/{name}"
            await connection.execute(INSERT_DOCUMENT_SQL, (document, tenant, source, location, name.title()))
            for number, text in enumerate(texts):
                chunk = uuid4()
                values = (chunk, tenant, document, number, [name.title(), f"Part {number}"], f"part-{number}")
                await connection.execute(INSERT_CHUNK_SQL, (*values, text, language))
                if number < len(angles) and angles[number] is not None:
                    vector = str(draw(angles[number] or 0.0))
                    await connection.execute(INSERT_VECTOR_SQL, (self.index_id, chunk, tenant, vector))
        return document

    async def find(self, words: str, degrees: float | None = None, *, limit: int = 5) -> list[Passage]:
        """The passages for words and the vector at an angle."""
        async with self.database.transaction() as connection:
            index: Index | None = await find_active(connection)
        vector = None if degrees is None else draw(degrees)
        return await search_passages(self.database, words=words, vector=vector, index=index, limit=limit)

    async def execute(self, statement: str, *values: object) -> None:
        async with self.database.transaction() as connection:
            await connection.execute(statement.encode(), values)


@pytest.fixture
async def library(database: TenantDatabase) -> Library:
    """The library of the test's tenant, empty."""
    return await Library(database).open()
