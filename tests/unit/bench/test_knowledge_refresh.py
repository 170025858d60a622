"""What the benchmark of refreshes counts, and that both of its indexers are given the same."""

from pathlib import Path

import httpx2
from psycopg.conninfo import conninfo_to_dict

from local.bench.counted_embedder import CountedEmbedder
from local.bench.knowledge_refresh import Pass, change_documents, list_files, redirect, write_documents
from local.bench.langchain_indexing import name_chunk, read_chunks, read_files
from local.offline_model.wire.server import HttpReply, HttpRequest, reply_json, serve


def test_a_pass_shows_its_counts_and_rates() -> None:
    cells = Pass(documents=1_000, chunks=3_000, calls=24, texts=3_000, seconds=2.0).as_cells("refresh")
    assert cells == ["refresh", "1,000", "3,000", "24", "3,000", "2.0", "500", "1,500"]


def test_one_document_in_a_hundred_is_changed(tmp_path: Path) -> None:
    write_documents(tmp_path / "folder", 200)
    before = {path: path.read_bytes() for path in list_files(tmp_path / "folder")}
    change_documents(tmp_path / "folder")
    assert sum(path.read_bytes() != content for path, content in before.items()) == 2


async def test_generated_documents_have_a_chunk_for_each_section(tmp_path: Path) -> None:
    write_documents(tmp_path / "folder", 3)
    chunks, documents = await read_chunks(read_files(tmp_path / "folder"))
    assert (documents, len(chunks)) == (3, 6)


async def test_equal_chunks_of_a_document_have_names_of_their_own() -> None:
    text = b"# Leave\n\n## Notice\n\nTwo weeks.\n\n## Notice\n\nTwo weeks.\n"
    chunks, documents = await read_chunks({"http://127.0.0.1/a.md": text, "http://127.0.0.1/empty.md": b""})
    assert documents == 1
    assert len({name_chunk(chunk) for chunk in chunks}) == len(chunks) == 2


async def test_the_embedder_counts_calls_and_texts_and_passes_the_answer_on() -> None:
    async def answer(request: HttpRequest) -> HttpReply:
        return reply_json({"path": request.path, "given": request.read_json()}, 503)

    async with serve(answer) as url, httpx2.AsyncClient(base_url=url, trust_env=False) as model:
        embedder = CountedEmbedder(model)
        async with serve(embedder.pass_on) as embedder.url, httpx2.AsyncClient(trust_env=False) as client:
            address = f"{embedder.environ['OPENAI_BASE_URL']}/embeddings"
            for given in ("one", ["two", "three"]):
                answered = await client.post(address, json={"input": given})
    assert (answered.status_code, answered.json()["given"]) == (503, {"input": ["two", "three"]})
    assert (embedder.calls, embedder.texts) == (2, 3)


def test_a_database_on_a_socket_is_reached_by_the_proxy() -> None:
    parts = conninfo_to_dict(redirect("postgresql://oria_app@/oria?host=%2Fa%2Ffolder", 5433))
    assert (parts["host"], parts["port"], parts["user"], parts["dbname"]) == ("127.0.0.1", "5433", "oria_app", "oria")
