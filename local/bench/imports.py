"""Which packages a function's import time goes to, by Python's own `-X importtime`."""

import asyncio
import os
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from local.cloud.options import ROOT

LINE = re.compile(r"import time:\s+(\d+) \|\s+\d+ \| +(\S+)")
MOST = 5


@dataclass(frozen=True)
class ImportTime:
    """Seconds of one import in a fresh process: all of it, and the packages that took most of it."""

    total: float
    packages: Sequence[tuple[str, float]]


async def measure_import(module: str, environ: Mapping[str, str]) -> ImportTime:
    """Import a module in a fresh interpreter, bytecode cached. The clock of `importtime` itself adds a little."""
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-X", "importtime", "-c", f"import {module}"),
        cwd=ROOT,
        env={"PATH": os.defpath, **environ},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    _, told = await child.communicate()
    return read_import_times(told.decode())


def read_import_times(text: str) -> ImportTime:
    """Sum up the lines of `-X importtime` by top-level package."""
    by_package: Counter[str] = Counter()
    for line in text.splitlines():
        if (found := LINE.match(line)) is not None:
            by_package[found[2].partition(".")[0]] += int(found[1])
    seconds = [(name, micros / 1e6) for name, micros in by_package.most_common(MOST)]
    return ImportTime(by_package.total() / 1e6, seconds)
