"""Questions about the handbook of `../shared/data`, each with the pages that answer it, in three languages.

They are ours, paraphrased from what a page says. `knowledge` was looked at while chunks, search and the offline model
were tuned; `knowledge_held_out` was only ever counted. No page answers those of `knowledge_unrelated`: what is found
for them is noise; the ones whose id begins with "held" were not looked at either.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent
HANDBOOK: Final = FOLDER.parents[1] / "shared" / "data" / "handbook" / "pages"
KNOWN: Final = "knowledge"
HELD_OUT: Final = "knowledge_held_out"
UNRELATED: Final = "knowledge_unrelated"
KNOWLEDGE_NAMES: Final = (KNOWN, HELD_OUT, UNRELATED)
ENDING: Final = ".md"


@dataclass(frozen=True)
class KnowledgeCase:
    """A question; `pages` are names of files below the handbook's folder without their ending, any of them is right."""

    id: str
    language: str
    question: str
    pages: Sequence[str]


def load_knowledge_cases(name: str) -> list[KnowledgeCase]:
    """The questions of `<name>.ndjson`."""
    lines = (FOLDER / f"{name}.ndjson").read_text(encoding="utf-8").splitlines()
    return [KnowledgeCase(**json.loads(line)) for line in lines]


def list_pages(folder: Path = HANDBOOK) -> dict[str, Path]:
    """The handbook's files by the names that cases use. Raises SystemExit, saying what is missing, without them."""
    files = sorted(folder.rglob(f"*{ENDING}"))
    if not files:
        raise SystemExit(f"{folder} has no pages: the set `knowledge` asks about the handbook that belongs there.")
    return {file.relative_to(folder).as_posix().removesuffix(ENDING): file for file in files}
