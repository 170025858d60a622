"""The command line as an operator meets it: its own process, a real database, an embedding server over HTTP."""

import asyncio
import hashlib
import json
import os
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from oria_runtime.catalog.identifiers import derive_tenant_id
from oria_runtime.db.pool import Pool, TenantDatabase
from tests.integration.catalog.files import fetch, write_csv, write_ndjson
from tests.support.database import DatabaseUrls

ROOT = Path(__file__).parents[3]


class EmbeddingHandler(BaseHTTPRequestHandler):
    """OpenAI's POST /v1/embeddings with vectors made from the texts."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
        data = [{"object": "embedding", "index": n, "embedding": embed(text)} for n, text in enumerate(texts)]
        usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
        answer = json.dumps({"object": "list", "data": data, "model": body["model"], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


def embed(text: str) -> list[float]:
    return [byte / 255 for byte in hashlib.shake_256(text.encode()).digest(512)]


@pytest.fixture
def embedding_url() -> Iterator[str]:
    """The address of an embedding server."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), EmbeddingHandler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()
    thread.join()


async def run_importer(*arguments: str, **environ: str) -> tuple[int | None, str, str]:
    """Exit code, stdout and stderr."""
    inherited = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "oria_runtime.catalog.importer", *arguments),
        env=inherited | {"PYTHONPATH": str(ROOT / "layers" / "runtime")} | environ,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    return process.returncode, out.decode(), err.decode()


async def test_a_customer_loads_a_tenant_and_its_trainings(
    pool: Pool, database_urls: DatabaseUrls, embedding_url: str, tmp_path: Path
) -> None:
    environ = {"DATABASE_URL": database_urls.app, "OPENAI_BASE_URL": embedding_url, "OPENAI_API_KEY": "test"}
    tenants = write_csv(
        tmp_path / "tenant.csv", ["slug", "name", "config"], ["globex", "Globex", '{"company_name": "Globex"}']
    )
    code, out, err = await run_importer("--kind", "tenant", "--file", str(tenants), **environ)
    assert (code, err) == (0, "")
    assert out.startswith("tenant: inserted 1, updated 0, unchanged 0, failed 0")
    rows: list[dict[str, Any]] = [
        {"external_id": "T1", "title": "Négociation", "language": "fr"},
        {"external_id": "T2", "title": "SQL", "duration_minutes": "long"},
        {"external_id": "T3", "title": "SQL", "parents": ["T1"]},
    ]
    path, errors = write_ndjson(tmp_path / "t.ndjson", rows), tmp_path / "errors.ndjson"
    arguments = ("--kind", "trainings", "--tenant", "globex", "--file", str(path), "--errors", str(errors))
    code, out, err = await run_importer(*arguments, **environ)
    assert code == 1
    assert "inserted 2, updated 0, unchanged 0, failed 1, embedded 2" in out
    assert "row 2, duration_minutes: " in err
    assert "rows/s" in err
    assert [json.loads(line)["row"] for line in errors.read_text().splitlines()] == [2]
    database = TenantDatabase(pool, derive_tenant_id("globex"))
    found = await fetch(database, "select external_id from trainings where embedding is not null order by 1")
    assert [row["external_id"] for row in found] == ["T1", "T3"]
    code, out, _ = await run_importer(*arguments, "--strict", "--dry-run", **environ)
    assert (code, "would be inserted 0" in out) == (1, True)


async def test_what_is_missing_is_said_with_the_next_step(database_urls: DatabaseUrls, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "skills.csv", ["external_id", "label"], ["S1", "SQL"])
    arguments = ("--kind", "skills", "--file", str(path))
    code, _, err = await run_importer(*arguments)
    assert (code, "DATABASE_URL" in err) == (2, True)
    code, _, err = await run_importer(*arguments, "--tenant", "nobody", DATABASE_URL=database_urls.app)
    assert (code, "import it first (--kind tenant)" in err) == (2, True)
    code, _, err = await run_importer(*arguments, DATABASE_URL="postgresql://127.0.0.1:1/none")
    assert (code, "cannot connect" in err) == (2, True)
    code, _, err = await run_importer("--kind", "skills", "--file", str(tmp_path / "none.csv"), DATABASE_URL="x")
    assert (code, "cannot connect" in err, "Traceback" in err) == (2, True, False)
    gone = ("--kind", "tenant", "--file", str(tmp_path / "none.csv"))
    code, _, err = await run_importer(*gone, DATABASE_URL=database_urls.app)
    assert (code, "none.csv: No such file" in err, "Traceback" in err) == (2, True, False)


async def test_help_says_how(tmp_path: Path) -> None:
    code, out, _ = await run_importer("--help")
    assert code == 0
    assert "--mapping" in out
    assert "docs/import.md" in out


async def test_tenants_are_updated_and_never_taken_over(
    pool: Pool, database_urls: DatabaseUrls, tmp_path: Path
) -> None:
    first: dict[str, Any] = {"slug": "globex", "name": "Globex", "id": "11111111-1111-4111-8111-111111111111"}
    renamed = first | {"name": "Globex SA", "config": {"company_name": "Globex", "locales": ["fr"]}}
    foreign = first | {"id": "22222222-2222-4222-8222-222222222222"}
    wrong: dict[str, Any] = {"slug": "umbrella", "name": "Umbrella", "config": {"colour": "red"}}
    path = tmp_path / "t.ndjson"
    for rows, expected in (
        ([first], (0, "inserted 1, updated 0, unchanged 0, failed 0")),
        ([renamed], (0, "inserted 0, updated 1, unchanged 0, failed 0")),
        (
            [foreign, wrong, wrong | {"config": {}}, wrong | {"config": {}}],
            (1, "inserted 1, updated 0, unchanged 0, failed 3"),
        ),
    ):
        code, out, err = await run_importer(
            "--kind", "tenant", "--file", str(write_ndjson(path, rows)), DATABASE_URL=database_urls.app
        )
        assert (code, expected[1] in out) == (expected[0], True), out + err
    assert "row 1, slug: belongs to another tenant" in err
    assert "row 2, config.colour: " in err
    assert "row 4, slug: the same slug as in row 3" in err
