"""The process that reads one document: `python -m oria_runtime.documents.worker`.

A hostile file may loop, recurse or expand without end inside a library; only a process of its own can be killed for it.
It inherits no secret, and its processor time and address space are bounded by the kernel. Input: one line of JSON, then
the bytes. Output: one JSON object, `{"reading": …}` or `{"reason", "detail"}`.
"""

import json
import logging
import resource
import sys
from dataclasses import asdict
from typing import Any

from oria_runtime.documents.errors import ExtractionError
from oria_runtime.documents.limits import ExtractionLimits


def main() -> None:
    """Read the request, bound this process, answer."""
    head = json.loads(sys.stdin.buffer.readline())
    data = sys.stdin.buffer.read()
    limits = ExtractionLimits(**head["limits"])
    resource.setrlimit(resource.RLIMIT_CPU, (limits.seconds, limits.seconds))
    resource.setrlimit(resource.RLIMIT_AS, (limits.memory, limits.memory))
    # Libraries log what is odd about a file, and quote it.
    logging.disable()
    sys.stdout.write(json.dumps(answer(data, head["media_type"], limits)))


def answer(data: bytes, media_type: str, limits: ExtractionLimits) -> dict[str, Any]:
    """The reading, or why there is none."""
    try:
        from oria_runtime.documents.readers import read

        return {"reading": asdict(read(data, media_type, limits))}
    except ExtractionError as error:
        return {"reason": error.reason, "detail": error.detail}
    except MemoryError:
        return {"reason": "too_complex", "detail": "The document needs more memory than it may have."}


if __name__ == "__main__":
    main()
