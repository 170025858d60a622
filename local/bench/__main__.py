"""`make bench`: latency, throughput, queries, bytes and cold starts, as tables with the aim beside each figure."""

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from importlib import import_module

from local.bench.figures import Table
from local.bench.testbed import BenchError

Measure = Callable[[Callable[[str], None]], Awaitable[list[Table]]]

# In the order of the report: name, module, what it says.
MEASUREMENTS = {
    "overhead": ("local.bench.turn_overhead", "a turn through three workers beside the same graph in one process"),
    "growth": ("local.bench.growth", "time and bytes of turn 10, 100 and 500 of a conversation"),
    "queries": ("local.bench.queries", "statements and round trips of each stage"),
    "specialists": ("local.bench.specialists", "a turn of each specialist: its time, and its statements by stage"),
    "cold": ("local.bench.cold_start", "from spawn to first response, function by function"),
    "load": ("local.bench.load", "a hundred conversations at once"),
    "search": ("local.bench.search", "each search of a catalogue of 100,000 trainings and 50,000 people, import speed"),
    "refresh": ("local.bench.knowledge_refresh", "a refresh of knowledge beside LangChain's indexing API"),
    "start": ("local.bench.startup", "make run until ready"),
}


def parse_arguments(arguments: Sequence[str]) -> list[str]:
    """The names of the measurements to take."""
    names = "\n".join(f"  {name:<11} {text}" for name, (_, text) in MEASUREMENTS.items())
    parser = argparse.ArgumentParser(
        prog="python -m local.bench",
        description=f"{__doc__}\n\nmeasurements:\n{names}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--only", action="append", choices=list(MEASUREMENTS), metavar="NAME", help="take this one; may be repeated"
    )
    only: list[str] | None = parser.parse_args(arguments).only
    return [name for name in MEASUREMENTS if only is None or name in only]


def describe_machine() -> str:
    """Where the figures come from; a busy machine makes other ones."""
    load = " ".join(f"{each:.1f}" for each in os.getloadavg())
    return f"{os.cpu_count()} cores, load {load}, Python {sys.version.split()[0]}"


async def run(names: Sequence[str]) -> None:
    """Take the measurements one after the other and print each when it is done."""
    started = time.perf_counter()
    print(describe_machine(), flush=True)
    for name in names:
        module, text = MEASUREMENTS[name]
        measure: Measure = import_module(module).measure

        def say(what: str, label: str = name) -> None:
            print(f"{time.perf_counter() - started:6.1f} s  {label}: {what}", file=sys.stderr, flush=True)

        say(text)
        for table in await measure(say):
            print(f"\n{table.render()}\n", flush=True)
    print(f"{time.perf_counter() - started:.0f} s; {describe_machine()}")


def main() -> int:
    names = parse_arguments(sys.argv[1:])
    try:
        asyncio.run(run(names))
    except BenchError as error:
        print(f"the benchmark went wrong: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
