"""`make knowledge` where something is missing: it says what to do. With a cloud, tests/e2e/test_knowledge.py."""

from pathlib import Path
from typing import Any

import pytest

from local.cloud.folder import Folder
from local.cloud.http_server import bind
from local.cloud.knowledge_command import describe_question, main, parse_arguments
from local.cloud.running_file import RunningFile
from local.sample_tenant.load import HANDBOOK


def say(capsys: pytest.CaptureFixture[str], *arguments: Any) -> str:
    """What a call that goes wrong tells."""
    assert main([str(argument) for argument in arguments]) == 1
    return capsys.readouterr().err


def test_without_a_cloud_it_says_how_to_start_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = say(capsys, "--data", tmp_path, "--port", 0)
    assert told == f"no local cloud runs on {tmp_path}; start it in another terminal: make run DATA={tmp_path}\n"


def test_a_cloud_that_was_killed_is_not_waited_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    listener = bind("127.0.0.1", 0)
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    listener.close()
    RunningFile(url, "", "", "").write(tmp_path)
    told = say(capsys, "--data", tmp_path, "--port", 0)
    assert f"the local cloud at {url} does not answer" in told
    assert "make run" in told


def test_a_folder_without_documents_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes.xyz").write_text("none")
    assert say(capsys, "--folder", tmp_path / "none").startswith(f"there is no folder {tmp_path}/none; name one:")
    assert say(capsys, "--folder", tmp_path).startswith(f"no document in {tmp_path}; read are .md,")


def test_a_busy_port_is_named_with_a_way_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    listener = bind("127.0.0.1", 0)
    port = listener.getsockname()[1]
    told = say(capsys, "--data", tmp_path, "--port", port)
    listener.close()
    assert told.startswith(f"port {port} is in use; is `make knowledge` running already?")


def test_the_sample_handbook_is_what_a_call_without_a_folder_serves() -> None:
    order = parse_arguments([])
    assert (order.folder, order.port, order.name) == (HANDBOOK.resolve(), 8090, "sample_tenant/handbook")
    assert 14 <= len(Folder(order.folder).list_documents()) <= 20


def test_the_example_question_is_about_a_document_and_can_be_pasted(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# Read me\n")
    (tmp_path / "travel.md").write_text('# The driver\'s "handbook"\n')
    order = parse_arguments(["--folder", str(tmp_path), "--tenant", "acme", "--data", "there"])
    shown = describe_question(order, "http://127.0.0.1:1", Folder(tmp_path))
    assert "TOKEN=$(make -s token TENANT=acme DATA=there)" in shown
    assert '"message": "What are our rules on The driver’s handbook?"' in shown
