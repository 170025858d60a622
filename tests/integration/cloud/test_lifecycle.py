"""The cloud as a program: its ready line, its errors, and that nothing is left behind."""

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
from psycopg import OperationalError

from local.cloud.cloud import LocalCloud
from local.cloud.options import ROOT
from tests.integration.cloud.conftest import build_options
from tests.integration.cloud.processes import descendants, lives

READY = re.compile(r"ready (http://127\.0\.0\.1:(\d+))")


@contextmanager
def run_cloud(data: Path, port: int = 0) -> Iterator[subprocess.Popen[str]]:
    """`python -m` a small program that runs a cloud of the test application until a signal."""
    program = f"""
import sys
from local.cloud.__main__ import guard
from tests.integration.cloud.conftest import build_options
from tests.integration.cloud.processes import descendants, lives
from pathlib import Path
sys.exit(guard(build_options(Path({str(data)!r}), port={port}, prewarm=("Echo", "Web"))))
"""
    environ = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'layers/runtime'}", "ORIA_TEST_MARK": str(data)}
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_every_process_and_frees_the_port(tmp_path: Path, number: signal.Signals) -> None:
    with run_cloud(tmp_path) as process:
        url, port = read_ready_line(process)
        assert httpx2.get(f"{url}/.local/issuer/jwks.json").status_code == 200
        assert len(descendants(process.pid)) >= 3
        family = descendants(process.pid)
        process.send_signal(number)

        assert process.wait(timeout=5) == 0
        assert not [pid for pid in family if lives(pid)]
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port), timeout=1)


@pytest.mark.parametrize("seconds", [0.4, 0.8, 1.2])
def test_a_signal_during_the_start_stops_it(tmp_path: Path, seconds: float) -> None:
    with run_cloud(tmp_path) as process:
        time.sleep(seconds)
        family = descendants(process.pid)
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=5)

        assert not [pid for pid in family if lives(pid)]


async def test_a_service_that_fails_ends_the_start(tmp_path: Path) -> None:
    options = build_options(tmp_path, database=True, database_url="postgresql://nobody@127.0.0.1:1/nothing")
    async with asyncio.timeout(10):
        with pytest.raises(OperationalError, match="refused"):
            await LocalCloud(options).__aenter__()


def test_a_killed_cloud_takes_its_processes_with_it(tmp_path: Path) -> None:
    with run_cloud(tmp_path) as process:
        read_ready_line(process)
        family = descendants(process.pid)
        process.kill()
        process.wait()

        deadline = time.monotonic() + 5
        while any(lives(pid) for pid in family) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not [pid for pid in family if lives(pid)]


def test_a_second_cloud_on_the_folder_or_port_says_what_to_do(tmp_path: Path) -> None:
    with run_cloud(tmp_path / "one") as first:
        _, port = read_ready_line(first)
        with run_cloud(tmp_path / "one") as second:
            assert second.wait(timeout=20) == 1
            assert "make run DATA=" in read_errors(second)
        with run_cloud(tmp_path / "two", port) as third:
            assert third.wait(timeout=20) == 1
            assert "make run PORT=" in read_errors(third)


def read_ready_line(process: subprocess.Popen[str]) -> tuple[str, int]:
    """The URL and the port that the cloud prints."""
    assert process.stdout is not None
    for line in process.stdout:
        if match := READY.match(line):
            return match[1], int(match[2])
    raise AssertionError(read_errors(process))


def read_errors(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    return process.stderr.read()
