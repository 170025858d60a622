"""Embeddings of job titles: one per title, alternative ones too, beside the embedding of the whole job.

The rows of `job_titles` follow those of `jobs` in the database; here the embeddings that they lack are filled in. What
an earlier import left open is done too, so that a stopped import goes on where it stopped.
"""

from collections.abc import Sequence

from oria_runtime.catalog.loading.embedding import Embedder, embed_texts
from oria_runtime.catalog.loading.rows import CatalogRow
from oria_runtime.db.pool import TenantDatabase

# Bounds a statement's time: jobs of a classification have a dozen titles, and the vector index takes 3 ms a title.
TITLES_PER_STATEMENT = 512

READ_OPEN_SQL = """
select named.job_id, named.key, named.title
from jobs join job_titles as named on named.job_id = jobs.id
where jobs.tenant_id = current_setting('app.tenant')::uuid and jobs.external_id = any(%s)
    and named.embedding_model is distinct from %s
order by named.job_id, named.key
"""
WRITE_EMBEDDINGS_SQL = """
update job_titles as kept set embedding = made.embedding::public.vector, embedding_model = %s
from unnest(%s::uuid[], %s::text[], %s::text[]) as made (job_id, key, embedding)
where kept.job_id = made.job_id and kept.key = made.key
"""


async def embed_job_titles(database: TenantDatabase, rows: Sequence[CatalogRow], embedder: Embedder) -> int:
    """Embed the titles of these jobs that have no embedding by this model. Returns how many texts were embedded."""
    async with database.transaction() as connection:
        codes = [row.external_id for row in rows]
        cursor = await connection.execute(READ_OPEN_SQL, (codes, embedder.embedding_model))
        open_titles = await cursor.fetchall()
    for start in range(0, len(open_titles), TITLES_PER_STATEMENT):
        some = open_titles[start : start + TITLES_PER_STATEMENT]
        vectors = await embed_texts(embedder, [title["title"] for title in some])
        keys = [title["job_id"] for title in some], [title["key"] for title in some]
        async with database.transaction() as connection:
            await connection.execute(WRITE_EMBEDDINGS_SQL, (embedder.embedding_model, *keys, vectors))
    return len(open_titles)
