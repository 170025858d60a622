"""The bounds of reading, with their reasons.

A document that is more than this fails with a reason, and its old version stays: half a policy is worse than none.
"""

from dataclasses import dataclass

from oria_runtime.documents.limits import ExtractionLimits


@dataclass(frozen=True)
class ContentLimits(ExtractionLimits):
    """What reading one document may cost, in the words of ExtractionLimits; a knowledge document is never shown whole
    to a model, so that it may be longer. `links`: sitemaps aside, no page of a handbook has a thousand."""

    pages: int = 1_000
    characters: int = 1_000_000
    links: int = 1_000
