"""`make run`: the local cloud until Ctrl-C or SIGTERM."""

import argparse
import asyncio
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from psycopg import OperationalError

from local.cloud.aws import AwsError
from local.cloud.cloud import LocalCloud, SampleTenantError
from local.cloud.data_folder import DataInUseError
from local.cloud.http_server import PortInUseError
from local.cloud.intrinsics import TemplateError
from local.cloud.model_server import ModelServerError
from local.cloud.options import CloudOptions
from local.cloud.postgres import PostgresError
from local.sample_tenant.load import DEMO_USER, SLUG
from oria_runtime.errors import OriaError

# What a newcomer's first message needs; the others start when they are needed.
PREWARMED = ("ApiFunction", "GateFunction", "SupervisorFunction", "SpecialistFunction", "StreamFunction")


def parse_arguments(arguments: Sequence[str]) -> CloudOptions:
    """The options of a command line."""
    parser = argparse.ArgumentParser(prog="python -m local.cloud", description=__doc__)
    parser.add_argument("--port", type=int, default=8000, help="port of the API")
    parser.add_argument("--data", type=Path, default=Path(".local"), help="folder for everything that is kept")
    parser.add_argument("--base-path", default="", help="path before /v1, as a stage or a custom domain puts there")
    parser.add_argument("--no-prewarm", action="store_true", help="start workers at their first invocation only")
    parser.add_argument("--verbose", action="store_true", help="print the functions' logs")
    parsed = parser.parse_args(arguments)
    options = CloudOptions(
        data=parsed.data,
        port=parsed.port,
        base_path=parsed.base_path,
        verbose=parsed.verbose,
        prewarm=() if parsed.no_prewarm else PREWARMED,
        progress=print_step,
    )
    database_url = options.user.get("DATABASE_URL")
    return options if not database_url else replace(options, database_url=database_url)


def print_step(what: str, seconds: float) -> None:
    print(f"{seconds:6.1f} s  {what}", flush=True)


async def run(options: CloudOptions) -> None:
    """Run until a signal comes."""
    stopped = asyncio.Event()
    task = asyncio.current_task()
    loop = asyncio.get_running_loop()

    def stop() -> None:
        # Once: a second Ctrl-C must not interrupt the stopping and leave processes behind.
        if not stopped.is_set() and task is not None:
            stopped.set()
            print("stopping", flush=True)
            task.cancel()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    try:
        async with LocalCloud(options) as cloud:
            print(describe(cloud), flush=True)
            print(f"ready {cloud.url}", flush=True)
            await asyncio.Event().wait()
    except asyncio.CancelledError:
        if not stopped.is_set():
            raise


def describe(cloud: LocalCloud) -> str:
    """What a newcomer needs to know."""
    model = "the offline model (a demonstration; OPENAI_API_KEY names a real one)" if cloud.model_url else "yours"
    lines = [f"model   {model}", f"tenant  {SLUG}, user {DEMO_USER}", f"logs    {cloud.options.data}/logs"]
    return "\n".join([*lines, "token   make token"])


def guard(options: CloudOptions) -> int:
    """Run, and answer what the user can do about an error; the exit status."""
    try:
        asyncio.run(run(options))
    except PortInUseError as error:
        print(f"{error}; stop what listens there or choose another: make run PORT=<port>", file=sys.stderr)
    except DataInUseError as error:
        print(f"{error}; stop it or choose another folder: make run DATA=<folder>", file=sys.stderr)
    except OperationalError as error:
        print(f"the database does not answer: {error}; check DATABASE_URL", file=sys.stderr)
    except (AwsError, ModelServerError, PostgresError, SampleTenantError, TemplateError, OriaError) as error:
        print(error, file=sys.stderr)
    else:
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(guard(parse_arguments(sys.argv[1:])))
