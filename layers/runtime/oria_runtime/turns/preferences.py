"""A person's long-term memory: one list of preferences in LangGraph's store, with a version of ours beside it.

The list is the value under `(tenant, "preferences")` and the user's id, so any store client can read it. It is read and
written by SQL here, because the API shows and edits it and never imports LangGraph.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.types.json import Jsonb

from oria_runtime.db.pool import Connection, TenantDatabase
from oria_runtime.db.text import clean_json
from oria_runtime.errors import ConflictError

READ_PREFERENCES_SQL = """
select coalesce(v.version, 0) as version, v.turn_created_at, s.value
from (select %(prefix)s as prefix, %(user)s as key) as wanted
left join preference_versions v on v.tenant_id = %(tenant)s and v.user_id = wanted.key
left join store s on s.prefix = wanted.prefix and s.key = wanted.key
"""
# Compare and swap. An older turn than the stored one is dropped; an edit by the person has no turn.
BUMP_VERSION_SQL = """
insert into preference_versions (tenant_id, user_id, version, turn_created_at)
values (%(tenant)s, %(user)s, 1, %(turn_created_at)s)
on conflict (tenant_id, user_id) do update set version = preference_versions.version + 1,
    turn_created_at = coalesce(excluded.turn_created_at, preference_versions.turn_created_at)
where (%(expected)s::int is null or preference_versions.version = %(expected)s)
    and (%(turn_created_at)s::timestamptz is null or preference_versions.turn_created_at is null
        or preference_versions.turn_created_at <= %(turn_created_at)s)
returning version
"""
WRITE_LIST_SQL = """
insert into store (prefix, key, value, created_at, updated_at) values (%(prefix)s, %(user)s, %(value)s, now(), now())
on conflict (prefix, key) do update set value = excluded.value, updated_at = now()
"""
DELETE_LIST_SQL = "delete from store where prefix = %(prefix)s and key = %(user)s"


@dataclass(frozen=True)
class Preferences:
    """The whole list and its version; version 0 means that none was ever stored."""

    items: Sequence[str]
    version: int


async def read_preferences(database: TenantDatabase, user_id: str) -> Preferences:
    """The list of a person, empty when there is none."""
    async with database.transaction() as connection:
        row = await (await connection.execute(READ_PREFERENCES_SQL, _arguments(database.tenant_id, user_id))).fetchone()
    if row is None or row["value"] is None:
        return Preferences((), row["version"] if row else 0)
    return Preferences(row["value"]["items"], row["version"])


async def write_preferences(
    database: TenantDatabase,
    user_id: str,
    items: Sequence[str],
    expected_version: int | None = None,
    *,
    turn_created_at: datetime | None = None,
) -> Preferences:
    """Replace the list. Raises ConflictError when its version is another, or a newer turn wrote already."""
    async with database.transaction() as connection:
        arguments = _arguments(database.tenant_id, user_id) | {"value": Jsonb({"items": clean_json(list(items))})}
        version = await _bump(connection, arguments, expected_version, turn_created_at)
        await connection.execute(WRITE_LIST_SQL, arguments)
    return Preferences(tuple(items), version)


async def delete_preferences(database: TenantDatabase, user_id: str) -> None:
    """Forget everything. The version goes up, so that an update that began before cannot bring the list back."""
    async with database.transaction() as connection:
        arguments = _arguments(database.tenant_id, user_id)
        await _bump(connection, arguments, None, None)
        await connection.execute(DELETE_LIST_SQL, arguments)


async def _bump(
    connection: Connection, arguments: dict[str, object], expected: int | None, turn_created_at: datetime | None
) -> int:
    values = arguments | {"expected": expected, "turn_created_at": turn_created_at}
    row = await (await connection.execute(BUMP_VERSION_SQL, values)).fetchone()
    if row is None or (expected not in (None, 0) and row["version"] == 1):
        raise ConflictError("the preferences changed meanwhile")
    version: int = row["version"]
    return version


def _arguments(tenant_id: UUID, user_id: str) -> dict[str, object]:
    return {"tenant": tenant_id, "user": user_id, "prefix": f"{tenant_id}.preferences"}
