"""Requests as reviewed files. UPDATE_SNAPSHOTS=1 writes them anew."""

import json
import os
from pathlib import Path
from typing import Any


def assert_snapshot(path: Path, value: Any) -> None:
    """Compare a JSON value with the file, which shows long texts line by line."""
    text = json.dumps(split_lines(value), indent=1, ensure_ascii=False) + "\n"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def split_lines(value: Any) -> Any:
    if isinstance(value, str) and "\n" in value:
        return value.split("\n")
    if isinstance(value, dict):
        return {key: split_lines(entry) for key, entry in value.items()}
    return [split_lines(entry) for entry in value] if isinstance(value, list) else value
