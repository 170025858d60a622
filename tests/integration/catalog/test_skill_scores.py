"""Stored skill scores: one computation for the same inputs, under a lock that nobody can hold for ever."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest
from psycopg import AsyncConnection, errors

from oria_runtime.catalog.jobs import Job, JobSkill
from oria_runtime.catalog.people import Profile
from oria_runtime.catalog.skill_scores import (
    LOCK_SCORE_SQL,
    VERSION,
    ScoreInputs,
    compute_score,
    gather_inputs,
    settle_score,
)
from oria_runtime.db.pool import Connection, Pool, TenantDatabase
from tests.integration.catalog.files import fetch
from tests.support.database import DatabaseUrls, create_tenant

REQUIRED = (JobSkill(code="py", level=4, weight=3), JobSkill(code="sql", level=2))
INPUTS = ScoreInputs("u-1", "J1", {"py": 2}, REQUIRED)
WAITING_SQL = "select count(*) as n from pg_locks where locktype = 'advisory' and not granted"


class Counter:
    """A computation that counts itself."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, inputs: ScoreInputs) -> float:
        self.calls += 1
        return compute_score(inputs)


async def settle(database: TenantDatabase, inputs: ScoreInputs, compute: Callable[[ScoreInputs], float]) -> float:
    async with database.transaction() as connection:
        return await settle_score(connection, inputs, compute)


@asynccontextmanager
async def hold_lock(database: TenantDatabase) -> AsyncIterator[Connection]:
    """Another worker in the middle of its recalculation."""
    async with database.transaction() as connection:
        await connection.execute(LOCK_SCORE_SQL, {"person": INPUTS.person_id, "job": INPUTS.job_code})
        yield connection


async def wait_for_waiters(database: TenantDatabase, count: int) -> None:
    async with asyncio.timeout(5):
        while (await fetch(database, WAITING_SQL))[0]["n"] < count:
            await asyncio.sleep(0.01)


def test_inputs_are_the_required_skills_alone() -> None:
    profile = Profile.model_validate({"user_id": "u", "skills": [{"code": "py", "level": 2}, {"code": "cook"}]})
    job = Job(code="J1", title="Analyst", skills=REQUIRED, created_at=datetime(2026, 1, 1, tzinfo=UTC))
    inputs = gather_inputs(profile, job)
    assert inputs is not None
    assert inputs.levels == {"py": 2}
    reordered = ScoreInputs("u", "J1", {"py": 2}, REQUIRED[::-1])
    assert reordered.digest() == inputs.digest()
    assert ScoreInputs("u", "J1", {"py": 3}, REQUIRED).digest() != inputs.digest()
    assert gather_inputs(profile, job.model_copy(update={"skills": ()})) is None


def test_a_job_may_ask_for_a_skill_twice_with_and_without_a_level() -> None:
    twice = (JobSkill(code="py", level=4), JobSkill(code="py"))
    digests = {ScoreInputs("u", "J1", {}, required).digest() for required in (twice, twice[::-1])}
    assert len(digests) == 1


async def test_a_score_is_computed_once_and_read_afterwards(database: TenantDatabase) -> None:
    compute = Counter()
    assert await settle(database, INPUTS, compute) == await settle(database, INPUTS, compute) == 0.375
    assert compute.calls == 1


async def test_another_profile_or_rule_is_computed_again(database: TenantDatabase) -> None:
    compute = Counter()
    await settle(database, INPUTS, compute)
    better = ScoreInputs("u-1", "J1", {"py": 4}, REQUIRED)
    assert await settle(database, better, compute) == 0.75
    async with database.transaction() as connection:
        await connection.execute("update skill_scores set version = version - 1, score = 0")
    assert await settle(database, better, compute) == 0.75
    assert compute.calls == 3
    assert await fetch(database, "select version, score from skill_scores") == [{"version": VERSION, "score": 0.75}]


async def test_concurrent_callers_share_one_computation(database: TenantDatabase) -> None:
    compute = Counter()
    async with hold_lock(database):
        callers = [asyncio.create_task(settle(database, INPUTS, compute)) for _ in range(4)]
        await wait_for_waiters(database, 4)
        assert compute.calls == 0
    assert await asyncio.gather(*callers) == [0.375] * 4
    assert compute.calls == 1


async def test_other_people_jobs_and_tenants_do_not_wait(pool: Pool, database: TenantDatabase) -> None:
    other = TenantDatabase(pool, await create_tenant(pool, "other"))
    async with hold_lock(database), asyncio.timeout(2):
        await settle(database, ScoreInputs("u-2", "J1", {}, REQUIRED), compute_score)
        await settle(database, ScoreInputs("u-1", "J2", {}, REQUIRED), compute_score)
        await settle(other, INPUTS, compute_score)
    assert len(await fetch(database, "select * from skill_scores")) == 2
    assert len(await fetch(other, "select * from skill_scores")) == 1


async def test_a_crashed_holder_blocks_nobody(database: TenantDatabase, database_urls: DatabaseUrls) -> None:
    compute = Counter()
    holding = hold_lock(database)
    holder = await holding.__aenter__()
    waiting = asyncio.create_task(settle(database, INPUTS, compute))
    await wait_for_waiters(database, 1)
    async with await AsyncConnection.connect(database_urls.owner, autocommit=True) as admin:
        await admin.execute("select pg_terminate_backend(%s)", (holder.info.backend_pid,))
    assert await waiting == 0.375
    assert compute.calls == 1
    with pytest.raises(errors.AdminShutdown):
        await holder.execute("select 1")
    await holding.__aexit__(None, None, None)


async def test_a_hanging_holder_is_waited_for_within_the_lock_timeout(database: TenantDatabase) -> None:
    async with hold_lock(database), asyncio.timeout(3), database.transaction() as connection:
        await connection.execute("set local lock_timeout = '50ms'")
        with pytest.raises(errors.LockNotAvailable):
            await settle_score(connection, INPUTS)


async def test_a_failed_recalculation_leaves_no_score_and_no_lock(database: TenantDatabase) -> None:
    def fail(inputs: ScoreInputs) -> float:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await settle(database, INPUTS, fail)
    async with asyncio.timeout(2):
        assert await settle(database, INPUTS, compute_score) == 0.375


async def test_a_stored_score_is_read_without_the_lock(database: TenantDatabase) -> None:
    await settle(database, INPUTS, compute_score)
    compute = Counter()
    async with hold_lock(database), asyncio.timeout(2):
        assert await settle(database, INPUTS, compute) == 0.375
    assert compute.calls == 0
