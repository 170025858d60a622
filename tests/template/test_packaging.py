"""What `sam build` makes: small enough, for Lambda's platform, compiled, and importable from its layers alone."""

import importlib.util
import re
import subprocess
from collections.abc import Mapping
from email.parser import HeaderParser
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from local.packaging.build import measure
from local.packaging.interpreters import find_python
from local.packaging.layers import PYTHON_VERSION
from local.packaging.requirements import LAYERS_BELOW, PROVIDED_BY_RUNTIME, ROOT, UNWANTED, Pin, read_pins, select_pins
from tests.support.template import Stack

RUNTIME = ROOT / "layers" / "runtime" / "oria_runtime"
# Lambda takes 250 MB unzipped; what is larger than this is looked at before it is let in. The parser of HTML is 4 MB.
LIMIT_BYTES = 160_000_000
# Amazon Linux 2023, on which python3.13 runs.
GLIBC = (2, 34)
PLATFORM = re.compile(r"manylinux(?:2014|_(?P<major>\d+)_(?P<minor>\d+))_x86_64|any")
PYTHONS = {"cp313-cp313", "py3-none", "py2.py3-none"}

# What the process that reads documents imports.
READERS = ("pypdf", "mammoth", "charset_normalizer")
# Modules that functions import late, where they first need them; the test imports them to see that they are there.
LATE: Mapping[str, tuple[str, ...]] = {
    "api": ("eld", "mangum", "cryptography.hazmat.primitives.ciphers.aead", "oria_runtime.documents.readers", *READERS),
    "rationale": ("eld", "mangum", "langchain_openai", "graph.oria.training_matching.explanation"),
    "stream": ("uvicorn", "eld", "cryptography.hazmat.primitives.ciphers.aead", "oria_runtime.http.mcp.server"),
    "stage": (
        "langchain.agents",
        "langchain_openai",
        "langchain_anthropic",
        "langgraph.checkpoint.postgres.aio",
        "graph.oria.graph",
        "graph.oria.agents.knowledge_base.agent",
        "selectolax.lexbor",
    ),
    "memory": ("langgraph.store.postgres.aio", "langchain_openai", "graph.oria.memory"),
    "turn_failed": ("graph.registry",),
    "sweep": ("graph.registry",),
    "refresh_due": (),
    "refresh_source": ("eld", "langchain_openai", "oria_runtime.documents.readers", *READERS),
    "migrate": ("alembic.command", "sqlalchemy.dialects.postgresql.psycopg", "langgraph.store.postgres.aio"),
}

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


def test_every_function_fits_with_its_layers(stack: Stack, built: Path) -> None:
    sizes = {name: sum(map(measure, folders_of(stack, built, name))) for name in stack.functions}
    assert {name: size for name, size in sizes.items() if size >= LIMIT_BYTES} == {}


@pytest.mark.parametrize("layer", LAYERS_BELOW)
def test_layer_holds_the_pinned_wheels_for_lambda(built: Path, layer: str) -> None:
    installed = {}
    for metadata in (built / f"{layer.capitalize()}Layer" / "python").glob("*.dist-info"):
        headers = HeaderParser().parsestr((metadata / "METADATA").read_text(encoding="utf-8"))
        installed[re.sub(r"[-_.]+", "-", headers["Name"]).lower()] = headers["Version"]
        wheel = HeaderParser().parsestr((metadata / "WHEEL").read_text(encoding="utf-8"))
        assert any(runs_on_lambda(tag) for tag in wheel.get_all("Tag", [])), metadata.name
    assert installed == {pin.name: pin.version for pin in select_pins(layer) if wanted_here(pin)}


@pytest.mark.parametrize("layer", LAYERS_BELOW)
def test_shared_libraries_are_for_lambda(built: Path, layer: str) -> None:
    for path in (built / f"{layer.capitalize()}Layer").rglob("*.cpython-*.so"):
        assert ".cpython-313-x86_64-linux-gnu" in path.name


def test_layers_carry_neither_the_sdk_nor_tests_nor_stubs(built: Path) -> None:
    for layer in built.glob("*Layer"):
        names = {path.name for path in (layer / "python").iterdir()}
        assert not names & {"boto3", "botocore", "s3transfer", "zstandard", "bin"}
        assert not [path for path in layer.rglob("*") if path.name == "tests" or path.suffix == ".pyi"]


def test_every_module_of_a_layer_is_compiled_and_never_checked(built: Path) -> None:
    for layer in built.glob("*Layer"):
        sources = list((layer / "python").rglob("*.py"))
        assert sources
        for source in sources:
            header = (source.parent / "__pycache__" / f"{source.stem}.cpython-313.pyc").read_bytes()[:8]
            # PEP 552: flag 1 is a hash instead of a time, flag 2 would have the interpreter compare it.
            assert int.from_bytes(header[4:], "little") == 1, source


@pytest.mark.parametrize(("layer", "package"), [("RuntimeLayer", RUNTIME), ("AssistantsLayer", ROOT / "graph")])
def test_first_party_layers_hold_every_file_of_their_package(built: Path, layer: str, package: Path) -> None:
    """Migrations, prompts and prices are read from beside the modules."""
    assert files_below(package) == files_below(built / layer / "python" / package.name)


@pytest.mark.parametrize("name", ["ApiFunction", "StreamFunction", "GateFunction", "MemoryFunction"])
def test_package_keeps_the_import_path_of_the_repository(built: Path, name: str) -> None:
    folder = {"ApiFunction": "api", "StreamFunction": "stream", "GateFunction": "stage", "MemoryFunction": "memory"}
    assert (built / name / "functions" / folder[name] / "app.py").is_file()


def test_streams_script_is_still_executable(built: Path) -> None:
    assert (built / "StreamFunction" / "functions" / "stream" / "run.sh").stat().st_mode & 0o111


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("ApiFunction", "api"),
        ("StreamFunction", "stream"),
        ("RationaleFunction", "rationale"),
        ("SpecialistFunction", "stage"),
        ("MemoryFunction", "memory"),
        ("TurnFailedFunction", "turn_failed"),
        ("SweepFunction", "sweep"),
        ("MigrateFunction", "migrate"),
    ],
)
def test_function_imports_from_its_package_and_layers_alone(
    stack: Stack, built: Path, sdk: Path, name: str, folder: str
) -> None:
    paths = [str(path) for path in import_paths(stack, built, name)] + [str(sdk)]
    modules = (f"functions.{folder}.app", *LATE[folder])
    code = f"import sys; sys.path[:0] = {paths!r}; import " + ", ".join(modules)
    # -S: without the site-packages of the interpreter that happens to run this.
    command = [str(find_python()), "-S", "-E", "-s", "-B", "-c", code]
    done = subprocess.run(command, cwd=built, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_layers_of_one_function_agree_on_versions() -> None:
    for layer, below in LAYERS_BELOW.items():
        own = {pin.name: pin.version for pin in read_pins(layer)}
        for lower in below:
            shared = {pin.name: pin.version for pin in read_pins(lower) if pin.name in own}
            assert shared.items() <= own.items(), f"{layer} against {lower}"


def test_stream_has_the_api_s_versions() -> None:
    """Two layers carry the same application's framework."""
    http = {pin.name: pin.version for pin in read_pins("http")}
    shared = {pin.name: pin.version for pin in read_pins("stream") if pin.name in http}
    assert {"fastapi", "pydantic", "starlette"} <= set(shared)
    assert shared.items() <= http.items()


def test_what_is_left_out_was_there_to_leave_out() -> None:
    named = {pin.name for layer in LAYERS_BELOW for pin in read_pins(layer)}
    assert UNWANTED | {"botocore"} <= named
    assert not {pin.name for layer in LAYERS_BELOW for pin in select_pins(layer)} & (UNWANTED | PROVIDED_BY_RUNTIME)


@pytest.fixture(scope="module")
def sdk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The AWS SDK alone, as the managed runtime adds it to the path behind the layers."""
    folder = tmp_path_factory.mktemp("sdk")
    for name in ("boto3", "botocore", "s3transfer", "dateutil", "six"):
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        origin = Path(spec.origin)
        source = origin.parent if origin.name == "__init__.py" else origin
        (folder / source.name).symlink_to(source)
    return folder


def files_below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"}


def import_paths(stack: Stack, built: Path, name: str) -> list[Path]:
    return [built / name, *(built / layer / "python" for layer in stack.layers(name))]


def folders_of(stack: Stack, built: Path, name: str) -> list[Path]:
    return [built / name, *(built / layer for layer in stack.layers(name))]


def wanted_here(pin: Pin) -> bool:
    """Whether a pin's marker (PEP 508) holds; those for Windows and WebAssembly do not."""
    marker = Requirement(pin.lines.splitlines()[0].rstrip("\\ ")).marker
    return marker is None or marker.evaluate()


def runs_on_lambda(tag: str) -> bool:
    """Whether a wheel's tag (PEP 425) is for CPython 3.13 or its stable ABI, on x86_64 with a glibc that Lambda has."""
    interpreter, abi, platforms = tag.split("-")
    stable = abi == "abi3" and interpreter.startswith("cp3") and int(interpreter[3:]) <= PYTHON_VERSION[1]
    if not stable and f"{interpreter}-{abi}" not in PYTHONS:
        return False
    match = PLATFORM.fullmatch(platforms)
    return match is not None and (match["major"] is None or (int(match["major"]), int(match["minor"])) <= GLIBC)
