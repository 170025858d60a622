"""The process that reads one document: `python -m oria_runtime.documents.worker`.

A hostile file may loop, recurse or expand without end inside a library; only a process of its own can be killed for it.
It inherits no secret, and its processor time and address space are bounded by the kernel. Input: one line of JSON, then
the bytes. Output: one JSON object, `{"reading": …}` or `{"reason", "detail"}`.
"""

import json
import logging
import resource
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from oria_runtime.documents.errors import ExtractionError
from oria_runtime.documents.limits import ExtractionLimits

if TYPE_CHECKING:
    from oria_runtime.documents.readers import Reading

# Takes the data, what is said about it, and limits; gives a dataclass.
Reader = Callable[[bytes, Mapping[str, Any], Any], Any]


def main() -> None:
    """Read the request, bound this process, answer."""
    serve(read_reading, ExtractionLimits)


def serve(read: Reader, limits_type: type[ExtractionLimits]) -> None:
    """Answer the request on standard input with what `read` makes of it."""
    head = json.loads(sys.stdin.buffer.readline())
    data = sys.stdin.buffer.read()
    limits = limits_type(**head["limits"])
    resource.setrlimit(resource.RLIMIT_CPU, (limits.seconds, limits.seconds))
    resource.setrlimit(resource.RLIMIT_AS, (limits.memory, limits.memory))
    # Libraries log what is odd about a file, and quote it.
    logging.disable()
    sys.stdout.write(json.dumps(answer(read, data, head, limits)))


def answer(read: Reader, data: bytes, head: Mapping[str, Any], limits: ExtractionLimits) -> dict[str, Any]:
    """The reading, or why there is none."""
    try:
        return {"reading": asdict(read(data, head, limits))}
    except ExtractionError as error:
        return {"reason": error.reason, "detail": error.detail}
    except MemoryError:
        return {"reason": "too_complex", "detail": "The document needs more memory than it may have."}


def read_reading(data: bytes, head: Mapping[str, Any], limits: ExtractionLimits) -> "Reading":
    """The text of a document, as `extraction` asks for it."""
    from oria_runtime.documents.readers import read

    return read(data, head["media_type"], limits)


if __name__ == "__main__":
    main()
