"""Files to import, and an embedding model that is exact, counted and able to fail."""

import csv
import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from oria_runtime.catalog.loading.errors import ErrorLog
from oria_runtime.catalog.loading.files import guess_format
from oria_runtime.catalog.loading.mapping import ColumnMapping
from oria_runtime.catalog.loading.rows import KINDS
from oria_runtime.catalog.loading.run import ImportOptions, import_rows
from oria_runtime.catalog.loading.sources import Source
from oria_runtime.catalog.loading.summary import Summary
from oria_runtime.db.pool import TenantDatabase
from oria_runtime.errors import UnavailableError


class SeededEmbedder:
    """A vector per text from the text itself; raises once `fails_after` texts have been embedded."""

    def __init__(self, embedding_model: str = "seeded-1", fails_after: int | None = None) -> None:
        self.embedding_model = embedding_model
        self.fails_after = fails_after
        self.texts: list[str] = []

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        if self.fails_after is not None and len(self.texts) + len(texts) > self.fails_after:
            raise UnavailableError("the embedding model is away")
        self.texts.extend(texts)
        return [self.embed_one(text) for text in texts]

    def embed_one(self, text: str) -> list[float]:
        source = random.Random(f"{self.embedding_model}:{text}")
        return [source.uniform(-1, 1) for _ in range(512)]


def write_ndjson(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def write_csv(path: Path, header: Sequence[str], *rows: Sequence[str], encoding: str = "utf-8") -> Path:
    with path.open("w", encoding=encoding, newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


async def import_path(
    database: TenantDatabase,
    kind: str,
    path: Path,
    embedder: SeededEmbedder | None = None,
    *,
    mapping: ColumnMapping | None = None,
    **options: Any,
) -> tuple[Summary, ErrorLog]:
    """Import a file as the command line does."""
    log = ErrorLog()
    source = Source(KINDS[kind], path, guess_format(path), mapping or ColumnMapping())
    embedder = embedder or SeededEmbedder()
    summary = await import_rows(database, source, embedder, log, options=ImportOptions(**options))
    return summary, log


async def fetch(database: TenantDatabase, query: str, *values: Any) -> list[dict[str, Any]]:
    """Rows of a query under the tenant's policies."""
    async with database.transaction() as connection:
        return await (await connection.execute(query.encode(), values)).fetchall()
