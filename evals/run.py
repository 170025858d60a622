"""Ask a model the labelled cases: `python -m evals.run --set routing routing_hard --provider offline`.

Every other provider reads its key and address from the variables that a deployment sets (docs/architecture.md);
`--base-url` names another compatible server. A run costs what the last line of its report says.
"""

import argparse
import asyncio
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import get_args

from pydantic import ValidationError

from evals.knowledge import measure_handbook
from evals.knowledge_cases import KNOWN
from evals.report import UNAVAILABLE, Result, measure_accuracy, write_report
from evals.sets import SETS, CaseSet
from oria_runtime.errors import OriaError
from oria_runtime.models.client import Models, build_models
from oria_runtime.settings import ModelSettings
from oria_runtime.tenancy.tenants import ModelProfile, Provider, TenantConfig

OFFLINE = "offline"


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """What to run. Ends the program when the arguments do not make a profile, as a tenant's configuration would."""
    parser = argparse.ArgumentParser(prog="python -m evals.run", description=__doc__)
    parser.add_argument("--set", choices=sorted([*SETS, KNOWN]), nargs="+", required=True, dest="sets")
    parser.add_argument("--provider", choices=[OFFLINE, *get_args(Provider)], default=OFFLINE)
    parser.add_argument("--base-url", help="the address of a server, for the provider compatible")
    parser.add_argument("--model", help="the model behind the mini profile")
    parser.add_argument("--deployment", help="the deployment's name, for the provider azure")
    parser.add_argument("--decisions", choices=["native", "structured"], help="default: what the model supports")
    parser.add_argument("--parallel", type=int, default=4, help="requests at once")
    parser.add_argument("--minimum", type=float, default=0.0, help="exit with 1 when a set is below it (0 to 1)")
    parsed = parser.parse_args(arguments)
    try:
        configure(parsed)
    except ValidationError as error:
        parser.error("; ".join(str(problem["msg"]) for problem in error.errors()))
    return parsed


def main() -> int:
    """Run the sets and print a report for each; the exit code says whether all reached the minimum."""
    arguments = parse_arguments()
    with open_provider(arguments) as environ:
        reached = [run_set(name, arguments, environ) >= arguments.minimum for name in arguments.sets]
    return 0 if all(reached) else 1


def run_set(name: str, arguments: argparse.Namespace, environ: Mapping[str, str]) -> float:
    """Print the report of one set; gives its accuracy, the recall of the right page for `knowledge`."""
    models = build_models(ModelSettings.from_environ(environ), configure(arguments), environ=environ)
    if name == KNOWN:
        print(f"{name}, {arguments.provider}, {models.embedding_model}\n")
        return asyncio.run(measure_handbook(models))
    started = time.monotonic()
    results = asyncio.run(answer_all(SETS[name], models, arguments.parallel))
    print(f"{name}, {arguments.provider}, {models.profiles['mini'].model}\n")
    print(f"{write_report(results, models.usage, time.monotonic() - started)}\n")
    return measure_accuracy(results)


def open_provider(arguments: argparse.Namespace) -> AbstractContextManager[Mapping[str, str]]:
    """The environment that names the provider; the offline model runs as long as it is open."""
    if arguments.provider == OFFLINE:
        return open_offline_model()
    return nullcontext(os.environ)


@contextmanager
def open_offline_model() -> Iterator[Mapping[str, str]]:
    """The offline model, whose embeddings have their own name: thresholds are set by it."""
    from local.cloud.configuration import OFFLINE_EMBEDDING_MODEL
    from local.offline_model.server import run_offline_model

    with run_offline_model() as environ:
        yield {**environ, "EMBEDDING_MODEL": OFFLINE_EMBEDDING_MODEL}


def configure(arguments: argparse.Namespace) -> TenantConfig:
    """A tenant with every agent and the asked model. Raises ValidationError."""
    profile = ModelProfile(
        provider="openai" if arguments.provider == OFFLINE else arguments.provider,
        model=arguments.model,
        deployment=arguments.deployment,
        base_url=arguments.base_url,
        decisions=arguments.decisions,
    )
    return TenantConfig(models={"mini": profile})


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
