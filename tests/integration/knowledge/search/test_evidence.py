"""What counts as evidence: how near a vector must be, by the embedding model."""

import pytest

from oria_runtime.knowledge.evidence import SIMILARITIES, UNMEASURED, find_similarity
from tests.integration.knowledge.search.conftest import Library


def test_what_is_evidence_depends_on_the_model() -> None:
    for model, least in SIMILARITIES.items():
        assert find_similarity(model) == least
    assert find_similarity("nobody-measured-it") == UNMEASURED


@pytest.mark.parametrize(("degrees", "found"), [(77.5, 1), (78.3, 0)])
async def test_the_threshold_of_the_indexs_model_is_applied(library: Library, degrees: float, found: int) -> None:
    """Cosines of 0.216 and 0.203: above what an unknown model needs, and only one above 0.21."""
    await library.add("near", "Nothing of that.", angles=[degrees])
    assert len(await library.find("question", 0)) == 1
    await library.execute("update knowledge_indexes set model = 'offline-use-multilingual'")
    assert len(await library.find("question", 0)) == found
