"""What the local cloud needs to know of a template's resources, resolved to plain values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ACCOUNT = "123456789012"
REGION = "eu-central-1"


def arn(service: str, resource: str) -> str:
    """The ARN of a resource in the local account."""
    return f"arn:aws:{service}:{REGION}:{ACCOUNT}:{resource}"


@dataclass(frozen=True)
class FunctionSpec:
    """A Lambda function. Times are in seconds; `reserved` is its reserved concurrency.

    `retries`, `event_age`, `on_failure` (an ARN) and `dead_letter` (a queue's ARN) govern asynchronous invocations;
    their defaults are Lambda's.
    """

    name: str
    handler: str
    code_root: Path
    layers: tuple[Path, ...] = ()
    timeout: float = 3.0
    memory: int = 128
    environ: Mapping[str, str] = field(default_factory=dict)
    reserved: int | None = None
    retries: int = 2
    event_age: float = 21_600.0
    on_failure: str | None = None
    dead_letter: str | None = None

    @property
    def arn(self) -> str:
        return arn("lambda", f"function:{self.name}")


@dataclass(frozen=True)
class TargetSpec:
    """Where a rule or a schedule delivers: an ARN, its retry policy, and the queue for what could not be delivered."""

    arn: str
    retries: int = 185
    event_age: float = 86_400.0
    dead_letter: str | None = None
    input: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class RuleSpec:
    """An EventBridge rule on a bus, by its event pattern."""

    name: str
    bus: str
    pattern: Mapping[str, Any]
    targets: tuple[TargetSpec, ...]


@dataclass(frozen=True)
class ScheduleSpec:
    """A rate() or cron() expression and what it invokes. `owner` is the logical id of the function that declares it, or
    the schedule's own."""

    name: str
    owner: str
    expression: str
    target: TargetSpec


@dataclass(frozen=True)
class QueueSourceSpec:
    """An SQS event source of a function. `concurrency` batches are handled at once; Lambda starts with five."""

    queue_arn: str
    function_arn: str
    batch_size: int = 10
    partial_failures: bool = False
    concurrency: int = 5


@dataclass(frozen=True)
class RouteSpec:
    """A route of the REST API; `resource` is its path with `{name}` and `{name+}` parameters.

    `function` is a logical id, `method` may be ANY, `seconds` is the integration's timeout.
    """

    method: str
    resource: str
    function: str
    streaming: bool = False
    seconds: float = 29.0


@dataclass(frozen=True)
class GatewayResponse:
    """What API Gateway answers by itself, as the template words it; no body means AWS's own."""

    status: int
    body: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ApiSpec:
    """The REST API: its stage, which media types arrive base64-encoded, its routes and its own answers by type."""

    stage: str = "Prod"
    binary_media_types: tuple[str, ...] = ()
    routes: tuple[RouteSpec, ...] = ()
    responses: Mapping[str, GatewayResponse] = field(default_factory=dict)


@dataclass(frozen=True)
class Application:
    """Everything of a template that runs."""

    functions: Mapping[str, FunctionSpec]
    buses: tuple[str, ...] = ("default",)
    rules: tuple[RuleSpec, ...] = ()
    schedules: tuple[ScheduleSpec, ...] = ()
    queue_sources: tuple[QueueSourceSpec, ...] = ()
    api: ApiSpec = field(default_factory=ApiSpec)
