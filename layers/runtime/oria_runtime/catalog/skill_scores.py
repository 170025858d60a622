"""Stored skill scores of people for jobs: computed once for the same inputs, by one caller at a time.

A stored score is current while the rule (`VERSION`) and what it was computed from are the same. A recalculation holds
an advisory lock of its transaction, so a second caller waits for the first one's score instead of computing its own.
The lock ends with the transaction: a crashed holder's connection releases it, and a hanging one is ended by the role's
`idle_in_transaction_session_timeout`; nobody waits longer than the role's `lock_timeout` (db/migrator.py).
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from oria_runtime.catalog.coverage import list_levels, measure_coverage
from oria_runtime.catalog.jobs import Job, JobSkill
from oria_runtime.catalog.people import Profile
from oria_runtime.db.pool import Connection

# Raise it with every change of `coverage.measure_coverage`: stored scores of an older rule are computed again.
VERSION: Final = 1


@dataclass(frozen=True)
class ScoreInputs:
    """What a score is computed from; `levels` are those of the required skills only, so that others change nothing."""

    person_id: str
    job_code: str
    levels: Mapping[str, int | None]
    required: Sequence[JobSkill]

    def digest(self) -> str:
        """A hash of the inputs, the same for the same skills in any order."""
        # By their JSON: a skill may come twice, and a level may be None, which has no order.
        required = sorted(((skill.code, skill.level, skill.weight) for skill in self.required), key=json.dumps)
        given = json.dumps([required, sorted(self.levels.items())])
        return hashlib.sha256(given.encode()).hexdigest()


def gather_inputs(profile: Profile, job: Job) -> ScoreInputs | None:
    """The inputs of a person's score for a job, or None when the job asks for no skill: nothing could be measured."""
    if not job.skills:
        return None
    codes = {skill.code for skill in job.skills}
    levels = {code: level for code, level in list_levels(profile.skills).items() if code in codes}
    return ScoreInputs(profile.user_id, job.code, levels, job.skills)


def compute_score(inputs: ScoreInputs) -> float:
    """The score by the rule of this version."""
    return measure_coverage(inputs.levels, inputs.required).score


READ_SCORE_SQL = """
select score from skill_scores
where tenant_id = current_setting('app.tenant')::uuid and person_id = %(person)s and job_code = %(job)s
  and version = %(version)s and inputs_hash = %(hash)s
"""
LOCK_SCORE_SQL = """
select pg_advisory_xact_lock(hashtextextended(
    jsonb_build_array('skill_score', current_setting('app.tenant'), %(person)s::text, %(job)s::text)::text, 0))
"""
STORE_SCORE_SQL = """
insert into skill_scores (tenant_id, person_id, job_code, score, version, inputs_hash)
values (current_setting('app.tenant')::uuid, %(person)s, %(job)s, %(score)s, %(version)s, %(hash)s)
on conflict (tenant_id, person_id, job_code) do update
set score = excluded.score, version = excluded.version, inputs_hash = excluded.inputs_hash, computed_at = now()
"""


async def settle_score(
    connection: Connection, inputs: ScoreInputs, compute: Callable[[ScoreInputs], float] = compute_score
) -> float:
    """The current score, from 0 to 1: read in one round trip if it is stored, else computed and stored under the lock.

    `connection` is in a transaction under the tenant's setting. Raises psycopg.errors.LockNotAvailable when another
    caller holds the lock for too long.
    """
    parameters = {
        "person": inputs.person_id,
        "job": inputs.job_code,
        "version": VERSION,
        "hash": inputs.digest(),
    }
    stored = await _read(connection, parameters)
    if stored is not None:
        return stored
    await connection.execute(LOCK_SCORE_SQL, parameters)
    # A new statement sees what the former holder of the lock committed (read committed, the default isolation).
    stored = await _read(connection, parameters)
    if stored is not None:
        return stored
    score = compute(inputs)
    await connection.execute(STORE_SCORE_SQL, parameters | {"score": score})
    return score


async def _read(connection: Connection, parameters: Mapping[str, object]) -> float | None:
    row = await (await connection.execute(READ_SCORE_SQL, parameters)).fetchone()
    return None if row is None else float(row["score"])
