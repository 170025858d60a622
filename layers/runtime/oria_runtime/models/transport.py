"""Connections to the providers, shared by all of their SDKs.

Connections belong to the running event loop: a sandbox has one for its whole life, so all its stages share them, and
a client used from a second loop fails on sockets of the first. The client is held by an async generator that is
suspended on it: asyncio closes such generators when it shuts a loop down (`loop.shutdown_asyncgens`), so the sockets
close with their loop and no caller has to know.
"""

import asyncio
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI

TASK_HEADER = "x-oria-task"
MAX_RETRIES = 2
# A stage ends by its own deadline; this only frees a socket that nothing else would.
READ_TIMEOUT = 170.0
CONNECT_TIMEOUT = 5.0

Holder = AsyncGenerator["httpx2.AsyncClient", None]
holders: "dict[asyncio.AbstractEventLoop, tuple[httpx2.AsyncClient, Holder]]" = {}


def open_client() -> "httpx2.AsyncClient":
    """The client of the running loop, opened on first use."""
    loop = asyncio.get_running_loop()
    if loop not in holders:
        holder = hold_client(loop)
        holders[loop] = (start(holder), holder)
    return holders[loop][0]


def hide_account(client: "AsyncOpenAI") -> None:
    """Keep OPENAI_ORG_ID and OPENAI_PROJECT_ID, which the SDK reads by itself, from servers that are not OpenAI's."""
    client.organization = None
    client.project = None


async def hold_client(loop: asyncio.AbstractEventLoop) -> Holder:
    """Yield the loop's client; closed when the loop shuts its generators down."""
    import httpx2
    from openai import DefaultAsyncHttpxClient

    client = DefaultAsyncHttpxClient(timeout=httpx2.Timeout(READ_TIMEOUT, connect=CONNECT_TIMEOUT))
    try:
        yield client
    finally:
        holders.pop(loop, None)
        await client.aclose()


def start(holder: Holder) -> "httpx2.AsyncClient":
    """Run a holder to its yield. It awaits nothing before it, so the synchronous `Models.chat` can do this."""
    try:
        holder.__anext__().send(None)
    except StopIteration as step:
        return step.value  # type: ignore[no-any-return]
    raise RuntimeError("the holder of the model client waited before its yield")
