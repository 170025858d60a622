"""What of a candidate's own data supports that they match: checked here and never by a model."""

from collections.abc import Iterable, Sequence

from graph.oria.tools.comparison import contains, fold, unite
from graph.oria.tools.rationales import Evidence, Fact
from graph.oria.tools.talent.intent import SEARCHED, TalentCriterion, TalentField, TalentSearchIntent
from graph.policy import RATIONALE_VALUES
from oria_runtime.catalog.talent_search import Candidate, Criterion


def gather_evidence(
    candidate: Candidate, intent: TalentSearchIntent, criteria: Sequence[Criterion]
) -> Evidence[TalentField]:
    """The evidence of one candidate. `criteria` are the searched ones of the intent, in order, with skills as codes."""
    searched = [condition for condition in intent.criteria if condition.field in SEARCHED]
    found: dict[TalentField, list[str]] = {}
    for condition, criterion in zip(searched, criteria, strict=True):
        found.setdefault(condition.field, []).extend(match(candidate, condition.field, criterion.values))
    facts = [Fact(name, unite(values)[:RATIONALE_VALUES]) for name, values in found.items() if values]
    return Evidence(facts, list_unsupported(intent.criteria, facts))


def match(candidate: Candidate, name: TalentField, wanted: Sequence[str]) -> list[str]:
    """The candidate's values that meet one of the wanted, by the rules of the search (catalog/talent_search.py)."""
    if name == "skill":
        folded = {fold(value) for value in wanted}
        held = [skill for skill in candidate.skills if skill.code in wanted or fold(skill.label) in folded]
        return [skill.label or skill.code for skill in held]
    if name in {"classification", "work_arrangement"}:
        value = candidate.classification if name == "classification" else candidate.work_mode
        return [value] if value and any(fold(value) == fold(one) for one in wanted) else []
    return [value for value in list_values(candidate, name) if any(contains(value, one) for one in wanted)]


def list_values(candidate: Candidate, name: TalentField) -> list[str]:
    """What the candidate has in a field that may be met by a part of its value."""
    past: dict[TalentField, Iterable[str | None]] = {
        "role": [candidate.job_title, *(held.title for held in candidate.experiences)],
        "employer": [held.company for held in candidate.experiences],
        "department": [candidate.department, *(held.department for held in candidate.experiences)],
        "location": [candidate.location],
    }
    return [value for value in past[name] if value]


def list_unsupported(conditions: Sequence[TalentCriterion], facts: Sequence[Fact[TalentField]]) -> list[str]:
    """The values of the request, ignored conditions included, that no fact holds."""
    supported = [value for fact in facts for value in fact.values]
    asked = unite(value for condition in conditions for value in condition.values)
    return [term for term in asked if not any(contains(value, term) for value in supported)]
