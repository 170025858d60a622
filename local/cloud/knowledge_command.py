"""`make knowledge`: a folder of documents becomes what the assistants of a running local cloud know.

The folder is served on this machine as long as the command runs, and registered as a source of the tenant's knowledge.
Called again, it refreshes the same source: only what changed is read again.
"""

import argparse
import asyncio
import contextlib
import signal
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2

from local.cloud.folder import MEDIA_TYPES, Folder
from local.cloud.folder_server import FolderServer
from local.cloud.http_server import PortInUseError
from local.cloud.issuer import Issuer
from local.cloud.knowledge_admin import Json, KnowledgeAdmin, KnowledgeError
from local.cloud.knowledge_report import Progress, describe_result
from local.cloud.running_file import RunningFile
from local.cloud.tenants import Tenants, UnknownTenantError
from local.sample_tenant.load import HANDBOOK, SLUG

PORT = 8090
# The entry page, beside the documents that it links to.
ENTRY_DOCUMENTS = 1
MOST_DOCUMENTS = 9_999
REQUEST_SECONDS = 30.0
# Who the sources are created by; a user of this name need not exist.
ADMINISTRATOR = "make-knowledge"
HANDBOOK_QUESTION = "How many days of annual leave do I have?"


@dataclass(frozen=True)
class Order:
    """What the command line asks for."""

    folder: Path
    port: int
    data: Path
    tenant: str | None
    name: str
    once: bool


def parse_arguments(arguments: Sequence[str]) -> Order:
    """The order of a command line."""
    parser = argparse.ArgumentParser(
        prog="python -m local.cloud.knowledge_command",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=f"Read are {', '.join(MEDIA_TYPES)}; hidden files and links out of the folder are not.",
    )
    parser.add_argument("--folder", type=Path, default=HANDBOOK, help="the documents (the sample tenant's handbook)")
    parser.add_argument("--port", type=int, default=PORT, help=f"where the folder is served ({PORT})")
    parser.add_argument("--data", type=Path, default=Path(".local"), help="the running cloud's data folder (.local)")
    parser.add_argument("--tenant", default=None, help=f"a tenant's id, or the slug of one loaded here ({SLUG})")
    parser.add_argument("--name", default=None, help="the source's name (the folder's name and that of the one above)")
    parser.add_argument("--once", action="store_true", help="return after the refresh instead of serving on")
    parsed = parser.parse_args(arguments)
    folder = parsed.folder.expanduser().resolve()
    name = parsed.name or "/".join(folder.parts[-2:]).lstrip("/")
    return Order(folder, parsed.port, parsed.data, parsed.tenant, name, parsed.once)


def check_folder(path: Path) -> int:
    """How many documents the folder has. Raises KnowledgeError when it is none, has none, or too many."""
    if not path.is_dir():
        raise KnowledgeError(f"there is no folder {path}; name one: make knowledge FOLDER=<folder>")
    count = len(Folder(path).list_documents())
    if not 0 < count <= MOST_DOCUMENTS:
        problem = (
            f"no document in {path}" if count == 0 else f"{count} documents in {path}, more than a source may have"
        )
        raise KnowledgeError(f"{problem}; read are {', '.join(MEDIA_TYPES)}")
    return count


async def find_cloud(data: Path) -> str:
    """The address of the cloud that runs on a data folder. Raises KnowledgeError when none does."""
    hint = "start it in another terminal: make run" + ("" if data == Path(".local") else f" DATA={data}")
    running = RunningFile.read(data)
    if running is None:
        raise KnowledgeError(f"no local cloud runs on {data}; {hint}")
    try:
        async with httpx2.AsyncClient(trust_env=False, timeout=REQUEST_SECONDS) as client:
            (await client.get(f"{running.url}/v1/health")).raise_for_status()
    except httpx2.HTTPError as error:
        raise KnowledgeError(f"the local cloud at {running.url} does not answer ({error}); {hint}") from error
    return running.url


@asynccontextmanager
async def open_admin(url: str, token: str) -> AsyncIterator[KnowledgeAdmin]:
    """An administrator at a cloud's API."""
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(base_url=url, headers=headers, timeout=REQUEST_SECONDS, trust_env=False) as client:
        yield KnowledgeAdmin(client)


async def register_folder(
    admin: KnowledgeAdmin, server: FolderServer, name: str, say: Callable[[str], None] = print
) -> Json:
    """Make a served folder a source and refresh it; the source when that has ended. Raises KnowledgeError."""
    count = await asyncio.to_thread(check_folder, server.folder.path)
    others = await asyncio.to_thread(server.folder.count_others)
    ignored = f"; passed over: {', '.join(f'{number} {end}' for end, number in others.items())}" if others else ""
    say(f"{count} documents in {server.folder.path}{ignored}")
    for disabled in await admin.disable_others(name, f"{server.url}/"):
        say(f"source {disabled} is disabled: its folder was served at the same address")
    source = await admin.register(name, f"{server.url}/", count + ENTRY_DOCUMENTS)
    say(f"source {name}, served at {server.url}")
    before = server.documents_sent
    progress = Progress(count, lambda: server.documents_sent - before)
    try:
        refreshed = await admin.refresh(source, progress.show)
    finally:
        progress.end()
    say(describe_result(refreshed, [document async for document in admin.list_documents(source["id"])]))
    return refreshed


async def run(order: Order) -> int:
    """Serve, register, refresh, and serve on; the exit status."""
    check_folder(order.folder)
    server = FolderServer(order.folder, port=order.port)
    try:
        url = await find_cloud(order.data)
        token = Issuer(order.data).sign(ADMINISTRATOR, Tenants(order.data).find(order.tenant), scope="admin")
        await server.start()
        async with open_admin(url, token) as admin:
            source = await register_folder(admin, server, order.name)
        if source["last_refresh"]["status"] != "completed":
            return 1
        print(describe_question(order, url, server.folder), flush=True)
        if not order.once:
            print(f"\nserving {server.url} until Ctrl-C; the assistants know it afterwards, too", flush=True)
            await asyncio.Event().wait()
        return 0
    finally:
        await server.close()


def describe_question(order: Order, url: str, folder: Folder) -> str:
    """An example of what can be asked now, to be pasted into another terminal."""
    question = HANDBOOK_QUESTION
    if folder.path != HANDBOOK.resolve():
        names = folder.list_documents()
        # A README or a LICENSE says nothing that one would ask.
        named = next((name for name in names if not name.stem.isupper()), names[0])
        question = f"What are our rules on {folder.read_title(named)}?".replace('"', "").replace("'", "’")
    tenant = f" TENANT={order.tenant}" if order.tenant else ""
    data = "" if order.data == Path(".local") else f" DATA={order.data}"
    return (
        "\nask Career Chat, in another terminal:\n\n"
        f"TOKEN=$(make -s token{tenant}{data})\n"
        f"""curl -s {url}/v1/chat -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\\n"""
        f"""     -H 'Prefer: wait=25' -d '{{"assistant": "oria", "message": "{question}"}}'"""
    )


async def run_until_signal(order: Order) -> int:
    """Run until it is done, or a signal comes."""
    task = asyncio.ensure_future(run(order))
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        return await task
    print("\nstopped", flush=True)
    return 0


def main(arguments: Sequence[str]) -> int:
    order = parse_arguments(arguments)
    try:
        return asyncio.run(run_until_signal(order))
    except PortInUseError as error:
        print(
            f"{error}; is `make knowledge` running already? Another port: make knowledge PORT=<port>", file=sys.stderr
        )
    except (KnowledgeError, UnknownTenantError) as error:
        print(error, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
