"""Rows of the training catalog for tests: written one by one, with vectors whose distances are known."""

from collections.abc import Sequence
from math import cos, sin
from typing import Any
from uuid import UUID, uuid4

from oria_runtime.db.pool import TenantDatabase

INSERT_TRAINING_SQL = """
insert into trainings (id, tenant_id, external_id, language, title, description, provider, duration_minutes, level,
                       format, keywords, content_hash, embedding, embedding_model)
values (%(row_id)s, %(tenant)s, %(id)s, %(language)s, %(title)s, %(description)s, %(provider)s, %(duration_minutes)s,
        %(level)s, %(format)s, %(keywords)s, '', %(vector)s::public.vector, %(model)s)
"""


def make_vector(angle: float) -> list[float]:
    """A unit vector of 512 dimensions; the cosine distance of two grows with the difference of their angles."""
    return [cos(angle), sin(angle), *[0.0] * 510]


async def add_training(
    database: TenantDatabase, training_id: str, *, title: str, vector: Sequence[float] | None = None, **values: Any
) -> UUID:
    """Insert a training; returns its row id."""
    unknown = dict.fromkeys(("provider", "duration_minutes", "level", "format"))
    row: dict[str, Any] = unknown | {"language": "en", "description": "", "keywords": [], "model": "test"} | values
    row_id = uuid4()
    row |= {"row_id": row_id, "tenant": database.tenant_id, "id": training_id, "title": title}
    row["vector"] = None if vector is None else str(list(vector))
    async with database.transaction() as connection:
        await connection.execute(INSERT_TRAINING_SQL, row)
    return row_id


async def link_parent(database: TenantDatabase, child: UUID, parent: UUID) -> None:
    """Make one training part of another."""
    async with database.transaction() as connection:
        await connection.execute(
            "insert into training_parents (tenant_id, training_id, parent_id) values (%s, %s, %s)",
            (database.tenant_id, child, parent),
        )
