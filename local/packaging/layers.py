"""Builds one layer for Lambda: `python -m local.packaging.layers <layer> <folder>`, called by layers/Makefile.

Wheels are chosen for python3.13 on x86_64 with glibc 2.34 whatever machine this runs on, but the interpreter itself
must be a 3.13: its bytecode is shipped. `/opt` is read-only on Lambda, so without it every cold start would compile
what it imports (measured: 2.6 s instead of 1.2 s for the graph).
"""

import compileall
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from py_compile import PycInvalidationMode

from local.packaging.requirements import LAYERS_BELOW, ROOT, select_pins

PYTHON_VERSION = (3, 13)
# Lambda's python3.13 runs on Amazon Linux 2023 (glibc 2.34), which takes both.
PLATFORMS = ("manylinux2014_x86_64", "manylinux_2_28_x86_64")
PACKAGES = {"runtime": ROOT / "layers" / "runtime" / "oria_runtime", "assistants": ROOT / "graph"}
PRUNED_FOLDERS = frozenset({"tests", "test", "__pycache__"})
# Sources of compiled modules among them: Cython's own and what it made of them.
PRUNED_SUFFIXES = frozenset({".pyi", ".pyc", ".c", ".pyx", ".pxd", ".pxi"})
# eld's larger database, 25 MB compiled; oria_runtime.tenancy.language detects with the default one.
PRUNED_FILES = frozenset({"ngramsL60.py"})


def build_layer(layer: str, artifacts: Path) -> None:
    """Fill `<artifacts>/python` with a layer's content. Raises CalledProcessError when pip cannot install it."""
    target = artifacts / "python"
    if layer in PACKAGES:
        source = PACKAGES[layer]
        shutil.copytree(source, target / source.name, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        install(layer, target)
    prune(target)
    compile_bytecode(target)


def install(layer: str, target: Path) -> None:
    """Install a dependency layer's own wheels, by hash."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.writelines(pin.lines for pin in select_pins(layer))
        file.flush()
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        command += ["--require-hashes", "--no-deps", "--no-compile", "--only-binary=:all:", "--implementation=cp"]
        command += ["--python-version=" + ".".join(map(str, PYTHON_VERSION)), *(f"--platform={p}" for p in PLATFORMS)]
        subprocess.run([*command, "--target", str(target), "-r", file.name], check=True)


def prune(target: Path) -> None:
    """Drop what no import needs: scripts, the packages' own tests, type stubs, sources of compiled modules."""
    shutil.rmtree(target / "bin", ignore_errors=True)
    for path in sorted(target.rglob("*")):
        if path.is_dir() and path.name in PRUNED_FOLDERS:
            shutil.rmtree(path)
        elif (path.suffix in PRUNED_SUFFIXES or path.name in PRUNED_FILES) and path.is_file():
            path.unlink()


def compile_bytecode(target: Path) -> None:
    """Compile everything with hashes that the interpreter does not check: zipping loses the sources' times."""
    compiled = compileall.compile_dir(
        target,
        quiet=1,
        workers=0,
        stripdir=target.parent,
        prependdir="/opt",
        invalidation_mode=PycInvalidationMode.UNCHECKED_HASH,
    )
    if not compiled:
        raise SystemExit(f"some modules in {target} do not compile")


def main(arguments: Iterable[str]) -> None:
    layer, artifacts = arguments
    if layer not in {*LAYERS_BELOW, *PACKAGES}:
        raise SystemExit(f"there is no layer {layer}")
    if sys.version_info[:2] != PYTHON_VERSION:
        raise SystemExit(f"layers need a Python 3.13 to compile for Lambda; this is {sys.version.split()[0]}")
    build_layer(layer, Path(artifacts))


if __name__ == "__main__":
    main(sys.argv[1:])
