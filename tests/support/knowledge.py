"""Knowledge of a test's tenant: rows as a refresh leaves them, and a company's own web site behind real HTTP."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit
from uuid import UUID, uuid4

from local.offline_model.wire.server import HttpReply, HttpRequest, serve
from oria_runtime.db.pool import TenantDatabase

INSERT_SOURCE_SQL = """
insert into knowledge_sources (tenant_id, name, kind, location, origins, path_prefixes, max_depth, max_documents,
    cadence_seconds, status, created_by)
values (%s, %s, %s, %s, %s, %s, %s, 100, 86400, %s, 'admin') returning id
"""
INSERT_DOCUMENT_SQL = """
insert into knowledge_documents (id, tenant_id, source_id, location, title, language, media_type, status)
values (%s, %s, %s, %s, %s, 'en', 'text/html', 'indexed')
"""
INSERT_CHUNK_SQL = """
insert into knowledge_chunks (id, tenant_id, document_id, ordinal, path, anchor, content, language)
values (%s, %s, %s, %s, %s, %s, %s, 'en')
"""


TYPES = {"pdf": "application/pdf", "md": "text/markdown", "txt": "text/plain"}


async def add_source(
    database: TenantDatabase,
    location: str | None = None,
    *,
    kind: str = "web",
    name: str = "Handbook",
    depth: int = 2,
    prefixes: Sequence[str] = ("/",),
    status: str = "active",
) -> UUID:
    """A source; without a location an upload, which has no pages to read live."""
    parts = urlsplit(location or "")
    origins = [f"{parts.scheme}://{parts.netloc}"] if location else []
    values = (
        database.tenant_id, name, kind if location else "upload", location, origins, list(prefixes), depth, status,
    )  # fmt: skip
    async with database.transaction() as connection:
        row = await (await connection.execute(INSERT_SOURCE_SQL, values)).fetchone()
    assert row is not None
    source_id: UUID = row["id"]
    return source_id


async def add_document(
    database: TenantDatabase,
    source_id: UUID,
    *texts: str,
    title: str = "Remote work",
    location: str = "https://handbook.example/remote",
    heading: str = "Days",
    anchor: str | None = "days",
) -> None:
    """An indexed document whose chunks are no neighbours of each other."""
    document_id = uuid4()
    async with database.transaction() as connection:
        values = (document_id, database.tenant_id, source_id, location, title)
        await connection.execute(INSERT_DOCUMENT_SQL, values)
        for number, text in enumerate(texts):
            chunk = (uuid4(), database.tenant_id, document_id, number * 10, [title, heading], anchor, text)
            await connection.execute(INSERT_CHUNK_SQL, chunk)


async def add_knowledge(database: TenantDatabase, *texts: str, **document: str) -> UUID:
    """An uploaded source with one document: knowledge without any page."""
    source_id = await add_source(database, name=f"Upload {uuid4().hex}")
    await add_document(database, source_id, *texts, **document)
    return source_id


@dataclass
class Site:
    """A web site. A page is HTML, or a status; `asked` are the paths in the order of their requests."""

    pages: dict[str, str | int] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    url: str = ""
    redirects: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0

    async def answer(self, request: HttpRequest) -> HttpReply:
        path = request.path.partition("?")[0]
        self.asked.append(path)
        await asyncio.sleep(self.seconds)
        if path in self.redirects:
            return HttpReply(302, b"", headers={"location": self.redirects[path]})
        page = self.pages.get(path, 404)
        if isinstance(page, int):
            return HttpReply(page, b"", "text/html")
        return HttpReply(200, page.encode(), TYPES.get(path.rpartition(".")[2], "text/html; charset=utf-8"))


def write_page(title: str, body: str) -> str:
    """An HTML page with its title as heading."""
    main = f"<main><h1>{title}</h1>{body}</main>"
    return f"<!doctype html><html><head><title>{title}</title></head><body>{main}</body></html>"


def write_links(links: Mapping[str, str]) -> str:
    """A list of links by path."""
    items = "".join(f'<li>About {text}: <a href="{path}">{text}</a></li>' for path, text in links.items())
    return f"<ul>{items}</ul>"


@asynccontextmanager
async def serve_site(pages: Mapping[str, str | int]) -> AsyncIterator[Site]:
    """A site on loopback in the running event loop."""
    site = Site(dict(pages))
    async with serve(site.answer) as url:
        site.url = url
        yield site
