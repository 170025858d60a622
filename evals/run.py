"""Ask a model the labelled cases: `python -m evals.run --set routing --provider offline`.

`--provider openai` uses OPENAI_API_KEY and, for any compatible server, OPENAI_BASE_URL or `--base-url`. It costs what
the last line of the report says.
"""

import argparse
import asyncio
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext

from evals.report import UNAVAILABLE, Result, measure_accuracy, write_report
from evals.sets import SETS, CaseSet
from oria_runtime.errors import OriaError
from oria_runtime.models.client import Models, build_models
from oria_runtime.settings import ModelSettings
from oria_runtime.tenancy.tenants import ModelProfile, TenantConfig


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m evals.run", description=__doc__)
    parser.add_argument("--set", choices=sorted(SETS), required=True)
    parser.add_argument("--provider", choices=["offline", "openai"], default="offline")
    parser.add_argument("--base-url", help="an OpenAI-compatible server")
    parser.add_argument("--model", help="the model behind the mini profile")
    parser.add_argument("--decisions", choices=["native", "structured"], help="default: what the model supports")
    parser.add_argument("--parallel", type=int, default=4, help="requests at once")
    parser.add_argument("--minimum", type=float, default=0.0, help="exit with 1 below this accuracy (0 to 1)")
    return parser.parse_args(arguments)


def main() -> int:
    """Run one set and print its report; the exit code says whether the minimum was reached."""
    arguments = parse_arguments()
    with open_provider(arguments) as environ:
        models = build_models(ModelSettings.from_environ(environ), configure(arguments), environ=environ)
        started = time.monotonic()
        results = asyncio.run(answer_all(SETS[arguments.set], models, arguments.parallel))
    print(write_report(results, models.usage, time.monotonic() - started))
    return 0 if measure_accuracy(results) >= arguments.minimum else 1


def open_provider(arguments: argparse.Namespace) -> AbstractContextManager[Mapping[str, str]]:
    """The environment that names the provider; the offline model runs as long as it is open."""
    if arguments.provider == "offline":
        from local.offline_model.server import run_offline_model

        return run_offline_model()
    named = {"OPENAI_BASE_URL": arguments.base_url} if arguments.base_url else {}
    return nullcontext({**os.environ, **named})


def configure(arguments: argparse.Namespace) -> TenantConfig:
    """A tenant with every agent and the asked model."""
    return TenantConfig(models={"mini": ModelProfile(model=arguments.model, decisions=arguments.decisions)})


async def answer_all(cases: CaseSet, models: Models, parallel: int) -> list[Result]:
    """The results in the order of the cases."""
    free = asyncio.Semaphore(parallel)

    async def answer(case_number: int) -> Result:
        case = loaded[case_number]
        async with free:
            try:
                return Result(case, await cases.answer(case, models))
            except OriaError:
                return Result(case, UNAVAILABLE)

    loaded = cases.load()
    return await asyncio.gather(*(answer(number) for number in range(len(loaded))))


if __name__ == "__main__":
    raise SystemExit(main())
