"""How fast the importer is, from a file on, into tables that are indexed already."""

import asyncio
import json
import tempfile
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from psycopg.types.json import Jsonb

from local.bench.catalogue import DIMENSIONS, Row, Writer
from local.bench.figures import Table
from local.bench.testbed import BenchError
from local.offline_model.embedder import Embedder as SentenceEncoder
from oria_runtime.catalog.loading.embedding import Embedder
from oria_runtime.catalog.loading.errors import ErrorLog
from oria_runtime.catalog.loading.mapping import ColumnMapping
from oria_runtime.catalog.loading.rows import KINDS
from oria_runtime.catalog.loading.run import import_rows
from oria_runtime.catalog.loading.sources import Source
from oria_runtime.catalog.loading.summary import Summary
from oria_runtime.db.pool import TenantDatabase

ROWS = 1_000
COLUMNS = ["", "rows", "texts embedded", "rows/s, embedding for free", "rows/s, offline embedder", "rows/s, unchanged"]


class FreeEmbedder:
    """Random vectors at once: what is left is the importer and the database."""

    embedding_model = "free"

    def __init__(self) -> None:
        self._numbers = np.random.default_rng(1)

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [row.tolist() for row in self._numbers.standard_normal((len(texts), DIMENSIONS))]


class OfflineEmbedder:
    """The sentence encoder of the offline model, without its HTTP server."""

    embedding_model = "offline"

    def __init__(self) -> None:
        self._encoder = SentenceEncoder()

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [row.tolist() for row in await asyncio.to_thread(self._encoder.embed, texts)]


async def measure_imports(database: TenantDatabase, say: Callable[[str], None]) -> Table:
    """Each kind three times: new rows, the same with another embedding model, the same again."""
    embedders: list[Embedder] = [FreeEmbedder(), OfflineEmbedder()]
    await embedders[1].embed(["loads its weights"])
    rows = []
    with tempfile.TemporaryDirectory(prefix="oria-bench-") as folder:
        for kind, path in write_files(Path(folder), Writer(2)).items():
            say(f"importing {ROWS:,} {kind}")
            free, offline, again = [
                await import_file(database, kind, path, embedder) for embedder in (*embedders, embedders[1])
            ]
            rates = [f"{each.rows_per_second:,.0f}" for each in (free, offline, again)]
            rows.append([kind, f"{free.rows:,}", f"{offline.embedded:,}", *rates])
    note = (
        "Into the big catalogue's tables with all their indexes; the file is checked whole before anything is written."
    )
    return Table("8. Import speed", COLUMNS, rows, [note])


def write_files(folder: Path, writer: Writer) -> dict[str, Path]:
    """An NDJSON file of each kind, in the order in which kinds are imported."""
    makers = {
        "skills": writer.skill,
        "jobs": writer.job,
        "trainings": writer.training,
        "opportunities": writer.opportunity,
        "people": writer.person,
    }
    paths = {}
    for kind, make in makers.items():
        paths[kind] = folder / f"{kind}.ndjson"
        with paths[kind].open("w", encoding="utf-8") as file:
            for number in range(ROWS):
                row = flatten(kind, make(writer.topic(), number)) | {"external_id": f"imported-{number}"}
                file.write(json.dumps(row, default=date.isoformat) + "\n")
    return paths


def flatten(kind: str, row: Row) -> dict[str, Any]:
    """A table's row as an import file has it: sections of the profile are columns, codes follow from skills, and those
    of a job have their labels from the library."""
    values = {key: value.obj if isinstance(value, Jsonb) else value for key, value in row.items()}
    values.pop("skill_codes", None)
    values |= values.pop("profile", {})
    if kind == "jobs":
        values["skills"] = [{"code": skill["code"], "level": skill["level"]} for skill in values["skills"]]
    return values


async def import_file(database: TenantDatabase, kind: str, path: Path, embedder: Embedder) -> Summary:
    """Import a file through the real importer. Raises BenchError when a row is refused."""
    log = ErrorLog()
    summary = await import_rows(database, Source(KINDS[kind], path, "ndjson", ColumnMapping()), embedder, log)
    if log.rows:
        raise BenchError(f"{log.rows} {kind} were refused, the first: {log.first[0].reason}")
    return summary
