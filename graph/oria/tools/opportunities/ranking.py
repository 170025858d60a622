"""The order of found opportunities: the search's, weighted with how well the person's skills cover each."""

from collections.abc import Mapping, Sequence

from graph.policy import FUSION_K, OPPORTUNITY_PROFILE_WEIGHT, OPPORTUNITY_SEARCH_WEIGHT
from oria_runtime.catalog.coverage import list_levels, measure_coverage
from oria_runtime.catalog.fusion import fuse
from oria_runtime.catalog.opportunities import Opportunity
from oria_runtime.catalog.people import Profile


def rank_by_profile(found: Sequence[Opportunity], profile: Profile | None) -> list[Opportunity]:
    """The same opportunities, those that fit the person's skills further up. What the profile does not support at all
    gains nothing and loses nothing."""
    scores = score_profile(found, profile)
    fitting = sorted((row_id for row_id, score in scores.items() if score > 0), key=lambda row_id: -scores[row_id])
    lists = [(OPPORTUNITY_SEARCH_WEIGHT, [row.id for row in found]), (OPPORTUNITY_PROFILE_WEIGHT, fitting)]
    by_id = {row.id: row for row in found}
    return [by_id[row_id] for row_id in fuse(lists, k=FUSION_K)]


def score_profile(found: Sequence[Opportunity], profile: Profile | None) -> Mapping[str, float]:
    """The weighted skill coverage of the profile for each opportunity, by id; from 0 to 1 (`catalog.coverage`)."""
    owned = list_levels(profile.skills) if profile is not None else {}
    return {row.id: measure_coverage(owned, row.skills).score for row in found}
