"""The job threshold: which one applies, and that the offline embedder's is what its committed curve says."""

import json

import pytest

from evals.job_threshold import (
    CURVE,
    ESCO,
    THRESHOLDS,
    Mapped,
    Occupation,
    Question,
    build_questions,
    choose_threshold,
    map_questions,
    measure,
    read_curve,
    read_occupations,
)
from local.cloud.configuration import OFFLINE_EMBEDDING_MODEL
from local.offline_model.embedder import Embedder
from oria_runtime.catalog.matching import JOB_THRESHOLDS, UNCALIBRATED, find_job_threshold
from oria_runtime.tenancy.tenants import EmbeddingConfig


def test_the_offline_embedders_threshold_is_the_one_that_its_curve_chooses() -> None:
    stored = json.loads(CURVE.read_text(encoding="utf-8"))
    curve = read_curve()
    assert stored["model"] == OFFLINE_EMBEDDING_MODEL
    assert [point.threshold for point in curve] == THRESHOLDS
    assert choose_threshold(curve) == stored["chosen"] == JOB_THRESHOLDS[OFFLINE_EMBEDDING_MODEL]


def test_a_tenant_may_set_its_own_and_models_without_a_curve_have_the_seeds() -> None:
    assert find_job_threshold(EmbeddingConfig(job_threshold=0.7), OFFLINE_EMBEDDING_MODEL) == 0.7
    assert find_job_threshold(EmbeddingConfig(), OFFLINE_EMBEDDING_MODEL) == JOB_THRESHOLDS[OFFLINE_EMBEDDING_MODEL]
    assert find_job_threshold(EmbeddingConfig(), "text-embedding-3-small") == UNCALIBRATED == 0.91


def test_a_label_that_is_a_title_asks_nothing_and_a_shared_one_has_several_right_titles() -> None:
    occupations = [
        Occupation("cook", ["chef", "kitchen hand"]),
        Occupation("chef", ["head cook", "kitchen hand"]),
        Occupation("baker", ["bread maker"]),
    ]
    assert build_questions(occupations, ["cook", "chef"]) == [
        Question("kitchen hand", frozenset({"cook", "chef"})),
        Question("head cook", frozenset({"chef"})),
        Question("bread maker", frozenset()),
    ]


def test_what_is_accepted_wrongly_costs_precision_and_what_is_not_accepted_recall() -> None:
    mapped = [
        Mapped(0.9, right=True, known=True),
        Mapped(0.8, right=False, known=True),
        Mapped(0.8, right=False, known=False),
        Mapped(0.6, right=True, known=True),
    ]
    point = measure(mapped, 0.8)
    assert point.precision == pytest.approx(1 / 3, abs=1e-4)
    assert point.recall == pytest.approx(1 / 3, abs=1e-4)
    assert (measure(mapped, 0.9).precision, measure(mapped, 0.95).precision) == (1.0, 1.0)
    assert measure(mapped, 0.95).f1 == 0.0


@pytest.mark.skipif(not ESCO.exists(), reason="../shared/data/esco/occupations_en.csv is not there")
def test_a_sample_of_the_labels_has_the_shape_of_the_curve() -> None:
    occupations = read_occupations(ESCO)
    assert (len(occupations), sum(len(occupation.labels) for occupation in occupations)) == (2942, 29997)
    sample = occupations[:100]
    library = [occupation.title for occupation in sample[:80]]
    mapped = map_questions(build_questions(sample, library)[:400], library, Embedder())
    chosen = JOB_THRESHOLDS[OFFLINE_EMBEDDING_MODEL]
    low, high = measure(mapped, chosen - 0.2), measure(mapped, chosen)
    assert high.precision > low.precision
    assert high.recall < low.recall
    # Fewer titles leave fewer wrong ones beside the right one.
    assert high.precision > next(point.precision for point in read_curve() if point.threshold == chosen)
