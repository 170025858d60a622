"""The embedded Postgres: started, restarted, stopped, and never left behind."""

import asyncio
import sys
from pathlib import Path

from psycopg import AsyncConnection

from local.cloud.database import Database
from local.cloud.options import ROOT, CloudOptions
from local.cloud.postgres import EmbeddedPostgres
from tests.integration.cloud.notes import wait_for

KEEP_RUNNING = """
import asyncio, sys
from pathlib import Path
from local.cloud.postgres import EmbeddedPostgres

async def main():
    await EmbeddedPostgres(Path(sys.argv[1]), throwaway=True).start()
    print("started", flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


async def test_the_application_role_is_no_superuser_and_a_restart_keeps_the_url(tmp_path: Path) -> None:
    database = Database(CloudOptions(data=tmp_path, throwaway=True))
    try:
        urls = await database.start()
        assert database.embedded is not None
        before = database.embedded.pid
        await database.embedded.restart()

        assert database.embedded.pid != before
        async with await AsyncConnection.connect(urls.app) as connection:
            cursor = await connection.execute("select rolname, rolsuper from pg_roles where rolname = current_user")
            assert await cursor.fetchone() == ("oria_app", False)
    finally:
        await database.stop()
    assert database.embedded.pid is None


async def test_an_open_session_does_not_keep_the_server_up(tmp_path: Path) -> None:
    server = EmbeddedPostgres(tmp_path / "postgres", throwaway=True)
    await server.start()
    connection = await AsyncConnection.connect(server.url)
    await connection.execute("select 1")
    async with asyncio.timeout(6):
        await server.stop()
    await connection.close()
    assert server.pid is None


async def test_a_killed_program_leaves_no_server_and_the_next_one_uses_its_data(tmp_path: Path) -> None:
    folder = tmp_path / "postgres"
    command = [sys.executable, "-c", KEEP_RUNNING, str(folder)]
    program = await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdout=asyncio.subprocess.PIPE)
    assert program.stdout is not None
    assert await program.stdout.readline() == b"started\n"
    program.kill()
    await program.wait()

    server = EmbeddedPostgres(folder, throwaway=True)
    await wait_for(lambda: server.pid is None)
    await server.start()
    await server.stop()
