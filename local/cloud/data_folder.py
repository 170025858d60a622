"""The folder in which a local cloud keeps everything, used by one cloud at a time."""

import fcntl
import os
from pathlib import Path

LOCK_NAME = "cloud.lock"


class DataInUseError(Exception):
    """Another local cloud runs on this folder."""


class DataFolder:
    """A folder with a lock that ends with the process, however that ends."""

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        self._descriptor: int | None = None

    def lock(self) -> None:
        """Take the folder. Raises DataInUseError naming the process that has it."""
        self.path.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.path / LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.read(descriptor, 32).decode().strip() or "another process"
            os.close(descriptor)
            raise DataInUseError(f"the data folder {self.path} is used by the local cloud of process {owner}") from None
        os.ftruncate(descriptor, 0)
        os.write(descriptor, str(os.getpid()).encode())
        self._descriptor = descriptor

    def unlock(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
