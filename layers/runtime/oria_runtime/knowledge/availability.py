"""Whether a tenant has knowledge at all: what decides if Career Chat may hand over to the Knowledge Base.

No model, no embedding, one query (seeds/oria_orchestration.md): pages are fetched after a handover only.
"""

from oria_runtime.db.pool import Connection

# Documents first and then one chunk of each, until there is one: a look into the index of chunks costs the same however
# many there are. A document that is gone has no chunks for anybody.
HAS_KNOWLEDGE_SQL = """
select exists (
    select from knowledge_sources as source
    where source.status = 'active' and (source.kind = 'web' or exists (
        select from knowledge_documents as document
        where document.source_id = source.id and document.status <> 'gone' and exists (
            select from knowledge_chunks as chunk where chunk.document_id = document.id)))
) as found
"""


async def has_knowledge(connection: Connection) -> bool:
    """Whether the tenant of the transaction has a chunk of an active source, or an active web source."""
    row = await (await connection.execute(HAS_KNOWLEDGE_SQL)).fetchone()
    return row is not None and bool(row["found"])
