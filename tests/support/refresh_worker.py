"""A worker of the refresh in a process of its own, which a test may kill.

The processes are forked from one that has imported everything: a kill then comes in the middle of the work, and not of
the imports.
"""

import multiprocessing
import os
import random
import sys
import time
from collections.abc import Mapping
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import oria_runtime.models.embeddings  # noqa: F401 - a worker imports it late; here it is there when the fork comes
from oria_runtime.knowledge.fetching.policy import FetchPolicy
from oria_runtime.knowledge.refresh.messages import RefreshMessage
from oria_runtime.knowledge.refresh.run import refresh_source
from oria_runtime.sandbox import Sandbox
from oria_runtime.turns.invocation import Invocation

SECONDS = 300.0


def start_worker(environ: Mapping[str, str], message: RefreshMessage) -> ForkServerProcess:
    """Start a worker on a message; it exits with 0 when it says that the refresh is completed."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    process = context.Process(target=run_worker, args=(dict(environ), message.as_body()), daemon=True)
    process.start()
    return process


def run_worker(environ: Mapping[str, str], body: str) -> None:
    """One invocation."""
    sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - for the life of the process
    sandbox = Sandbox(environ)
    policy = FetchPolicy(allow_loopback=True, delay_seconds=0.0)
    invocation = Invocation("worker", time.monotonic() + SECONDS)
    work = refresh_source(sandbox, RefreshMessage.from_body(body), invocation, rng=random.Random(1), policy=policy)
    sys.exit(0 if sandbox.run(work) == "completed" else 1)
