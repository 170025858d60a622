"""The similarity from which a label counts as a skill of the library. It belongs to an embedding model, as for jobs."""

from collections.abc import Mapping
from typing import Final

from oria_runtime.catalog.job_thresholds import UNCALIBRATED

# Calibrated as for jobs (evals/job_threshold.py --csv) on 378 of ESCO's ICT, language and transversal skills and 2,274
# alternative labels: best F0.5 at 0.85, with precision 0.94 and recall 0.50.
CALIBRATED: Final[Mapping[str, float]] = {"offline-use-multilingual": 0.85}


def find_skill_threshold(model: str) -> float:
    """The threshold calibrated for the embedding model, else the one of jobs: the only one that the seed names."""
    return CALIBRATED.get(model, UNCALIBRATED)
