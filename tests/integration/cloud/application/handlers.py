"""Handlers that behave as a test needs: one per way in which a Lambda function can go wrong."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any


def echo(event: Any, context: Any) -> Any:
    """The event, and what a function can see of its invocation."""
    return {
        "event": event,
        "pid": os.getpid(),
        "request_id": context.aws_request_id,
        "remaining_ms": context.get_remaining_time_in_millis(),
        "environment": dict(os.environ),
    }


def misbehave(event: dict[str, Any], context: Any) -> Any:
    """Do what the event's `do` says, after noting the call in the file `note`."""
    if note := event.get("note"):
        with Path(note).open("a", encoding="utf-8") as file:
            file.write(json.dumps([event.get("do"), time.time(), context.aws_request_id]) + "\n")
    return ACTIONS[event.get("do", "return")](event)


def take_record(event: dict[str, Any], context: Any) -> None:
    """Keep what a destination, a rule or a schedule delivered: a line of JSON in the file NOTES."""
    with Path(os.environ["NOTES"]).open("a", encoding="utf-8") as file:
        file.write(json.dumps(event) + "\n")


def take_batch(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Handle SQS messages; those whose body is `bad` fail."""
    take_record({"bodies": [record["body"] for record in event["Records"]]}, context)
    failed = [record["messageId"] for record in event["Records"] if record["body"] == "bad"]
    return {"batchItemFailures": [{"itemIdentifier": identifier} for identifier in failed]}


def meet_other(event: dict[str, Any], context: Any) -> None:
    """Handle an SQS message once another one is being handled as well; fail when none comes."""
    take_record({"body": event["Records"][0]["body"]}, context)
    started = time.monotonic()
    while len(Path(os.environ["NOTES"]).read_text(encoding="utf-8").splitlines()) < 2:
        if time.monotonic() - started > 8:
            raise TimeoutError
        time.sleep(0.02)


def serve(event: dict[str, Any], context: Any) -> Any:
    """A proxy integration: answers the event that it got, or what the path says."""
    if event["path"] == "/v1/broken":
        return "not a proxy response"
    if event["path"] == "/v1/slow":
        time.sleep(float(event["queryStringParameters"]["seconds"]))
    if event["path"] == "/v1/nothing":
        return {"statusCode": 204}
    return {"statusCode": 201, "headers": {"X-Kept": "yes"}, "body": json.dumps(event)}


def _sleep(event: dict[str, Any]) -> str:
    time.sleep(event.get("seconds", 60))
    return "slept"


def _raise(event: dict[str, Any]) -> None:
    raise ValueError("as asked")


def _exit(event: dict[str, Any]) -> None:
    os._exit(3)


def _kill(event: dict[str, Any]) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _spawn(event: dict[str, Any]) -> None:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    Path(event["pids"]).write_text(f"{os.getpid()} {child.pid}", encoding="utf-8")
    time.sleep(60)


ACTIONS: dict[str, Any] = {
    "return": lambda _: {"pid": os.getpid()},
    "sleep": _sleep,
    "raise": _raise,
    "exit": _exit,
    "kill": _kill,
    "spawn": _spawn,
    "grow": lambda _: "x" * 7_000_000,
    "unserialisable": lambda _: object(),
}
