"""Running a turn's stages in processes of their own, each with a function's environment."""

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from oria_runtime.turns.models import Turn
from tests.support.engine import Engine

ROOT = Path(__file__).resolve().parents[2]


async def run_in_processes(engine: Engine, turn: Turn, environ: Mapping[str, str]) -> Turn:
    """Every stage of a turn until it ends or pauses, one process each."""
    while turn.stage is not None:
        detail = {"tenant_id": str(turn.tenant_id), "turn_id": str(turn.id), "seq": turn.seq, "stage": turn.stage}
        await run_process(json.dumps(detail), {"DATABASE_URL": engine.urls.app} | dict(environ))
        turn = await engine.turn(turn.id)
    engine.bus.events.clear()
    return turn


async def run_memory_in_process(engine: Engine, turn: Turn, environ: Mapping[str, str]) -> None:
    """The memory branch of a turn."""
    detail = {"tenant_id": str(turn.tenant_id), "turn_id": str(turn.id)}
    await run_process(json.dumps(detail), {"DATABASE_URL": engine.urls.app} | dict(environ))


async def run_process(detail: str, environ: Mapping[str, str]) -> str:
    """One worker for one event; what it said."""
    paths = {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'layers' / 'runtime'}", "PATH": os.environ.get("PATH", "")}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.support.oria_worker", detail,
        env=paths | dict(environ), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    said, complained = await process.communicate()
    assert process.returncode == 0, complained.decode()
    return said.decode()
