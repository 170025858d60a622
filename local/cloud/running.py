"""An application of a template, running: its functions, the bus between them, and everything that invokes them."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace

from local.cloud.asynchronous import AsynchronousInvoker
from local.cloud.aws import AwsApi
from local.cloud.bus import Bus
from local.cloud.configuration import override_environment
from local.cloud.environment import build_base_environment
from local.cloud.function import Function, SandboxPolicy
from local.cloud.logs import LogFiles
from local.cloud.options import CloudOptions
from local.cloud.queues import QueuePoller
from local.cloud.resources import Application, FunctionSpec
from local.cloud.schedules import Schedules
from local.cloud.web_adapter import WebAdapter


class RunningApplication:
    """Functions by logical id, those behind a streaming route as `adapters`."""

    def __init__(self, application: Application, aws: AwsApi, options: CloudOptions, logs: LogFiles) -> None:
        self.application = application
        self._options = options
        self._aws = aws
        self._logs = logs
        # Filled when the bus has its address; no worker starts before.
        self._base: dict[str, str] = {}
        streaming = {route.function for route in application.api.routes if route.streaming}
        specs = {name: self._with_overrides(name, spec) for name, spec in application.functions.items()}
        policy = SandboxPolicy(
            self._base, asyncio.Semaphore(options.starts), options.init_seconds, options.capacity, options.freeze
        )
        self.functions: Mapping[str, Function] = {
            name: Function(spec, policy, self._writer(spec)) for name, spec in specs.items() if name not in streaming
        }
        self.adapters: Mapping[str, WebAdapter] = {
            name: WebAdapter(specs[name], self._base, self._writer(specs[name]), start_seconds=options.init_seconds)
            for name in streaming
        }
        self.invoker = AsynchronousInvoker(self.functions, aws, options.faults, retry_delays=options.retry_delays)
        self.bus = Bus(application.buses, application.rules, self.invoker, options.faults)
        self._poller = QueuePoller(application.queue_sources, self.functions, aws)
        self._schedules = Schedules(application.schedules, self.invoker, options.rates)

    async def start(self) -> None:
        """Start the bus and the sources of events. Workers start at their first invocation."""
        await self.bus.start()
        endpoints = {"AWS_ENDPOINT_URL": self._aws.url, "AWS_ENDPOINT_URL_EVENTBRIDGE": self.bus.url}
        self._base |= build_base_environment(self._options.user, endpoints)
        self._poller.start()
        if self._options.schedules:
            self._schedules.start()

    async def prewarm(self) -> None:
        """Start a worker of each function that the options name."""
        work = [self.functions[name].prewarm() for name in self._options.prewarm if name in self.functions]
        work += [self.adapters[name].prewarm() for name in self._options.prewarm if name in self.adapters]
        await asyncio.gather(*work)

    async def close(self) -> None:
        """Stop the sources, drop what is under way, kill the workers."""
        await asyncio.gather(self._schedules.close(), self._poller.close(), self.invoker.tasks.cancel())
        workers = [function.close() for function in self.functions.values()]
        await asyncio.gather(*workers, *(adapter.close() for adapter in self.adapters.values()))
        await self.bus.close()

    def _with_overrides(self, name: str, spec: FunctionSpec) -> FunctionSpec:
        return replace(spec, environ=override_environment(spec.environ, self._options, name))

    def _writer(self, spec: FunctionSpec) -> Callable[[str], None]:
        return lambda line: self._logs.write(spec.name, line)
