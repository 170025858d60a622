"""Weighted reciprocal rank fusion against its definition, on random lists."""

from random import Random

import pytest

from oria_runtime.catalog.fusion import fuse


def make_ids(random: Random, count: int) -> list[str]:
    return [f"{random.getrandbits(64):016x}" for _ in range(count)]


@pytest.mark.parametrize("seed", range(30))
def test_order_is_the_weighted_sum_of_reciprocal_ranks_with_ties_by_id(seed: int) -> None:
    random = Random(seed)
    ids = make_ids(random, 40)
    lists = [(random.uniform(0.1, 2), random.sample(ids, random.randint(0, 30))) for _ in range(2)]
    k = random.randint(1, 100)

    def score(row_id: str) -> float:
        return sum(weight / (k + ranked.index(row_id) + 1) for weight, ranked in lists if row_id in ranked)

    fused = fuse(lists, k=k)
    assert set(fused) == {row_id for _, ranked in lists for row_id in ranked}
    assert fused == sorted(fused, key=lambda row_id: (-score(row_id), row_id))


def test_equal_scores_are_ordered_by_id() -> None:
    first, second = "a", "b"
    assert fuse([(1.0, [second]), (1.0, [first])], k=60) == [first, second]


@pytest.mark.parametrize("seed", range(10))
def test_one_list_keeps_its_order(seed: int) -> None:
    ids = make_ids(Random(seed), 20)
    assert fuse([(0.7, ids)], k=60) == ids


@pytest.mark.parametrize("seed", range(10))
def test_a_row_first_in_both_lists_comes_first(seed: int) -> None:
    random = Random(seed)
    best, *others = make_ids(random, 10)
    lists = [(random.uniform(0.1, 2), [best, *random.sample(others, 9)]) for _ in range(2)]
    assert fuse(lists, k=60)[0] == best
