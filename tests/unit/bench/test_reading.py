"""What the benchmark reads: its command line, Python's import times, the steps of make run."""

import pytest

from local.bench.__main__ import MEASUREMENTS, parse_arguments
from local.bench.imports import read_import_times
from local.bench.startup import read_steps

IMPORT_TIMES = """import time: self [us] | cumulative | imported package
import time:      1000 |       1000 |     graph.policy
import time:      2000 |       3000 |   graph
import time:       500 |        500 | json
a warning of somebody's
"""


def test_without_names_everything_is_measured_in_order() -> None:
    assert parse_arguments([]).names == list(MEASUREMENTS)


def test_named_measurements_are_taken_in_the_order_of_the_report() -> None:
    assert parse_arguments(["--only", "load", "--only", "overhead"]).names == ["overhead", "load"]


def test_sizes_of_the_knowledge_are_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    assert parse_arguments([]).chunks is None
    assert parse_arguments(["--knowledge-chunks", "1000,100000"]).chunks == [1_000, 100_000]
    for wrong in ("10", "many", "1000,,"):
        with pytest.raises(SystemExit):
            parse_arguments(["--knowledge-chunks", wrong])
        assert "--knowledge-chunks" in capsys.readouterr().err


def test_an_unknown_measurement_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse_arguments(["--only", "everything"])
    assert "invalid choice" in capsys.readouterr().err


def test_import_times_are_summed_by_package() -> None:
    taken = read_import_times(IMPORT_TIMES)
    assert taken.total == pytest.approx(0.0035)
    assert dict(taken.packages) == pytest.approx({"graph": 0.003, "json": 0.0005})


def test_steps_of_a_start_are_read_without_their_sum() -> None:
    lines = ["0.8 s  AWS APIs (moto)", "2.0 s  all", "model   the offline model", "ready http://127.0.0.1:8000"]
    assert read_steps(lines) == {"AWS APIs (moto)": 0.8}
