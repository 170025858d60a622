"""How every search of the assistant fuses its words and its vector."""

from typing import Final

from graph.policy import FUSION_CANDIDATES, FUSION_K, FUSION_LEXICAL_WEIGHT, FUSION_VECTOR_WEIGHT
from oria_runtime.catalog.fusion import Fusion

FUSION: Final = Fusion(
    k=FUSION_K, lexical_weight=FUSION_LEXICAL_WEIGHT, vector_weight=FUSION_VECTOR_WEIGHT, depth=FUSION_CANDIDATES
)
