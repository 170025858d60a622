"""Pins every requirements file again, with hashes and for every platform: `make lock`."""

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from local.packaging.requirements import DEPENDENCIES, LAYERS_BELOW, ROOT

# The resolver; pip itself pins for the machine that it runs on only.
UV = "uv==0.13.9"
# The oldest Python that the code runs on.
OLDEST_PYTHON = "3.11"
OPTIONS = ("--universal", "--generate-hashes", "--no-header", "--no-annotate", "--quiet")


def lock(*, upgrade: bool = False) -> None:
    """Pin what the `.in` files ask for; pins that still fit stay, unless `upgrade`. Raises CalledProcessError."""
    with tempfile.TemporaryDirectory() as folder:
        uv = install_uv(Path(folder))
        for source in list_sources():
            command = [str(uv), "pip", "compile", *OPTIONS, "--python-version", OLDEST_PYTHON]
            command += ["--upgrade"] if upgrade else []
            # In the file's own folder, because `-c base.txt` and `-r` are relative to it.
            command += [source.name, "--output-file", source.with_suffix(".txt").name]
            subprocess.run(command, cwd=source.parent, check=True, stdout=subprocess.DEVNULL)
            print(f"pinned {source.relative_to(ROOT).with_suffix('.txt')}", file=sys.stderr)


def list_sources() -> list[Path]:
    """The `.in` files, each after those that it refers to."""
    layers = [DEPENDENCIES / f"{layer}.in" for layer in LAYERS_BELOW]
    return [*layers, *(ROOT / "requirements" / f"{name}.in" for name in ("dev", "sam", "bench"))]


def install_uv(folder: Path) -> Path:
    """The resolver in an environment of its own."""
    venv.create(folder, with_pip=True)
    command = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", UV]
    subprocess.run(command, check=True)
    return folder / "bin" / "uv"
