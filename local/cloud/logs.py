"""Logs of the functions: a file each under DATA/logs, and the last lines in memory for tests."""

from collections import defaultdict, deque
from pathlib import Path

KEPT_LINES = 5_000


class LogFiles:
    """Takes the lines of every worker; `verbose` also prints them."""

    def __init__(self, folder: Path, *, verbose: bool = False) -> None:
        self.folder = folder
        self._verbose = verbose
        self._recent: defaultdict[str, deque[str]] = defaultdict(lambda: deque(maxlen=KEPT_LINES))
        folder.mkdir(parents=True, exist_ok=True)

    def write(self, function: str, line: str) -> None:
        """Append one line of a function's output."""
        self._recent[function].append(line)
        with (self.folder / f"{function}.log").open("a", encoding="utf-8") as file:
            file.write(line + "\n")
        if self._verbose:
            print(f"{function}  {line}", flush=True)

    def read(self, function: str) -> list[str]:
        """The last lines of a function, oldest first."""
        return list(self._recent[function])
