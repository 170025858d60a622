"""The local cloud: everything that the template runs on, on this machine, as one asynchronous context."""

import asyncio
import os
import random
import signal
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from types import TracebackType
from typing import Any, Self

from local.cloud.asynchronous import AsynchronousInvoker
from local.cloud.aws import AwsApi, AwsEndpoint
from local.cloud.bus import Bus
from local.cloud.configuration import Configuration
from local.cloud.data_folder import DataFolder
from local.cloud.database import Database, DatabaseUrls
from local.cloud.environment import select_user_variables
from local.cloud.function import Function, InvokeResult
from local.cloud.gateway import Gateway
from local.cloud.http_server import HttpServer
from local.cloud.issuer import Issuer
from local.cloud.logs import LogFiles
from local.cloud.model_server import ModelServer
from local.cloud.options import ROOT, CloudOptions
from local.cloud.process import Process
from local.cloud.provisioning import create_resources, create_secrets
from local.cloud.resources import Application
from local.cloud.running import RunningApplication
from local.cloud.running_file import RunningFile
from local.cloud.sandbox import Sandbox
from local.cloud.template import Template
from local.cloud.tenants import Tenants
from local.cloud.web_adapter import WebAdapter
from local.sample_tenant.load import DEMO_USER, SLUG, read_version


class SampleTenantError(Exception):
    """The sample tenant could not be loaded; the log says why."""


class LocalCloud:
    """A running application of the template.

    `async with LocalCloud(CloudOptions(data)) as cloud:` starts it and stops all of it, whatever happens inside.
    Functions are named by their logical ids of the template. `url` is the REST API's, base path included.
    """

    def __init__(self, options: CloudOptions) -> None:
        self.options = options
        self.url = ""
        self.database_urls: DatabaseUrls | None = None
        self._stack = AsyncExitStack()
        self._folder = DataFolder(options.data)
        self._database = Database(options)
        self._endpoint = AwsEndpoint()

    async def __aenter__(self) -> Self:
        started = time.perf_counter()
        try:
            await self._start()
        except BaseException:
            await self._stack.aclose()
            raise
        self.options.progress("all", time.perf_counter() - started)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    @property
    def application(self) -> Application:
        return self._running.application

    @property
    def functions(self) -> Mapping[str, Function]:
        return self._running.functions

    @property
    def adapters(self) -> Mapping[str, WebAdapter]:
        return self._running.adapters

    @property
    def bus(self) -> Bus:
        return self._running.bus

    @property
    def invoker(self) -> AsynchronousInvoker:
        return self._running.invoker

    @property
    def model_url(self) -> str:
        """The offline model's address, empty when it does not run."""
        return self._model.url

    async def invoke(self, function: str, event: Any) -> InvokeResult:
        """Invoke a function synchronously. Raises ThrottledError, PayloadTooLargeError."""
        return await self.functions[function].invoke(event)

    async def invoke_async(self, function: str, event: Any) -> None:
        """Invoke a function asynchronously: retries and destinations as configured."""
        await self.invoker.deliver(self.functions[function].spec.arn, event)

    def put_events(self, entries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """PutEvents on the local bus, without the way over HTTP."""
        return self.bus.put_events(entries)

    async def settle(self) -> None:
        """Wait until no asynchronous delivery or invocation is under way."""
        await self.invoker.tasks.join()

    def token(self, user: str = DEMO_USER, tenant: str | None = None, **claims: Any) -> str:
        """A bearer token; `tenant` is a tenant's id or slug, by default the sample tenant."""
        return self.issuer.sign(user, self._tenants.find(tenant), **claims)

    def logs(self, function: str) -> list[str]:
        """The last log lines of a function, oldest first."""
        return self._logs.read(self.application.functions[function].name)

    def workers(self, function: str | None = None, *, busy: bool | None = None) -> list[Sandbox]:
        """The living workers, of one function or of all, busy or idle ones."""
        functions = self.functions.values() if function is None else [self.functions[function]]
        workers = [worker for each in functions for worker in each.sandboxes]
        return [worker for worker in workers if busy is None or worker.busy is busy]

    def kill_worker(
        self, function: str | None = None, *, busy: bool | None = True, chance: random.Random
    ) -> int | None:
        """SIGKILL a worker as a crash would, chosen by `chance`; its process id, None when there is none to kill."""
        workers = sorted(self.workers(function, busy=busy), key=lambda worker: worker.pid)
        if not workers:
            return None
        worker = chance.choice(workers)
        worker.signal(signal.SIGKILL)
        return worker.pid

    async def restart_postgres(self) -> None:
        """Crash the embedded Postgres and start it again."""
        if self._database.embedded is None:
            raise RuntimeError("this cloud uses somebody else's database server")
        await self._database.embedded.restart()

    async def _start(self) -> None:
        self._folder.lock()
        self._stack.callback(self._folder.unlock)
        self._server = HttpServer(port=self.options.port)
        self._stack.push_async_callback(self._server.close)
        self.url = self._server.url + self.options.base_path
        data = self._folder.path
        self._logs = LogFiles(data / "logs", verbose=self.options.verbose)
        self._model = ModelServer(self.options, self._logs)
        self._tenants = Tenants(data)
        self.issuer = Issuer(data, origin=self._server.url)
        await self._start_services()
        configuration = Configuration(self.options, self._server.url, self.database_urls, self.model_url)
        await self._start_application(configuration)
        await asyncio.gather(self._load_sample_tenant(configuration), self._prewarm())
        await self._open()

    async def _start_services(self) -> None:
        for stop in (self._database.stop, self._endpoint.close, self._model.close):
            self._stack.push_async_callback(stop)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._start_aws())
                if self.options.database:
                    group.create_task(self._start_database())
                if self.options.needs_offline_model:
                    group.create_task(self._start_model())
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None

    async def _start_database(self) -> None:
        async with self._step("Postgres, migrated"):
            self.database_urls = await self._database.start()

    async def _start_aws(self) -> None:
        async with self._step("AWS APIs (moto)"):
            await self._endpoint.start()
            self.aws = AwsApi(self._endpoint.url)
            self._stack.push_async_callback(self.aws.close)

    async def _start_model(self) -> None:
        async with self._step("offline model"):
            await self._model.start()

    async def _start_application(self, configuration: Configuration) -> None:
        async with self._step("functions of the template"):
            secrets = await create_secrets(self.aws, configuration.secrets())
            parameters = configuration.parameters() | secrets | dict(self.options.parameters)
            template = Template(self.options.template, parameters)
            application = template.read(await create_resources(self.aws, template), self.options.timeouts)
            self._running = RunningApplication(application, self.aws, self.options, self._logs)
            self._stack.push_async_callback(self._running.close)
            await self._running.start()

    async def _load_sample_tenant(self, configuration: Configuration) -> None:
        urls, loaded = self.database_urls, self._folder.path / "sample_tenant.sha256"
        version = read_version()
        if not self.options.sample_tenant or urls is None or (loaded.exists() and loaded.read_text() == version):
            return
        async with self._step(f"sample tenant {SLUG}"):
            environ = {
                **select_user_variables(self.options.user),
                **configuration.model_environment(),
                "PATH": os.defpath,
                "DATABASE_URL": urls.app,
                "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "layers/runtime")]),
            }
            command = [sys.executable, "-m", "local.cloud.seed"]
            lines: list[str] = []
            process = await Process.start(command, cwd=ROOT, environ=environ, write_line=lines.append, leashed=True)
            self._stack.push_async_callback(process.kill)
            if await process.wait() != 0:
                raise SampleTenantError("\n".join(lines[-20:]))
            loaded.write_text(version)

    async def _prewarm(self) -> None:
        if self.options.prewarm:
            async with self._step("first workers"):
                await self._running.prewarm()

    async def _open(self) -> None:
        api, base_path = self.application.api, self.options.base_path
        if self.database_urls is not None:
            self._stack.callback(RunningFile.remove, self._folder.path)
            urls = self.database_urls
            RunningFile(self.url, urls.owner, urls.app, self.model_url).write(self._folder.path)
        await self._server.start(Gateway(api, self.functions, self.adapters, self.issuer, base_path=base_path))

    @asynccontextmanager
    async def _step(self, what: str) -> AsyncIterator[None]:
        started = time.perf_counter()
        yield
        self.options.progress(what, time.perf_counter() - started)
