"""The stored documents of a conversation. Unknown and foreign conversations look the same."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID

from psycopg.types.json import Jsonb

from oria_runtime.db.pool import Connection, TenantDatabase
from oria_runtime.documents.extraction import Extracted
from oria_runtime.documents.limits import CONVERSATION_CHARACTERS, DOCUMENTS
from oria_runtime.documents.names import find_fault, normalize_name
from oria_runtime.errors import NotFoundError, TooLargeError

# Typed as literals so that the checker sees that nothing of a request is ever part of a statement.
COLUMNS: LiteralString = """document.name, document.media_type, document.bytes, document.pages, document.characters,
    document.title, document.warnings, document.upload_id, document.created_at, document.updated_at"""
# The owner is in every statement: a conversation's id may have been chosen by a model.
OWNED_SQL: LiteralString = """
from documents document join conversations on conversations.id = document.conversation_id
where document.tenant_id = %(tenant)s and document.conversation_id = %(conversation)s
    and conversations.tenant_id = %(tenant)s and conversations.user_id = %(user)s
"""
OLDEST_FIRST: LiteralString = " order by document.created_at, document.name"
OWNS_SQL: LiteralString = """
select from conversations where id = %(conversation)s and user_id = %(user)s and tenant_id = %(tenant)s
"""
# `no key update` lets a stage insert its turns and messages meanwhile; two uploads wait for each other.
LOCK_SQL: LiteralString = OWNS_SQL + "for no key update"
LIST_SQL: LiteralString = "select " + COLUMNS + OWNED_SQL + OLDEST_FIRST
READ_SQL: LiteralString = "select document.content, " + COLUMNS + OWNED_SQL + "and document.name = %(name)s"
NAMES_SQL: LiteralString = "select document.name" + OWNED_SQL + OLDEST_FIRST
OTHERS_SQL: LiteralString = """
select count(*) as documents, coalesce(sum(characters), 0) as characters from documents
where tenant_id = %(tenant)s and conversation_id = %(conversation)s and name <> %(name)s
"""
STORE_SQL: LiteralString = (
    """
insert into documents as document (tenant_id, conversation_id, name, media_type, bytes, pages, characters, title,
    warnings, content, upload_id)
values (%(tenant)s, %(conversation)s, %(name)s, %(media_type)s, %(bytes)s, %(pages)s, %(characters)s, %(title)s,
    %(warnings)s, %(content)s, %(upload)s)
on conflict (conversation_id, name) do update set media_type = excluded.media_type, bytes = excluded.bytes,
    pages = excluded.pages, characters = excluded.characters, title = excluded.title, warnings = excluded.warnings,
    content = excluded.content, upload_id = excluded.upload_id, updated_at = now()
returning xmax = 0 as created, """
    + COLUMNS
)
DELETE_SQL: LiteralString = """
delete from documents document using conversations
where conversations.id = document.conversation_id and document.tenant_id = %(tenant)s
    and document.conversation_id = %(conversation)s and conversations.user_id = %(user)s
    and document.name = %(name)s
returning document.id
"""


@dataclass(frozen=True)
class Document:
    """What is known of a document; `text` is only read with a single one. Sizes are in bytes and characters."""

    name: str
    media_type: str
    bytes: int
    pages: int | None
    characters: int
    title: str | None
    warnings: Sequence[Mapping[str, Any]]
    created_at: datetime
    updated_at: datetime
    upload_id: UUID | None = None
    text: str | None = None


@dataclass(frozen=True)
class Place:
    """A conversation of a person: the scope of every query here."""

    database: TenantDatabase
    user_id: str
    conversation_id: UUID

    def arguments(self, **further: object) -> dict[str, object]:
        scope = {"tenant": self.database.tenant_id, "user": self.user_id, "conversation": self.conversation_id}
        return scope | further


async def check_place(place: Place) -> None:
    """Raises NotFoundError when the person has no such conversation."""
    async with place.database.transaction() as connection:
        await _find_place(connection, place, OWNS_SQL)


async def store_document(
    place: Place, name: str, extracted: Extracted, *, size: int, upload_id: UUID | None = None
) -> tuple[Document, bool]:
    """Store a document under a checked name, in place of one that has it; and whether it is a new one.

    Raises NotFoundError, TooLargeError when the conversation would hold too much.
    """
    async with place.database.transaction() as connection:
        await _find_place(connection, place, LOCK_SQL)
        await _check_room(connection, place, name, len(extracted.text))
        values = place.arguments(
            name=name,
            media_type=extracted.media_type,
            bytes=size,
            pages=extracted.pages,
            characters=len(extracted.text),
            title=extracted.title,
            warnings=Jsonb(list(extracted.warnings)),
            content=extracted.text,
            upload=upload_id,
        )
        row = await (await connection.execute(STORE_SQL, values)).fetchone()
    if row is None:
        raise NotFoundError("There is no such conversation.")
    return _from_row(row), row["created"]


async def list_documents(place: Place) -> list[Document]:
    """The conversation's documents without their texts, the oldest first. Raises NotFoundError."""
    async with place.database.transaction() as connection:
        await _find_place(connection, place, OWNS_SQL)
        rows = await (await connection.execute(LIST_SQL, place.arguments())).fetchall()
    return [_from_row(row) for row in rows]


async def find_document(place: Place, name: str) -> Document | None:
    """A document with its text, or None; whether the name or the conversation is unknown cannot be told."""
    name = normalize_name(name)
    if find_fault(name):
        return None
    async with place.database.transaction() as connection:
        cursor = await connection.execute(READ_SQL, place.arguments(name=name))
        row = await cursor.fetchone()
    return _from_row(row) if row else None


async def read_document(place: Place, name: str) -> Document:
    """A document with its text. Raises NotFoundError."""
    document = await find_document(place, name)
    if document is None:
        raise NotFoundError("There is no such document.")
    return document


async def list_names(connection: Connection, place: Place) -> list[str]:
    """The names of the conversation's documents, the oldest first; none where it is not the person's."""
    return [row["name"] for row in await (await connection.execute(NAMES_SQL, place.arguments())).fetchall()]


async def delete_document(place: Place, name: str) -> None:
    """Raises NotFoundError."""
    name = normalize_name(name)
    async with place.database.transaction() as connection:
        # No stored name has a fault, and Postgres refuses to compare with some of them.
        if find_fault(name) or not await _delete(connection, place, name):
            raise NotFoundError("There is no such document.")


async def _delete(connection: Connection, place: Place, name: str) -> bool:
    return await (await connection.execute(DELETE_SQL, place.arguments(name=name))).fetchone() is not None


async def _find_place(connection: Connection, place: Place, statement: LiteralString) -> None:
    cursor = await connection.execute(statement, place.arguments())
    if await cursor.fetchone() is None:
        raise NotFoundError("There is no such conversation.")


async def _check_room(connection: Connection, place: Place, name: str, characters: int) -> None:
    row = await (await connection.execute(OTHERS_SQL, place.arguments(name=name))).fetchone()
    others = row or {"documents": 0, "characters": 0}
    if others["documents"] >= DOCUMENTS:
        raise TooLargeError(f"The conversation has {DOCUMENTS} documents, which is the most it takes.")
    if others["characters"] + characters > CONVERSATION_CHARACTERS:
        raise TooLargeError(f"The conversation's documents would have more than {CONVERSATION_CHARACTERS} characters.")


def _from_row(row: Mapping[str, Any]) -> Document:
    fields = {name: row[name] for name in Document.__dataclass_fields__ if name in row}
    return Document(**fields, text=row.get("content"))
