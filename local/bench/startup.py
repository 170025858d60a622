"""`make run` until it says `ready`: on fresh data, and again on the same."""

import asyncio
import os
import signal
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from local.bench.figures import Table
from local.bench.testbed import BenchError
from local.cloud.options import ROOT

START_SECONDS = 180.0
STOP_SECONDS = 20.0
READY = "ready "


async def measure(say: Callable[[str], None]) -> list[Table]:
    """Start twice in one folder; the second time everything is there already."""
    with tempfile.TemporaryDirectory(prefix="oria-bench-") as folder:
        taken = []
        for what in ("fresh data", "second start"):
            say(what)
            taken.append(await start(Path(folder) / "data"))
    return [show(*taken)]


def show(fresh: Mapping[str, float], again: Mapping[str, float]) -> Table:
    rows = [[what, form(seconds), form(again.get(what))] for what, seconds in fresh.items()]
    note = "Some steps run at the same time; `make` and Python's own start are in the first row only."
    return Table("6. make run until ready", ["", "fresh data", "second start"], rows, [note])


def form(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds:.1f} s"


async def start(data: Path) -> dict[str, float]:
    """Run the command until it is ready and stop it; the seconds of the whole and of the steps that it told of.

    Raises BenchError when it ends before it is ready.
    """
    started = time.perf_counter()
    child = await asyncio.create_subprocess_exec(
        *("make", "--no-print-directory", "run", "PORT=0", f"DATA={data}"),
        cwd=ROOT,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(START_SECONDS):
            lines = await read_until_ready(child)
        return {"ready": time.perf_counter() - started} | read_steps(lines)
    finally:
        await stop(child)


async def read_until_ready(child: asyncio.subprocess.Process) -> list[str]:
    lines: list[str] = []
    if child.stdout is not None:
        async for line in child.stdout:
            lines.append(line.decode(errors="replace").strip())
            if lines[-1].startswith(READY):
                return lines
    raise BenchError("\n".join(["make run ended before it was ready", *lines[-20:]]))


async def stop(child: asyncio.subprocess.Process) -> None:
    """Ctrl-C, as a person would; make and the cloud are one process group."""
    if child.returncode is not None:
        return
    os.killpg(child.pid, signal.SIGINT)
    try:
        async with asyncio.timeout(STOP_SECONDS):
            await child.communicate()
    except TimeoutError:
        os.killpg(child.pid, signal.SIGKILL)
        await child.wait()


def read_steps(lines: Sequence[str]) -> dict[str, float]:
    """Seconds by step, from lines like `0.8 s  AWS APIs (moto)`; the sum of all is known better from outside."""
    told = [line.partition(" s  ") for line in lines if " s  " in line]
    return {what: float(seconds) for seconds, _, what in told if what != "all"}
