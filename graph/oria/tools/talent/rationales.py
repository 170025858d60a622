"""What a rationale may say of a candidate.

One without facts gets no phrasing at all: only a discussion, or work examples, could tell, and no model shall guess
what they would show (seeds/oria_tools.md, talent_finder_tool).
"""

from graph.oria.language import pick_text
from graph.oria.tools.rationales import Evidence, Subject
from graph.oria.tools.talent.intent import TalentField
from graph.oria.tools.talent.texts import SUPPORTED, UNSUPPORTED, write_named, write_values


def describe(evidence: Evidence[TalentField], locale: str) -> Subject:
    """The facts in the person's language."""
    facts: dict[str, list[str]] = {fact.name: write_values(fact.name, fact.values, locale) for fact in evidence.facts}
    return Subject(facts, evidence.unsupported, list_facts(evidence, locale))


def list_facts(evidence: Evidence[TalentField], locale: str) -> str:
    """The facts as they are; without any, how to find out."""
    if not evidence.facts:
        return pick_text(UNSUPPORTED, locale)
    facts = "; ".join(write_named(fact.name, fact.values, locale) for fact in evidence.facts)
    return pick_text(SUPPORTED, locale).format(facts=facts)
