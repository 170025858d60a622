"""`make import`: runs the catalog's importer on the database of a local cloud, whether the cloud runs or not.

Arguments are the importer's own (`python -m oria_runtime.catalog.importer --help`), and `--data` for the folder.
DATABASE_URL set: the URL of an application role, and nothing is started.
"""

import argparse
import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import UUID

from psycopg import AsyncConnection

from local.cloud.configuration import Configuration
from local.cloud.data_folder import DataFolder, DataInUseError
from local.cloud.database import Database, DatabaseUrls
from local.cloud.logs import LogFiles
from local.cloud.model_server import ModelServer
from local.cloud.options import ROOT, CloudOptions
from local.cloud.running_file import RunningFile
from local.cloud.tenants import Tenants

LIST_TENANTS_SQL = "select slug, id from oria.tenants"


async def run(data: Path, arguments: Sequence[str]) -> int:
    """Run the importer; its exit status."""
    options = CloudOptions(data=data)
    async with open_services(options) as configuration:
        urls = configuration.database_urls
        environ = {**os.environ, **configuration.model_environment()}
        if urls is not None:
            environ["DATABASE_URL"] = urls.app
        status = await _import(arguments, environ)
        if urls is not None:
            await record_tenants(urls.owner, Tenants(data))
        return status


@asynccontextmanager
async def open_services(options: CloudOptions) -> AsyncIterator[Configuration]:
    """The database and the model of the running cloud, or ones started for this command."""
    if options.user.get("DATABASE_URL"):
        yield Configuration(options, "", None, "")
        return
    folder = DataFolder(options.data)
    try:
        folder.lock()
    except DataInUseError:
        running = RunningFile.read(folder.path)
        if running is None:
            raise
        yield Configuration(options, running.url, DatabaseUrls(running.owner_url, running.app_url), running.model_url)
        return
    try:
        async with _start_services(options) as configuration:
            yield configuration
    finally:
        folder.unlock()


@asynccontextmanager
async def _start_services(options: CloudOptions) -> AsyncIterator[Configuration]:
    database, model = Database(options), ModelServer(options, LogFiles(options.data / "logs"))
    try:
        if options.needs_offline_model:
            await model.start()
        yield Configuration(options, "", await database.start(), model.url)
    finally:
        await model.close()
        await database.stop()


async def record_tenants(owner_url: str, tenants: Tenants) -> None:
    """Note the slugs of the tenants that there are, for `make token`."""
    async with await AsyncConnection.connect(owner_url) as connection:
        cursor = await connection.execute(LIST_TENANTS_SQL)
        for slug, tenant_id in await cursor.fetchall():
            tenants.write(slug, UUID(str(tenant_id)))


async def _import(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    command = [sys.executable, "-m", "oria_runtime.catalog.importer", *arguments]
    search_path = os.pathsep.join([str(ROOT), str(ROOT / "layers/runtime")])
    process = await asyncio.create_subprocess_exec(*command, env={**environ, "PYTHONPATH": search_path})
    try:
        return await process.wait()
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m local.cloud.importing", description=__doc__, add_help=False)
    parser.add_argument("--data", type=Path, default=Path(".local"))
    parsed, arguments = parser.parse_known_args()
    try:
        return asyncio.run(run(parsed.data, arguments))
    except DataInUseError as error:
        print(f"{error}; stop it or choose another folder: make import DATA=<folder>", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
