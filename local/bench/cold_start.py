"""From the spawn of a worker to its first response, function by function."""

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graph.registry import ASSISTANTS as PRODUCT
from local.bench.assistant import ID, list_all
from local.bench.engine import EngineInProcess
from local.bench.figures import Table, judge, median
from local.bench.imports import ImportTime, measure_import
from local.bench.testbed import USER, BenchError, Testbed, start_testbed
from local.cloud.faults import DeliveryKind, NoFaults
from local.cloud.options import ROOT

STARTS = 5
API_AIM, GATE_AIM = 0.6, 0.8
ORIA = next(iter(PRODUCT))
MESSAGE = "What should I learn next?"
IMPORTS = {
    "functions.stage.app": "stage: functions.stage.app",
    "graph.oria.graph": "of a stage that runs Oria: graph.oria.graph",
    "graph.simulation.graph": "of a stage that runs a simulation: graph.simulation.graph",
    "graph.oria.agents.career_chat.agent": "of a first specialist, the one with most tools: career_chat",
    "langchain_openai": "of a first model call: langchain_openai",
    "functions.api.app": "api: functions.api.app",
}


class NothingArrives(NoFaults):
    """A started stage announces the next one; its worker would start in the middle of the next measurement."""

    def plan(self, kind: DeliveryKind, target: str, payload: Mapping[str, Any]) -> Sequence[float]:  # noqa: ARG002
        return ()


@dataclass(frozen=True)
class Subject:
    """A function and the event of its first invocation, made anew for each start."""

    name: str
    function: str
    event: Callable[[], Any]
    aim: float | None = None


@dataclass(frozen=True)
class Start:
    """Seconds: until the runtime client asked for its first event, and until it had answered it."""

    ready: float
    answered: float


async def measure(say: Callable[[str], None]) -> list[Table]:
    """Spawn to first response, the median of five; then where the imports' time goes."""
    bed_options: dict[str, Any] = {"faults": NothingArrives(), "assistants": "local.bench.assistant:list_all"}
    async with start_testbed(prewarm=(), offline_model=True, **bed_options) as bed:
        engine = EngineInProcess(bed.urls.app, bed.tenant_id, USER, list_all())
        try:
            rows = [await measure_subject(bed, subject, say) for subject in list_subjects(bed, engine)]
        finally:
            await engine.close()
        worker = bed.cloud.functions["GateFunction"]
        environ = {"PYTHONPATH": ":".join(str(path) for path in (worker.spec.code_root, *worker.spec.layers))}
    say("imports")
    imports = [await measure_imports(module, what, environ) for module, what in IMPORTS.items()]
    notes = [
        "Real workers under AWS's runtime client, bytecode cached; secrets fetched and the database connected inside."
    ]
    columns = ["", "init", "first response", "slowest", "aim"]
    return [Table(f"4. Cold start, spawn to first response (medians of {STARTS})", columns, rows, notes), show(imports)]


def list_subjects(bed: Testbed, engine: EngineInProcess) -> list[Subject]:
    token = bed.cloud.token(USER, str(bed.tenant_id))

    def golden(path: str) -> Callable[[], Any]:
        text = (ROOT / "events" / path).read_text().replace("Bearer TOKEN", f"Bearer {token}")
        return lambda: json.loads(text)

    return [
        Subject("api, GET /v1/health", "ApiFunction", golden("api/health.json"), API_AIM),
        Subject("api, a signed request", "ApiFunction", golden("api/list_conversations.json"), API_AIM),
        Subject("gate, a whole stage", "GateFunction", lambda: engine.accept(ID, MESSAGE), GATE_AIM),
        Subject("gate, Oria's with its first model call", "GateFunction", lambda: engine.accept(ORIA, MESSAGE)),
        Subject("memory", "MemoryFunction", golden("memory/approved.json")),
        Subject("turn_failed", "TurnFailedFunction", golden("turn_failed/gate_timeout.json")),
        Subject("sweep", "SweepFunction", golden("sweep/schedule.json")),
    ]


async def measure_subject(bed: Testbed, subject: Subject, say: Callable[[str], None]) -> list[str]:
    say(subject.name)
    # The first one writes bytecode, and has the offline model read its vectors.
    starts = [await start_once(bed, subject) for _ in range(1 + STARTS)][1:]
    answered = [start.answered for start in starts]
    aim = judge(median(answered), subject.aim, "s") if subject.aim else ""
    ready = median([start.ready for start in starts])
    return [subject.name, f"{ready:.2f} s", f"{median(answered):.2f} s", f"{max(answered):.2f} s", aim]


async def start_once(bed: Testbed, subject: Subject) -> Start:
    """One cold start. Raises BenchError when the function answers with an error."""
    function = bed.cloud.functions[subject.function]
    event = subject.event()
    if asyncio.iscoroutine(event):
        event = await event
    await function.close()
    started = time.perf_counter()
    result = await function.invoke(event)
    answered = time.perf_counter() - started
    if result.function_error is not None or result.init_ms is None:
        raise BenchError(f"{subject.name}: {result.payload.decode(errors='replace')[:500]}")
    return Start(result.init_ms / 1000, answered)


async def measure_imports(module: str, what: str, environ: Mapping[str, str]) -> tuple[str, ImportTime]:
    """The median of three by its total."""
    taken = sorted([await measure_import(module, environ) for _ in range(3)], key=lambda each: each.total)
    return what, taken[1]


def show(imports: Sequence[tuple[str, ImportTime]]) -> Table:
    rows = []
    for what, taken in imports:
        packages = ", ".join(f"{name} {seconds:.2f}" for name, seconds in taken.packages)
        rows.append([what, f"{taken.total:.2f} s", packages])
    notes = ["Each in a fresh interpreter, so what two of them share is in both; -X importtime adds about a third."]
    return Table("Import time, and the packages that take most of it (s)", ["", "all", "of it"], rows, notes)
