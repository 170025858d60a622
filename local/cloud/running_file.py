"""How another command of this project finds a cloud that runs on a data folder."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

NAME = "running.json"


@dataclass(frozen=True)
class RunningFile:
    """Addresses of a running cloud; `model_url` is empty when the user's own provider is used."""

    url: str
    owner_url: str
    app_url: str
    model_url: str

    def write(self, data: Path) -> None:
        """Keep it, readable by this user only: the database's URL may hold a password."""
        descriptor = os.open(data / NAME, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            json.dump(asdict(self), file)

    @classmethod
    def read(cls, data: Path) -> Self | None:
        """The running cloud's file, None when there is none."""
        path = data / NAME
        return cls(**json.loads(path.read_text())) if path.exists() else None

    @staticmethod
    def remove(data: Path) -> None:
        (data / NAME).unlink(missing_ok=True)
