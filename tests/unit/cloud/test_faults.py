"""Seeded faults of delivery."""

from local.cloud.faults import NoFaults, SeededFaults


def test_without_faults_everything_arrives_once() -> None:
    assert list(NoFaults().plan("event", "arn", {})) == [0.0]


def test_the_same_seed_makes_the_same_faults() -> None:
    first, second = (SeededFaults(7, drop=0.2, duplicate=0.2, delay=0.2, reject=0.1) for _ in range(2))
    plans = [[list(faults.plan("event", "arn", {})) for _ in range(200)] for faults in (first, second)]

    assert plans[0] == plans[1]
    assert {len(plan) for plan in plans[0]} == {0, 1, 2}
    assert set(first.counts) == {"event dropped", "event duplicated", "event delayed"}


def test_faults_can_be_switched_off() -> None:
    faults = SeededFaults(7, drop=1.0, reject=1.0, active=False)

    assert list(faults.plan("record", "arn", {})) == [0.0]
    assert not faults.rejects({})
