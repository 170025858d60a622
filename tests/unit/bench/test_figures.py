"""Percentiles, judgements and tables of the benchmark."""

import pytest

from local.bench.figures import Table, judge, milliseconds, percentile


def test_a_percentile_lies_between_its_neighbours() -> None:
    values = [4.0, 1.0, 3.0, 2.0]
    assert [percentile(values, share) for share in (0, 0.5, 1)] == [1.0, 2.5, 4.0]
    assert percentile([7.0], 0.95) == 7.0


def test_no_values_have_no_percentile() -> None:
    with pytest.raises(ValueError, match="no values"):
        percentile([], 0.5)


def test_an_aim_is_missed_above_its_limit_only() -> None:
    assert judge(0.8, 0.8, "s") == "≤ 0.8 s ok"
    assert judge(5.01, 5.0) == "≤ 5 MISSED"


def test_short_times_keep_a_decimal() -> None:
    assert (milliseconds(0.0123), milliseconds(1.5)) == ("12.3 ms", "1500 ms")


def test_a_table_aligns_names_left_and_figures_right() -> None:
    table = Table("Title", ["", "p50", "p95"], [["long name", "1", "22"], ["b", "333", ""]], ["a note"])
    assert table.render().split("\n") == [
        "Title",
        "",
        "           p50  p95",
        "---------  ---  ---",
        "long name    1   22",
        "b          333",
        "  a note",
    ]
