"""Finding the two programs that packaging needs: a Python 3.13 with pip, and the SAM command line."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from local.packaging.layers import PYTHON_VERSION
from local.packaging.requirements import ROOT

NAME = "python" + ".".join(map(str, PYTHON_VERSION))
SAM_FOLDER = ROOT / ".venv-sam"
CHECK = f"import sys, pip; raise SystemExit(sys.version_info[:2] != {PYTHON_VERSION})"


class MissingProgramError(Exception):
    """A program that packaging needs is not on this machine; the text says which and how to get it."""


def find_python() -> Path:
    """A Python 3.13 that has pip. Raises MissingProgramError."""
    for candidate in _list_pythons():
        # pyenv's shims are on the path for every version, and fail when the version is not selected.
        if subprocess.run([candidate, "-c", CHECK], capture_output=True, check=False).returncode == 0:
            return candidate
    raise MissingProgramError(f"no {NAME} with pip on this machine: layers carry its bytecode. Put one on the PATH.")


def find_sam() -> Path:
    """The SAM command line of its own environment. Raises MissingProgramError."""
    sam = SAM_FOLDER / "bin" / "sam"
    if not sam.exists():
        raise MissingProgramError(f"{SAM_FOLDER.name} is missing: `make build` installs it")
    return sam


def _list_pythons() -> Iterator[Path]:
    if sys.version_info[:2] == PYTHON_VERSION:
        yield Path(sys.executable)
    for folder in (ROOT / ".venv", SAM_FOLDER):
        if (folder / "bin" / NAME).exists():
            yield folder / "bin" / NAME
    if found := shutil.which(NAME):
        yield Path(found)
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from sorted(pyenv.glob(f"versions/{NAME.removeprefix('python')}*/bin/{NAME}"), reverse=True)
