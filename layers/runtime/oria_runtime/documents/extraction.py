"""Bytes in, text out: PDF, DOCX, Markdown and text, bounded in every direction.

The reading happens in a process of its own (`worker`), which is killed when its time is over or the request ends.
That also keeps the readers' libraries out of the function that serves requests: its cold start does not change.
"""

import asyncio
import json
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from oria_runtime.documents.errors import ExtractionError
from oria_runtime.documents.formats import Claims, find_format
from oria_runtime.documents.limits import ExtractionLimits
from oria_runtime.errors import ConfigurationError

WORKER = "oria_runtime.documents.worker"


@dataclass(frozen=True)
class Extracted:
    """The text of a document, without characters that no database stores.

    `pages` is None for formats without pages. `warnings` are `{code, pages}`; the code `pages_without_text` names the
    pages that are pictures only (counted from 1).
    """

    media_type: str
    text: str
    pages: int | None = None
    title: str | None = None
    warnings: Sequence[Mapping[str, Any]] = ()


async def extract(data: bytes, claims: Claims, limits: ExtractionLimits | None = None) -> Extracted:
    """The text of a document. Raises ExtractionError, whose `reason` and status say what is wrong."""
    limits = limits or ExtractionLimits()
    if not data:
        raise ExtractionError("empty", "The document is empty.")
    if len(data) > limits.bytes:
        raise ExtractionError("too_large", f"The document is larger than {limits.bytes} bytes.")
    media_type = find_format(data, claims)
    return Extracted(media_type, **await run_worker(data, {"media_type": media_type}, limits))


async def run_worker(
    data: bytes, about: Mapping[str, Any], limits: ExtractionLimits, *, module: str = WORKER
) -> dict[str, Any]:
    """The reading of a worker process, `module`, which is told `about` the data.

    Raises ExtractionError: the worker's own, or `too_complex` when it had to be killed.
    """
    head = json.dumps({**about, "limits": asdict(limits)}).encode()
    # -S: the paths come from here, site would only cost time.
    command = (sys.executable, "-S", "-B", "-m", module)
    worker = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=make_environ())
    try:
        async with asyncio.timeout(limits.seconds):
            output, _ = await worker.communicate(head + b"\n" + data)
    except TimeoutError as error:
        detail = f"The document could not be read within {limits.seconds} seconds."
        raise ExtractionError("too_complex", detail) from error
    finally:
        await kill(worker)
    if worker.returncode and worker.returncode < 0:
        raise ExtractionError("too_complex", "The document needs more time or memory than it may have.")
    if worker.returncode:
        raise ConfigurationError(f"the document reader ended with status {worker.returncode}")
    answer: dict[str, Any] = json.loads(output)
    if "reason" in answer:
        raise ExtractionError(answer["reason"], answer["detail"])
    reading: dict[str, Any] = answer["reading"]
    return reading


def make_environ() -> dict[str, str]:
    """The worker's environment: our import paths and nothing else, least of all a secret.

    On Lambda the interpreter finds its own shared library by LD_LIBRARY_PATH.
    """
    libraries = {name: value for name, value in os.environ.items() if name == "LD_LIBRARY_PATH"}
    return {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONUTF8": "1", **libraries}


async def kill(worker: Process) -> None:
    """End a worker that still runs, and collect it."""
    if worker.returncode is None:
        worker.kill()
        await worker.wait()
