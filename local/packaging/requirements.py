"""Which distributions each dependency layer holds, read from the pinned files that it is built from."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DEPENDENCIES = ROOT / "layers" / "dependencies"

# Layers from the bottom up: a layer leaves out what those below it have. Every function has the base layer.
LAYERS_BELOW: Mapping[str, Sequence[str]] = {
    "base": (),
    "http": ("base",),
    "stream": ("base",),
    "graph": ("base",),
    "tracing": ("base", "graph"),
    "anthropic": ("base", "graph"),
    "migrations": ("base", "graph"),
}

# The managed runtime carries the AWS SDK and what only the SDK needs; 24 MB that every cold start would unpack again.
PROVIDED_BY_RUNTIME = frozenset({"boto3", "botocore", "s3transfer", "python-dateutil", "six"})
# langsmith's optional compression of traces, 24 MB; it imports it only when it is there.
UNWANTED = frozenset({"zstandard"})

REQUIREMENT = re.compile(r"^(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)==(?P<version>[^\s;\\]+)", re.MULTILINE)


@dataclass(frozen=True)
class Pin:
    """A pinned distribution: its normalized name (PEP 503), its version, and its lines with hashes and marker."""

    name: str
    version: str
    lines: str


def read_pins(layer: str) -> list[Pin]:
    """Everything that a layer's pinned file names, the layers below included."""
    text = (DEPENDENCIES / f"{layer}.txt").read_text(encoding="utf-8")
    starts = [match.start() for match in REQUIREMENT.finditer(text)]
    return [_parse_pin(text[start:end]) for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]


def select_pins(layer: str) -> list[Pin]:
    """What goes into a layer: its pins without those of the layers below, the runtime's own and the unwanted."""
    left_out = PROVIDED_BY_RUNTIME | UNWANTED | {pin.name for below in LAYERS_BELOW[layer] for pin in read_pins(below)}
    return [pin for pin in read_pins(layer) if pin.name not in left_out]


def _parse_pin(lines: str) -> Pin:
    match = REQUIREMENT.match(lines)
    assert match is not None  # noqa: S101 - the caller cut the text at these matches
    name = re.sub(r"[-_.]+", "-", match["name"]).lower()
    # pip-compile writes comment lines ("# via …") between pins; hashes and continuations end before them.
    kept = [line for line in lines.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    return Pin(name, match["version"], "\n".join(kept).rstrip("\\ ") + "\n")
