"""Rows of the catalog, written as the importer writes them, with vectors whose distances are known."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID, uuid4

import psycopg
from psycopg import sql
from psycopg.types.json import Jsonb

from oria_runtime.catalog.fusion import Fusion
from oria_runtime.db.pool import TenantDatabase

MODEL = "test"
FUSION = Fusion(k=60, lexical_weight=1.0, vector_weight=1.0, depth=50)
INSERT_SQL = sql.SQL("insert into {table} ({columns}) values ({values})")


async def add_person(database: TenantDatabase, person_id: str, **columns: Any) -> None:
    """Insert a person; `skills` and `experiences` are sections of the profile."""
    profile = {key: columns.pop(key) for key in ("skills", "experiences") if key in columns}
    codes = [skill["code"] for skill in profile.get("skills", ())]
    await add_row(database, "people", person_id, {"profile": Jsonb(profile), "skill_codes": codes} | columns)


async def add_opportunity(database: TenantDatabase, opportunity_id: str, **columns: Any) -> None:
    """Insert an opportunity; `skills` are objects with code and label."""
    skills = columns.pop("skills", [])
    codes = [skill["code"] for skill in skills]
    await add_row(
        database,
        "opportunities",
        opportunity_id,
        {"title": opportunity_id, "skills": Jsonb(skills), "skill_codes": codes} | columns,
    )


async def add_skill(database: TenantDatabase, code: str, label: str, *alternatives: str, **columns: Any) -> None:
    """Insert a skill of the library."""
    await add_row(database, "skills", code, {"label": label, "alternative_labels": list(alternatives)} | columns)


async def add_job(
    database: TenantDatabase,
    code: str,
    title: str,
    *,
    vectors: Mapping[str, Sequence[float]] | None = None,
    **columns: Any,
) -> None:
    """Insert a job; `vectors` are those of its titles."""
    await add_row(database, "jobs", code, {"title": title} | columns)
    async with database.transaction() as connection:
        for each, vector in (vectors or {}).items():
            await connection.execute(
                "update job_titles set embedding = %s::public.vector, embedding_model = %s"
                " where title = %s and job_id = (select id from jobs where external_id = %s)",
                (str(list(vector)), MODEL, each, code),
            )


async def add_row(database: TenantDatabase, table: str, external_id: str, columns: Mapping[str, Any]) -> None:
    """Insert a row; `vector` is its embedding, of the model MODEL unless `embedding_model` says otherwise."""
    row: dict[str, Any] = {"id": uuid4(), "tenant_id": database.tenant_id, "external_id": external_id}
    row |= {"content_hash": "", **columns}
    if (vector := row.pop("vector", None)) is not None:
        row = {"embedding": str(list(vector)), "embedding_model": MODEL} | row
    query = INSERT_SQL.format(
        table=sql.Identifier(table),
        columns=sql.SQL(", ").join(map(sql.Identifier, row)),
        values=sql.SQL(", ").join(sql.Placeholder() for _ in row),
    )
    async with database.transaction() as connection:
        await connection.execute(query, list(row.values()))


def fill(url: str, table: str, tenants: Mapping[UUID, int], **columns: str) -> None:
    """Many rows, written by the server, with an HNSW index built afterwards, which is quicker than row by row.

    Values are SQL expressions in which `n` numbers a tenant's rows from 1. `angle` is that of the vector (make_vector).
    """
    angle = columns.pop("angle")
    vector = f"('[' || cos({angle}) || ',' || sin({angle}) || repeat(',0', 510) || ']')::public.vector"
    basics = {"id": "gen_random_uuid()", "external_id": "n::text", "content_hash": "''"}
    row = basics | {"embedding": vector, "embedding_model": f"'{MODEL}'"} | columns
    with psycopg.connect(url, autocommit=True, options="-c search_path=oria,public") as connection:
        connection.execute(f"drop index {table}_embedding_idx".encode())
        for tenant, count in tenants.items():
            select = f"select '{tenant}', {', '.join(row.values())} from generate_series(1, {count}) n"
            connection.execute(f"insert into {table} (tenant_id, {', '.join(row)}) {select}".encode())
        connection.execute(f"create index on {table} using hnsw (embedding vector_cosine_ops)".encode())
        connection.execute(f"vacuum analyze {table}".encode())  # empties the pending list of GIN too


def read_index_scans(url: str, table: str) -> dict[str, int]:
    """How often each index of a table has been used so far."""
    query = "select indexrelname, idx_scan from pg_stat_user_indexes where relname = %s"
    with psycopg.connect(url, autocommit=True) as connection:
        return dict(connection.execute(query, (table,)).fetchall())
