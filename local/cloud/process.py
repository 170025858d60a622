"""A child process in a group of its own, its output going to a log, killed with everything that it started."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

# A grandchild that left the group can keep the pipe open for ever.
DRAIN_SECONDS = 0.5
LINE_LIMIT_BYTES = 4 * 1024 * 1024
LISTEN_POLL_SECONDS = 0.02
# Runs a command and ends its group when standard input closes, which it does however the parent ends, SIGKILL included.
# Input goes by way of descriptor 3, because a shell gives what it runs in the background none.
LEASH = """
exec 3<&0
"$@" </dev/null 3<&- & child=$!
(cat <&3; kill -KILL -$$) >/dev/null 2>&1 &
wait $child
"""


async def spawn(*command: str, **options: Any) -> asyncio.subprocess.Process:
    """`asyncio.create_subprocess_exec` in a session of its own, safe to cancel.

    A cancellation in the middle of asyncio's own call can wait for ever (seen with Python 3.13.0), so the call is let
    finish and its process is killed.
    """
    work = asyncio.ensure_future(asyncio.create_subprocess_exec(*command, start_new_session=True, **options))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        child = await work
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        await child.wait()
        raise


class Process:
    """A running command. Its group is killed as one, as Lambda kills a sandbox."""

    def __init__(self, child: asyncio.subprocess.Process, write_line: Callable[[str], None]) -> None:
        self._child = child
        self.pid = child.pid
        self.ended = asyncio.create_task(child.wait())
        self._pump = asyncio.create_task(self._copy_output(write_line))

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        *,
        cwd: Path,
        environ: Mapping[str, str],
        write_line: Callable[[str], None],
        leashed: bool = False,
    ) -> "Process":
        """Start a command; stdout and stderr both go to `write_line`, a line at a time.

        A `leashed` one cannot outlive this process. Workers need no leash: they end when their Runtime API is gone.
        """
        child = await spawn(
            *(("/bin/sh", "-c", LEASH, "leash", *command) if leashed else command),
            cwd=cwd,
            env=dict(environ),
            stdin=asyncio.subprocess.PIPE if leashed else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            limit=LINE_LIMIT_BYTES,
        )
        return cls(child, write_line)

    @property
    def alive(self) -> bool:
        return not self.ended.done()

    def describe_exit(self) -> str:
        """How the process ended, in the words of Lambda's logs."""
        code = self._child.returncode
        if code is None:
            return "still running"
        return f"signal: {(signal.strsignal(-code) or str(-code)).lower()}" if code < 0 else f"exit status {code}"

    async def wait(self) -> int:
        """The exit status, when the process has ended and its output was read."""
        status = await self.ended
        await asyncio.wait({self._pump}, timeout=DRAIN_SECONDS)
        return status

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the whole group, if it is still there."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, number)

    async def kill(self) -> None:
        """SIGKILL the group and wait until it is gone."""
        self.signal(signal.SIGKILL)
        await self.ended
        await asyncio.wait({self._pump}, timeout=DRAIN_SECONDS)
        self._pump.cancel()

    async def stop(self, patience: float) -> None:
        """SIGTERM, and SIGKILL after `patience` seconds."""
        self.signal(signal.SIGTERM)
        await asyncio.wait({self.ended}, timeout=patience)
        await self.kill()

    async def _copy_output(self, write_line: Callable[[str], None]) -> None:
        stream = self._child.stdout
        if stream is None:
            return
        with contextlib.suppress(ValueError, asyncio.CancelledError):  # ValueError: a line over the limit
            async for line in stream:
                write_line(line.decode(errors="replace").rstrip("\n"))


async def wait_until_listening(process: Process, port: int, seconds: float) -> bool:
    """Whether a process came to listen on a port of this machine before it ended and before `seconds` had passed."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while process.alive:
                with contextlib.suppress(OSError):
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                    writer.close()
                    return True
                await asyncio.sleep(LISTEN_POLL_SECONDS)
    return False
