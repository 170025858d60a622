"""The similarity from which a title counts as a job's. It belongs to an embedding model: each spreads its own way."""

from collections.abc import Mapping
from typing import Final

from oria_runtime.tenancy.tenants import EmbeddingConfig

# seeds/oria_tools.md, map_jobs_tool; for models that nobody has calibrated.
UNCALIBRATED: Final = 0.91
# Calibrated on ESCO's titles and their alternative labels: evals/job_threshold.py, whose curve a test compares.
CALIBRATED: Final[Mapping[str, float]] = {"offline-use-multilingual": 0.8}


def find_job_threshold(config: EmbeddingConfig, model: str) -> float:
    """The tenant's own threshold, else the one calibrated for the embedding model, else the seed's."""
    if config.job_threshold is not None:
        return config.job_threshold
    return CALIBRATED.get(model, UNCALIBRATED)
