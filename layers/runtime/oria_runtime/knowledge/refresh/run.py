"""One source, from its lease to its next date, in as many invocations as it takes.

All state is in the database: a worker takes up the next visits, wherever the one before it stopped. It stops by itself
when its time is nearly over, and a follow-up message goes on; where that is lost, the schedule finds the source,
because it stays due until its refresh has ended.
"""

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import psycopg

from oria_runtime.errors import ConfigurationError
from oria_runtime.knowledge.errors import FetchError
from oria_runtime.knowledge.fetching.client import Fetcher
from oria_runtime.knowledge.fetching.policy import FetchPolicy
from oria_runtime.knowledge.locations import is_loopback
from oria_runtime.knowledge.refresh.building import build_index
from oria_runtime.knowledge.refresh.crawling import crawl
from oria_runtime.knowledge.refresh.due import send_marked
from oria_runtime.knowledge.refresh.ending import complete_refresh, fail_refresh
from oria_runtime.knowledge.refresh.errors import LeaseLostError, RefreshFailedError
from oria_runtime.knowledge.refresh.lease import Claim, claim_source, release, stop_disabled
from oria_runtime.knowledge.refresh.messages import RefreshMessage
from oria_runtime.knowledge.refresh.objects import open_objects
from oria_runtime.knowledge.refresh.places import Place, SitemapPlace, WebPlace
from oria_runtime.knowledge.refresh.queue import Entry, RefreshQueue
from oria_runtime.knowledge.refresh.work import Work
from oria_runtime.models.client import Models, build_models
from oria_runtime.models.errors import ModelError
from oria_runtime.observability import count, describe, logger
from oria_runtime.turns.invocation import Invocation

if TYPE_CHECKING:
    from oria_runtime.sandbox import Sandbox


async def refresh_source(
    sandbox: "Sandbox",
    message: RefreshMessage,
    invocation: Invocation,
    *,
    rng: random.Random,
    policy: FetchPolicy | None = None,
) -> str:
    """Refresh the source, or go on with the index version, that a message names; says how it ended.

    `completed`, `failed`: the refresh is over. `continued`: a follow-up message goes on. `stopped`: the source was
    disabled. `not_claimed`, `lease_lost`: there is nothing to do, or somebody else does it. Raises what nobody
    expected; the lease is given back then, and the refresh goes on with the next message.
    """
    if message.source_id is None:
        return await build_index(sandbox, message, invocation)
    database = sandbox.database(message.tenant_id)
    claim = await claim_source(database, message.source_id)
    if claim is None:
        return "stopped" if await stop_disabled(database, message.source_id) else "not_claimed"
    try:
        result = await run_claimed(sandbox, claim, invocation, rng, policy)
    except LeaseLostError:
        stopped = await stop_disabled(database, message.source_id, claim.token)
        await release(database, claim, queued_for=None)
        return "stopped" if stopped else "lease_lost"
    except BaseException:
        await release_quietly(sandbox, claim)
        raise
    if claim.requested:
        await send_follow_up(sandbox, claim, 0.0)
    return result


async def run_claimed(
    sandbox: "Sandbox",
    claim: Claim,
    invocation: Invocation,
    rng: random.Random,
    policy: FetchPolicy | None,
) -> str:
    """Work until the refresh is over or the time is. Raises LeaseLostError."""
    models = build_models(sandbox.settings.models, claim.tenant.config, environ=sandbox.environ)
    async with open_place(sandbox, claim, policy) as place:
        work = Work(sandbox.database(claim.tenant.id), claim, place, models)
        try:
            delay = await crawl(work, models.embedding_model, models.embedding_address, invocation)
            if delay is None:
                await complete_refresh(work, rng)
                return "completed"
        except (FetchError, RefreshFailedError) as error:
            await fail_refresh(work, rng, error.reason, error.detail)
            return "failed"
        except (ModelError, ConfigurationError) as error:
            # The provider is away, or nobody configured it: what is indexed stays.
            await fail_refresh(work, rng, error.code, error.detail)
            return "failed"
        finally:
            count_usage(models)
    await hand_over(sandbox, claim, delay)
    return "continued"


@asynccontextmanager
async def open_place(sandbox: "Sandbox", claim: Claim, policy: FetchPolicy | None) -> AsyncIterator[Place]:
    """Where the source's documents are. Raises ConfigurationError when the deployment lacks something."""
    if claim.kind in ("s3", "upload"):
        yield open_objects(claim, sandbox.settings.knowledge_bucket)
        return
    assert claim.location is not None  # noqa: S101 - a constraint of the table
    policy = policy or choose_policy(claim.location, allow_loopback=sandbox.settings.allow_loopback)
    async with Fetcher(policy, robots=True) as fetcher:
        place = WebPlace if claim.kind == "web" else SitemapPlace
        yield place(fetcher, claim.location, claim.scope)


def choose_policy(location: str, *, allow_loopback: bool) -> FetchPolicy:
    """The policy of a source's fetches. A person's own machine is nobody whom a pause between requests would spare."""
    if allow_loopback and is_loopback(location):
        return FetchPolicy(allow_loopback=True, delay_seconds=0.0)
    return FetchPolicy(allow_loopback=allow_loopback)


async def hand_over(sandbox: "Sandbox", claim: Claim, delay: float) -> None:
    """Give the lease back and send the message that goes on, after `delay` seconds."""
    await release(sandbox.database(claim.tenant.id), claim, queued_for=delay)
    await send_follow_up(sandbox, claim, delay)


async def send_follow_up(sandbox: "Sandbox", claim: Claim, delay: float) -> None:
    """A message for the source, which is marked as queued."""
    message = RefreshMessage(claim.tenant.id, claim.key.source_id)
    queue = RefreshQueue(sandbox.settings.refresh_queue_url)
    try:
        await send_marked(sandbox, queue, [Entry(message, delay)])
    except Exception as error:  # noqa: BLE001 - whatever keeps the message away, the schedule finds the source
        logger.warning("no follow-up message", extra={"source_id": str(message.source_id), **describe(error)})


async def release_quietly(sandbox: "Sandbox", claim: Claim) -> None:
    """After an error: the lease ends by itself, too."""
    try:
        await release(sandbox.database(claim.tenant.id), claim, queued_for=None)
    except (psycopg.Error, OSError) as error:
        logger.warning("not released", extra={"source_id": str(claim.key.source_id), **describe(error)})


def count_usage(models: Models) -> None:
    """Metrics of what the embeddings of this invocation cost."""
    for label, amounts in models.usage.as_json().items():
        for name in ("input_tokens", "cost"):
            if amounts.get(name):
                count(f"model_{name}", amounts[name] or 0, task=label)
