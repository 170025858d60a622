"""The model servers as threads and processes, and connections across event loops."""

import asyncio
import json
import signal
import subprocess
import sys
from urllib.request import urlopen

import pytest

from local.offline_model.server import run_offline_model
from oria_runtime.models.client import build_models
from oria_runtime.models.transport import holders
from oria_runtime.settings import ModelSettings
from oria_runtime.tenancy.tenants import TenantConfig
from tests.support.scripted_model import run_scripted_model, say


async def greet(environ: dict[str, str]) -> str:
    models = build_models(ModelSettings(), TenantConfig(), environ=environ)
    return (await models.chat("mini", "test").ainvoke("hello")).text


def test_connections_close_with_their_loop_and_another_loop_opens_its_own() -> None:
    with run_scripted_model() as script:
        script.on().reply(say("Hi."))
        assert [asyncio.run(greet(script.environ)) for _ in range(3)] == ["Hi."] * 3
        assert script.connections == 3
    assert not [loop for loop in holders if loop.is_closed()]


def test_the_offline_model_runs_in_a_thread() -> None:
    with run_offline_model() as environ:
        assert "Hello" in asyncio.run(greet(environ))


def test_the_scripted_model_runs_as_a_process() -> None:
    command = [sys.executable, "-m", "tests.support.scripted_model"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        base_url = process.stdout.readline().strip()
        try:
            asyncio.run(greet({"OPENAI_BASE_URL": base_url, "OPENAI_API_KEY": "scripted"}))
            with urlopen(base_url.removesuffix("/v1") + "/requests") as answer:
                assert json.load(answer) == [{"endpoint": "responses", "label": "test"}]
        finally:
            process.terminate()


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_the_offline_model_says_what_it_is_and_stops_when_told(stop: signal.Signals) -> None:
    command = [sys.executable, "-m", "local.offline_model", "--port", "0", "--pace", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        banner = "".join(process.stdout.readline() for _ in range(3))
        assert "demonstration, not a judge" in banner
        process.send_signal(stop)
        assert process.wait(10) == 0
