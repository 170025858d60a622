"""`sam build` with the environment it needs here."""

import os
import subprocess
from pathlib import Path

from local.packaging.interpreters import find_python, find_sam
from local.packaging.requirements import ROOT

BUILD_FOLDER = ROOT / ".aws-sam" / "build"


def sam_environment() -> dict[str, str]:
    """The user's environment, without telemetry, with the Python 3.13 that SAM's builders look for on the PATH."""
    python = find_python()
    path = f"{python.parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    return {**os.environ, "PATH": path, "PYTHON": str(python), "SAM_CLI_TELEMETRY": "0", "PYTHONPATH": ""}


def build(folder: Path = BUILD_FOLDER) -> None:
    """Build every function and layer into a folder. Raises CalledProcessError, MissingProgramError."""
    command = [str(find_sam()), "build", "--parallel", "--build-dir", str(folder)]
    subprocess.run(command, cwd=ROOT, env=sam_environment(), check=True)


def measure(folder: Path) -> int:
    """Bytes of all files in a folder, as Lambda counts them against its limit."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def report_sizes(folder: Path = BUILD_FOLDER) -> None:
    """Print what each function and layer weighs, unzipped."""
    for built in sorted(path for path in folder.iterdir() if path.is_dir()):
        print(f"{measure(built) / 1e6:8.1f} MB  {built.name}")
