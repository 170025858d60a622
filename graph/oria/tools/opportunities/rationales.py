"""What a rationale may say of an opportunity."""

from graph.oria.language import pick_text
from graph.oria.tools.opportunities.evidence import FactName
from graph.oria.tools.opportunities.texts import SUPPORTED, UNSUPPORTED, write_named, write_values
from graph.oria.tools.rationales import Evidence, Subject


def describe(evidence: Evidence[FactName], locale: str) -> Subject:
    """The facts in the person's language."""
    facts: dict[str, list[str]] = {fact.name: write_values(fact.name, fact.values, locale) for fact in evidence.facts}
    return Subject(facts, evidence.unsupported, list_facts(evidence, locale))


def list_facts(evidence: Evidence[FactName], locale: str) -> str:
    """The facts as they are; without any, that the opportunity was found and no more."""
    if not evidence.facts:
        return pick_text(UNSUPPORTED, locale)
    facts = "; ".join(write_named(fact.name, fact.values, locale) for fact in evidence.facts)
    return pick_text(SUPPORTED, locale).format(facts=facts)
