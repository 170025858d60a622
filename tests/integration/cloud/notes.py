"""What the handlers of the test application noted in files."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

PATIENCE_SECONDS = 8.0


def read_notes(path: Path) -> list[Any]:
    """The lines of JSON in a file, none when it does not exist."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


async def wait_for(find: Callable[[], Any]) -> Any:
    """The first true value that `find` answers. Raises TimeoutError."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not (found := find()):
            await asyncio.sleep(0.02)
        return found


async def wait_for_notes(path: Path, count: int = 1) -> list[Any]:
    """The lines of a file when there are `count` of them."""
    await wait_for(lambda: len(read_notes(path)) >= count)
    return read_notes(path)
