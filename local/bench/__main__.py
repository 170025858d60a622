"""`make bench`: latency, throughput, queries, bytes and cold starts, as tables with the aim beside each figure."""

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
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
    "knowledge_search": (
        "local.bench.knowledge_search",
        "searches of 1,000, 100,000 and a million chunks of knowledge",
    ),
    "start": ("local.bench.startup", "make run until ready"),
}


@dataclass(frozen=True)
class Order:
    """Names of the measurements to take, and `chunks`: sizes of the generated knowledge, None for the usual ones."""

    names: Sequence[str]
    chunks: Sequence[int] | None


def parse_sizes(text: str) -> list[int]:
    """Sizes separated by commas, each of at least 1,000. Raises ValueError."""
    sizes = [int(each) for each in text.split(",")]
    if min(sizes) < 1_000:
        raise ValueError(text)
    return sizes


def parse_arguments(arguments: Sequence[str]) -> Order:
    """What to measure."""
    names = "\n".join(f"  {name:<16} {text}" for name, (_, text) in MEASUREMENTS.items())
    parser = argparse.ArgumentParser(
        prog="python -m local.bench",
        description=f"{__doc__}\n\nmeasurements:\n{names}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--only", action="append", choices=list(MEASUREMENTS), metavar="NAME", help="take this one; may be repeated"
    )
    parser.add_argument(
        "--knowledge-chunks",
        type=parse_sizes,
        metavar="SIZES",
        help="sizes of the generated knowledge, such as 1000,100000; a million takes 10 minutes and 6.3 GB of disk",
    )
    parsed = parser.parse_args(arguments)
    names_taken = [name for name in MEASUREMENTS if parsed.only is None or name in parsed.only]
    return Order(names_taken, parsed.knowledge_chunks)


def describe_machine() -> str:
    """Where the figures come from; a busy machine makes other ones."""
    load = " ".join(f"{each:.1f}" for each in os.getloadavg())
    return f"{os.cpu_count()} cores, load {load}, Python {sys.version.split()[0]}"


def find_measure(name: str, order: Order) -> Measure:
    """What takes a measurement, as it was ordered."""
    module = import_module(MEASUREMENTS[name][0])
    measure: Measure = module.measure
    if name == "knowledge_search" and order.chunks:
        measure = partial(module.measure, sizes=order.chunks)
    return measure


async def run(order: Order) -> None:
    """Take the measurements one after the other and print each when it is done."""
    started = time.perf_counter()
    print(describe_machine(), flush=True)
    for name in order.names:
        text = MEASUREMENTS[name][1]

        def say(what: str, label: str = name) -> None:
            print(f"{time.perf_counter() - started:6.1f} s  {label}: {what}", file=sys.stderr, flush=True)

        say(text)
        for table in await find_measure(name, order)(say):
            print(f"\n{table.render()}\n", flush=True)
    print(f"{time.perf_counter() - started:.0f} s; {describe_machine()}")


def main() -> int:
    order = parse_arguments(sys.argv[1:])
    try:
        asyncio.run(run(order))
    except BenchError as error:
        print(f"the benchmark went wrong: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
