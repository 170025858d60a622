"""An administrator of a tenant's knowledge, over the HTTP API of a running cloud."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx2

POLL_SECONDS = 0.25
# A cold start on a busy machine; a message that got lost is found by the schedule later than that.
START_SECONDS = 90.0
DEPTH = 2

Json = dict[str, Any]


class KnowledgeError(Exception):
    """The cloud did not do what was asked; the text says what a person can do."""


@dataclass(frozen=True)
class KnowledgeAdmin:
    """Sources of one tenant. `client` has the API's address and the token of an administrator."""

    client: httpx2.AsyncClient

    async def disable_others(self, name: str, location: str) -> list[str]:
        """Disable the sources of other names at a place, where their documents are not served any more; their names.

        Raises KnowledgeError.
        """
        disabled = []
        for other in (await self._call("GET", "/sources"))["items"]:
            if other["name"] != name and other["location"] == location and other["status"] == "active":
                await self.disable(other["id"])
                disabled.append(str(other["name"]))
        return disabled

    async def register(self, name: str, location: str, documents: int) -> Json:
        """The source of this name, for pages found from `location`, due to be refreshed; created when there is none.

        One of this name at another place is deleted. Raises KnowledgeError.
        """
        sources = (await self._call("GET", "/sources"))["items"]
        for source in sources:
            if source["name"] == name and source["location"] == location:
                change = {"status": "active", "max_documents": max(documents, source["max_documents"])}
                if any(source[field] != value for field, value in change.items()):
                    await self._call("PATCH", f"/sources/{source['id']}", change)
                return await self._call("POST", f"/sources/{source['id']}/refresh")
            if source["name"] == name:
                await self._call("DELETE", f"/sources/{source['id']}")
        body = {"name": name, "kind": "web", "location": location, "max_depth": DEPTH, "max_documents": documents}
        return await self._call("POST", "/sources", body)

    async def disable(self, source_id: str) -> None:
        """Neither refresh nor find it any more. Raises KnowledgeError."""
        await self._call("PATCH", f"/sources/{source_id}", {"status": "disabled"})

    async def refresh(self, source: Mapping[str, Any], show: Callable[[Mapping[str, int], float], None]) -> Json:
        """Follow the source's next refresh to its end; returns the source then.

        `source` is as it was read when the refresh was asked for. `show` is told counts and seconds, again and again.
        Raises KnowledgeError when no refresh begins.
        """
        before, started = source["last_refresh"], time.perf_counter()
        known = None if before is None or before["status"] == "running" else before["id"]
        while True:
            found = await self._call("GET", f"/sources/{source['id']}")
            last, seconds = found["last_refresh"], time.perf_counter() - started
            begun = last is not None and last["id"] != known
            show(last["counts"] if begun else {}, seconds)
            if begun and last["status"] != "running":
                return found
            if not begun and seconds > START_SECONDS:
                raise KnowledgeError(f"no refresh began within {START_SECONDS:.0f} seconds; the cloud's logs say why")
            await asyncio.sleep(POLL_SECONDS)

    async def list_documents(self, source_id: str) -> AsyncIterator[Json]:
        """The documents of a source, by location."""
        after: str | None = ""
        while after is not None:
            page = await self._call("GET", f"/sources/{source_id}/documents" + (f"?after={after}" if after else ""))
            for document in page["items"]:
                yield document
            after = page["next_cursor"]

    async def _call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Json:
        try:
            response = await self.client.request(method, f"/v1/knowledge{path}", json=body)
        except httpx2.TransportError as error:
            raise KnowledgeError(f"the cloud at {self.client.base_url} does not answer: {error}") from error
        if response.is_error:
            raise KnowledgeError(f"the cloud answers {response.status_code} to {method} {path}: {response.text}")
        return dict(response.json()) if response.content else {}
