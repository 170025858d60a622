"""How a local cloud is run."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from local.cloud.asynchronous import RETRY_DELAYS
from local.cloud.faults import Faults, NoFaults

ROOT = Path(__file__).resolve().parents[2]


def _say_nothing(what: str, seconds: float) -> None:  # noqa: ARG001
    return


@dataclass(frozen=True)
class CloudOptions:
    """Everything that `make run`, tests, soaks and benchmarks choose. Times are in seconds.

    - data, port (0: any free one), base_path (what stands before /v1, as a stage or a custom domain's mapping does)
    - template and `parameters` for it, over what the cloud fills in itself
    - database_url: the owner's URL of a server to use; None: an embedded one. `database=False`: none at all
    - sample_tenant, offline_model: None starts it unless `user` configures a provider
    - timeouts: functions' timeouts by logical id; environ: variables for all functions; function_environ: for some
    - init_seconds: Lambda's init limit (10), generous here because several cold starts share two cores
    - capacity: sandboxes per function at most; starts: cold starts at once; prewarm: functions to start before `ready`
    - freeze: stop idle workers as Lambda does; schedules: run the clock; rates: their seconds, by function
    - retry_delays: the pauses before retries of asynchronous invocations (Lambda: one and two minutes)
    - throwaway: data that nobody keeps, written without fsync
    - user: the user's environment; progress: told what was done and how many seconds it took
    """

    data: Path
    port: int = 0
    base_path: str = ""
    template: Path = ROOT / "template.yaml"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    database: bool = True
    database_url: str | None = None
    sample_tenant: bool = True
    offline_model: bool | None = None
    timeouts: Mapping[str, float] = field(default_factory=dict)
    environ: Mapping[str, str] = field(default_factory=dict)
    function_environ: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    init_seconds: float = 30.0
    capacity: int = 8
    starts: int = 2
    prewarm: Sequence[str] = ()
    freeze: bool = False
    schedules: bool = True
    rates: Mapping[str, float] = field(default_factory=dict)
    retry_delays: Sequence[float] = RETRY_DELAYS
    throwaway: bool = False
    faults: Faults = field(default_factory=NoFaults)
    verbose: bool = False
    user: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    progress: Callable[[str, float], None] = field(default=_say_nothing)

    @property
    def needs_offline_model(self) -> bool:
        """Whether the offline model stands in for a provider."""
        if self.offline_model is not None:
            return self.offline_model
        return not self.user.get("OPENAI_API_KEY") and not self.user.get("OPENAI_BASE_URL")
