"""Every bound of reading and chunking, in one table with its reasons."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ContentLimits:
    """What reading one document may cost. `seconds` is wall clock, and of processor time; `memory` is the address space
    of the process that reads what is not harmless; `expanded` are bytes after decompression."""

    pages: int = 1_000
    characters: int = 1_000_000
    links: int = 1_000
    expanded: int = 100_000_000
    memory: int = 640_000_000
    seconds: int = 15
