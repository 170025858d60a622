"""What a worker has in its hands while it refreshes a source."""

import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from functools import cached_property
from uuid import UUID

from oria_runtime.db.pool import Connection, TenantDatabase
from oria_runtime.knowledge.chunking import Draft, embedded_text
from oria_runtime.knowledge.documents import Document, Version, find_documents, record_aliases
from oria_runtime.knowledge.fetching.policy import Fetched
from oria_runtime.knowledge.refresh.embedding import Embedder, Models
from oria_runtime.knowledge.refresh.lease import Claim, fenced
from oria_runtime.knowledge.refresh.limits import RENEW_SECONDS, TEXTS_PER_CALL, WAITING_SECONDS
from oria_runtime.knowledge.refresh.places import Place
from oria_runtime.knowledge.refresh.visits import Visit, add_visits, finish_visits


@dataclass(frozen=True)
class Arrival:
    """Where a visit led."""

    visit: Visit
    fetched: Fetched

    @cached_property
    def spellings(self) -> list[str]:
        """The locations on the way, each once: the visited one, what redirected, and what answered."""
        return list(dict.fromkeys([self.visit.location, *self.fetched.hops, self.fetched.location]))


@dataclass(frozen=True)
class Prepared:
    """A version that is read and not yet embedded; `drafts` are its chunks, `stored` the document before it."""

    arrival: Arrival
    version: Version
    drafts: Sequence[Draft]
    stored: Document | None

    @property
    def is_retitled(self) -> bool:
        """Whether vectors of the same chunks, if there are any, were made with another title."""
        return self.stored is None or self.stored.title != self.version.title

    def texts(self) -> dict[UUID, str]:
        """What is embedded of each chunk."""
        pairs = zip(self.version.chunks, self.drafts, strict=True)
        return {chunk.id: embedded_text(self.version.title, draft) for chunk, draft in pairs}


@dataclass
class Work:
    """One claimed refresh. `done` are the locations that were visited, by this worker or one before it; those of
    `waiting`, too, which is written next. `known` are the documents of the visits that are taken. `away` are
    indexes whose model did not answer: it is not asked again in this invocation."""

    database: TenantDatabase
    claim: Claim
    place: Place
    models: Models
    done: set[str] = field(default_factory=set)
    embedders: dict[UUID, Embedder] = field(default_factory=dict)
    away: set[UUID] = field(default_factory=set)
    known: Mapping[str, Document] = field(default_factory=dict)
    waiting: list[Prepared] = field(default_factory=list)
    waiting_since: float = 0.0
    renewed_at: float = 0.0

    def wait_for(self, prepared: Prepared) -> None:
        """Have a version embedded and written with others."""
        if not self.waiting:
            self.waiting_since = time.monotonic()
        self.waiting.append(prepared)
        self.done.update([*prepared.arrival.spellings, prepared.version.location])

    @property
    def is_full(self) -> bool:
        """Whether what waits fills a call of the embedding model, or has waited for long."""
        chunks = sum(len(each.version.chunks) for each in self.waiting)
        return chunks >= TEXTS_PER_CALL or bool(
            self.waiting and time.monotonic() - self.waiting_since > WAITING_SECONDS
        )

    def write(self, added: Mapping[str, int] | None = None) -> AbstractAsyncContextManager[Connection]:
        """A transaction under the lease; `added` are counts of the refresh that are written with it."""
        self.renewed_at = time.monotonic()
        return fenced(self.database, self.claim, added)

    async def renew(self) -> None:
        """Keep the lease. Raises LeaseLostError."""
        async with self.write():
            pass

    async def keep(self) -> None:
        """Renew the lease unless that was just done: a document may take most of its time. Raises LeaseLostError."""
        if time.monotonic() - self.renewed_at > RENEW_SECONDS:
            await self.renew()

    async def find(self, location: str) -> Document | None:
        """The document at a location, or behind it."""
        async with self.database.transaction() as connection:
            return (await find_documents(connection, self.claim.key.source_id, [location])).get(location)

    async def finish(
        self, connection: Connection, arrival: Arrival, document_id: UUID | None, location: str, links: Sequence[str]
    ) -> None:
        """End a visit: what it came by leads to the document at `location`, if there is one, and its links are met."""
        key, visit = self.claim.key, arrival.visit
        await finish_visits(connection, key.refresh_id, [*arrival.spellings, location], visit.depth)
        if document_id is not None:
            await record_aliases(connection, key, document_id, location, arrival.spellings)
        await self.follow(connection, visit, links)

    async def follow(self, connection: Connection, visit: Visit, links: Sequence[str]) -> None:
        """Visit what a document links to, within the source's depth, scope and number of documents."""
        claim = self.claim
        if visit.depth < claim.max_depth:
            met = [(link, None) for link in links if claim.scope.admits(link)]
            await add_visits(connection, claim.key.refresh_id, met, depth=visit.depth + 1, most=claim.max_documents)
