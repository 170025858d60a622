"""Where the snapshots of the gate's, the supervisor's and memory's requests are; UPDATE_SNAPSHOTS=1 writes them."""

from pathlib import Path
from typing import Any

from tests.support import snapshots

FOLDER = Path(__file__).parent / "snapshots"


def assert_snapshot(name: str, value: Any) -> None:
    """Compare a JSON value with its file."""
    snapshots.assert_snapshot(FOLDER / f"{name}.json", value)
