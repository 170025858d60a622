"""Functions as worker processes: what they see, how they fail, how they are killed."""

import asyncio
import time
from pathlib import Path

import pytest

from local.cloud.cloud import LocalCloud
from local.cloud.function import PayloadTooLargeError, ThrottledError
from tests.integration.cloud.conftest import build_options
from tests.integration.cloud.notes import wait_for
from tests.integration.cloud.processes import lives, read_state

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_function_sees_its_event_context_and_environment(cloud: LocalCloud) -> None:
    result = await cloud.invoke("Echo", {"text": "naïve 🙂"})

    answer = result.value
    assert result.function_error is None
    assert answer["event"] == {"text": "naïve 🙂"}
    assert answer["request_id"] == result.request_id
    assert 6_000 < answer["remaining_ms"] <= 7_000
    environment = answer["environment"]
    assert environment["AWS_LAMBDA_FUNCTION_MEMORY_SIZE"] == "300"
    assert environment["SHARED"] == "everywhere"
    assert environment["COLOUR"] == "very green"
    assert environment["OWN"].endswith(":event-bus/oria-bus")
    assert environment["KEY"].startswith("arn:aws:kms:")


async def test_the_shell_of_the_user_does_not_leak_into_workers(tmp_path: Path) -> None:
    user = {"AWS_PROFILE": "mine", "OPENAI_API_BASE": "https://elsewhere", "LANGSMITH_GATEWAY": "x", "HTTPS_PROXY": "p"}
    async with LocalCloud(build_options(tmp_path, user=user)) as cloud:
        environment = (await cloud.invoke("Echo", {})).value["environment"]

    assert not {"AWS_PROFILE", "OPENAI_API_BASE", "LANGSMITH_GATEWAY", "OPENAI_API_KEY"} & environment.keys()
    assert environment["HTTPS_PROXY"] == "p"
    assert "127.0.0.1" in environment["NO_PROXY"]


async def test_a_worker_is_reused(cloud: LocalCloud) -> None:
    first, second = await cloud.invoke("Echo", {}), await cloud.invoke("Echo", {})

    assert first.value["pid"] == second.value["pid"]
    assert second.init_ms is None
    assert second.duration_ms < 100


async def test_an_exception_is_answered_and_the_worker_lives_on(cloud: LocalCloud) -> None:
    before = (await cloud.invoke("Misbehave", {})).value["pid"]
    result = await cloud.invoke("Misbehave", {"do": "raise"})

    assert result.function_error == "Unhandled"
    assert result.value["errorType"] == "ValueError"
    assert result.value["errorMessage"] == "as asked"
    assert any("as asked" in line for line in cloud.logs("Misbehave"))
    assert (await cloud.invoke("Misbehave", {})).value["pid"] == before


async def test_a_worker_is_killed_at_the_timeout_with_its_children(cloud: LocalCloud, tmp_path: Path) -> None:
    await cloud.invoke("Misbehave", {})
    started = time.perf_counter()
    result = await cloud.invoke("Misbehave", {"do": "spawn", "pids": str(tmp_path / "pids")})

    assert 1.0 <= time.perf_counter() - started < 1.5
    assert result.value == {
        "errorType": "Sandbox.Timedout",
        "errorMessage": f"RequestId: {result.request_id} Error: Task timed out after 1.00 seconds",
    }
    pids = (tmp_path / "pids").read_text().split()
    assert len(pids) == 2
    await wait_for(lambda: not any(lives(int(pid)) for pid in pids))


@pytest.mark.parametrize(
    ("action", "message"), [("exit", "exit status 3"), ("kill", "signal: killed")], ids=["exit", "killed"]
)
async def test_a_crash_is_reported_as_lambda_does(cloud: LocalCloud, action: str, message: str) -> None:
    result = await cloud.invoke("Misbehave", {"do": action})

    assert result.value["errorType"] == "Runtime.ExitError"
    assert result.value["errorMessage"] == (
        f"RequestId: {result.request_id} Error: Runtime exited with error: {message}"
    )
    assert (await cloud.invoke("Misbehave", {})).function_error is None


async def test_an_unserialisable_answer_is_a_marshal_error(cloud: LocalCloud) -> None:
    assert (await cloud.invoke("Misbehave", {"do": "unserialisable"})).value["errorType"] == "Runtime.MarshalError"


async def test_an_answer_over_six_megabytes_is_refused(cloud: LocalCloud) -> None:
    result = await cloud.invoke("Misbehave", {"do": "grow"})

    assert result.value["errorType"] == "Function.ResponseSizeTooLarge"
    assert (await cloud.invoke("Misbehave", {})).function_error is None


async def test_an_event_over_six_megabytes_is_refused(cloud: LocalCloud) -> None:
    with pytest.raises(PayloadTooLargeError):
        await cloud.invoke("Echo", "x" * 7_000_000)


async def test_a_failing_init_is_the_answer(cloud: LocalCloud) -> None:
    result = await cloud.invoke("Broken", {})

    assert result.function_error == "Unhandled"
    assert result.value["errorType"] == "RuntimeError"
    assert cloud.workers("Broken") == []


async def test_a_slow_init_is_run_again_inside_the_invocation(tmp_path: Path) -> None:
    async with LocalCloud(build_options(tmp_path, init_seconds=0.5)) as cloud:
        result = await cloud.invoke("Slow", {})

    assert result.value == "initialised"


async def test_a_used_up_concurrency_throttles_synchronous_calls(cloud: LocalCloud) -> None:
    await cloud.invoke("Narrow", {})
    running = asyncio.create_task(cloud.invoke("Narrow", {"do": "sleep", "seconds": 0.3}))
    await wait_for(lambda: cloud.workers("Narrow", busy=True))

    with pytest.raises(ThrottledError):
        await cloud.invoke("Narrow", {})
    assert (await running).value == "slept"


async def test_concurrent_calls_get_workers_of_their_own(cloud: LocalCloud) -> None:
    calls = [cloud.invoke("Misbehave", {"do": "sleep", "seconds": 0.2}) for _ in range(3)]
    await asyncio.gather(*calls)

    assert len(cloud.workers("Misbehave")) == 3


async def test_a_killed_idle_worker_is_replaced(cloud: LocalCloud) -> None:
    await cloud.invoke("Echo", {})
    for worker in cloud.workers("Echo"):
        await worker.kill()

    assert (await cloud.invoke("Echo", {})).function_error is None


async def test_idle_workers_freeze_and_thaw(tmp_path: Path) -> None:
    async with LocalCloud(build_options(tmp_path, freeze=True)) as cloud:
        first = await cloud.invoke("Echo", {})
        pid = first.value["pid"]
        await wait_for(lambda: read_state(pid) == "T")

        assert (await cloud.invoke("Echo", {})).value["pid"] == pid
