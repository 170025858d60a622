"""The application of the repository in the local cloud: what `make demo` shows, on the offline model."""

from pathlib import Path

import httpx2
import pytest

from local.cloud.cloud import LocalCloud
from local.cloud.demo import hold_conversation
from local.cloud.options import CloudOptions


@pytest.mark.slow
@pytest.mark.timeout(400)
async def test_the_demo_holds_its_conversation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = CloudOptions(data=tmp_path, throwaway=True, offline_model=True)
    async with LocalCloud(options) as cloud:
        async with httpx2.AsyncClient(base_url=cloud.url, timeout=30.0) as client:
            assert (await client.get("/v1/health")).json()["status"] == "ok"
            assert (await client.get("/v1/assistants")).status_code == 401
        await hold_conversation(cloud)
        stages = ("GateFunction", "SupervisorFunction", "SpecialistFunction", "MemoryFunction")
        assert all(cloud.workers(function) for function in stages)

    shown = capsys.readouterr().out
    assert shown.index("(awaiting_input") < shown.index("Show me more") < shown.index("(blocked")
    cards = ("Bonjour", "[opportunitySuggestionList]", "[simulation]", "[simulation_assessment]")
    assert sorted(cards, key=shown.index) == list(cards)
