"""Choosing by similarity: which description is closest to what the person said last.

The rules are the same for every question. Their numbers were set on messages made up for that purpose, in English,
French and Spanish; no evaluation set had a part in it, except in the numbers of contrast.py, which says so.

- A choice scores the mean of its three closest clauses: one chance hit is not enough. Where every choice has many
  clauses, they are told apart as examples (contrast.py).
- A choice that is described as default, ordinary or for vague cases, or that the instructions name for them, is the
  fallback: it wins where nothing is close.
- A severe choice (refuse, block) has to be close and clearly closer than the rest: a false alarm is worse than a miss.
- A choice that the evidence names as current keeps short follow-ups.
"""

import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from local.offline_model.contrast import Contrast, has_examples
from local.offline_model.embedder import Embedder
from local.offline_model.evidence import SHORT_WORDS, Evidence
from local.offline_model.phrases import GREETING_CLOSE, GREETING_WORDS, GREETINGS, asks, asks_more, find_durations
from local.offline_model.sentences import describe, list_words, sample_text, split_sentences
from local.offline_model.wire.decisions import Value

Choice = Value | int
CLOSEST = 3
# Below this nothing is close, and the fallback is taken.
NEAR = 0.18
SEVERE_NEAR = 0.42
SEVERE_MARGIN = 0.2
KEEPING = 0.2
# Asking for more says that what was done shall go on.
CONTINUING = 0.4
# Questions whose fit is kept; a supervisor asks one, with or without a tenant's agents.
FITTED = 16
SHARPNESS = 12.0
PREDICATE_MIDDLE = 0.36
PREDICATE_WIDTH = 0.05
# A description that lists bare "questions, requests" means the form of a message, which its vector does not show.
FORM = 0.3
TIME_KNOWN = 0.95
# A question about somebody's time is answered by hours a week, not by "for three months".
SPARE_UNITS = ("minute", "hour")

FALLBACK = re.compile(r"\b(?:default|otherwise|ordinary|anything else|everything else|none of the|vague)\b", re.I)
UNDECIDED = re.compile(r"\b(?:ambiguous|unclear|unsure|uncertain|in doubt|otherwise|default)\b", re.I)
SEVERE = re.compile(r"\b(?:refuse[ds]?|block|reject|forbidden|deny|denied|harmful|unsafe|illegal)\b", re.I)
FOR_QUESTIONS = re.compile(r"(?:^|[.,;]\s*)(?:questions|requests),", re.I)
ABOUT_TIME = re.compile(
    r"\b(?:hours?|minutes|how much time|available time|time (?:they|the person) ha(?:ve|s))\b", re.I
)
LAST_ONLY = re.compile(r"\b(?:latest|last)\b", re.I)
DOUBTFUL = re.compile(
    r"\b(?:doubt|open whether|unclear|uncertain|cannot (?:tell|be interpreted|be understood))\b", re.I
)


class Chooser:
    """Answers choices and yes/no questions."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._fit = lru_cache(FITTED)(lambda descriptions: Contrast(embedder, descriptions))

    def weigh(self, evidence: Evidence, choices: Mapping[Choice, str], instructions: str = "") -> dict[Choice, float]:
        """A distribution over the choices; the likeliest is the answer."""
        scores = self.score(evidence, choices)
        chosen = self.pick(evidence, choices, scores, instructions)
        lead = {chosen: max(scores.values())}
        weights = {choice: math.exp(SHARPNESS * (score + lead.get(choice, 0.0))) for choice, score in scores.items()}
        total = sum(weights.values())
        return {choice: weight / total for choice, weight in weights.items()}

    def score(self, evidence: Evidence, choices: Mapping[Choice, str]) -> dict[Choice, float]:
        """The closeness of each choice."""
        kept = self._find_kept(evidence)
        return {
            choice: self.measure(evidence.latest, name_choice(choice, description), CLOSEST)
            + (FORM if asks(evidence.latest) and FOR_QUESTIONS.search(description) else 0.0)
            + (KEEPING if choice in kept else 0.0)
            for choice, description in choices.items()
        }

    def _find_kept(self, evidence: Evidence) -> set[str]:
        """The values that a short follow-up may be kept by; thanks and greetings follow nothing up."""
        if len(evidence.latest.split()) > SHORT_WORDS or self.is_greeting(evidence.latest):
            return set()
        return {value for value in evidence.data.values() if isinstance(value, str)}

    def pick(
        self, evidence: Evidence, choices: Mapping[Choice, str], scores: Mapping[Choice, float], instructions: str
    ) -> Choice:
        """The choice that the rules give."""
        mild = {choice: score for choice, score in scores.items() if not is_guarded(choice, choices[choice])}
        severe = self.find_severe(evidence, choices)
        if severe is not None or not mild:
            return severe if severe is not None else max(scores, key=lambda choice: scores[choice])
        fallback = find_fallback(list(mild), choices, instructions)
        if fallback is not None and max(mild.values()) < NEAR:
            return fallback
        ranked = self._contrast(evidence, {choice: choices[choice] for choice in mild}) or mild
        return max(ranked, key=lambda choice: ranked[choice])

    def _contrast(self, evidence: Evidence, choices: Mapping[Choice, str]) -> dict[Choice, float]:
        """The choices told apart by their examples; nothing when they have too few."""
        if not has_examples(choices):
            return {}
        kept = self._find_kept(evidence)
        keeping = CONTINUING if asks_more(evidence.latest) else KEEPING
        said = evidence.latest if self.is_greeting(evidence.latest) else evidence.request
        scores = self._fit(tuple(choices.values())).weigh(said)
        return {
            choice: score + (keeping if choice in kept else 0.0) for choice, score in zip(choices, scores, strict=True)
        }

    def find_severe(self, evidence: Evidence, choices: Mapping[Choice, str]) -> Choice | None:
        """The severe choice that is close enough, if there is one beside others."""
        if not any(is_severe(choice, description) for choice, description in choices.items()):
            return None
        closest = {choice: self.measure(evidence.latest, text, 1) for choice, text in choices.items()}
        for choice, description in choices.items():
            others = [closest[other] for other in choices if other != choice and not is_guarded(other, choices[other])]
            if is_severe(choice, description) and others:
                margin = closest[choice] - max(others)
                if closest[choice] >= SEVERE_NEAR and margin >= SEVERE_MARGIN:
                    return choice
        return None

    def affirm(self, evidence: Evidence, question: str) -> float:
        """The probability that what a question asks about is in the person's texts; only in the last, if it says so."""
        earlier = [] if LAST_ONLY.search(question) else evidence.earlier
        said = [text for text in (*earlier, evidence.latest) if not self.is_greeting(text)]
        if ABOUT_TIME.search(question):
            spare = [unit for text in said for _, unit in find_durations(text) if unit in SPARE_UNITS]
            return TIME_KNOWN if spare else 1.0 - TIME_KNOWN
        closeness = max((self.measure(text, question, 1) for text in said), default=0.0)
        return 1.0 / (1.0 + math.exp((PREDICATE_MIDDLE - closeness) / PREDICATE_WIDTH))

    def is_greeting(self, text: str) -> bool:
        """Whether a text is nothing but a greeting, thanks or a farewell."""
        return self.find_greeting(text) is not None

    def find_greeting(self, text: str) -> str | None:
        """Which kind of greeting a text is, if it is nothing else."""
        if len(text.split()) > GREETING_WORDS:
            return None
        closest = {kind: self._embedder.closest([text], phrases) for kind, phrases in GREETINGS.items()}
        best = max(closest, key=lambda kind: closest[kind])
        return best if closest[best] >= GREETING_CLOSE else None

    def measure(self, text: str, description: str, closest: int) -> float:
        """The mean of the closest clauses of a description to any sentence of a text; a clause that the text holds
        word for word could not be closer."""
        clauses = describe(description)
        if not clauses or not text.strip():
            return 0.0
        rows = self._embedder.similarities(sample_text(text), clauses)
        words = f" {' '.join(list_words(text))} "
        held = [float(" " in clause and f" {clause.casefold()} " in words) for clause in clauses]
        return float(np.sort(np.maximum(rows.max(axis=0), held))[-closest:].mean())


def name_choice(choice: Choice, description: str) -> str:
    """The description, or the value's own words when there is none."""
    return description.strip() or str(choice).replace("_", " ")


def is_severe(choice: Choice, description: str) -> bool:
    """Whether a choice refuses: by its value, or by the first sentence about it."""
    return bool(SEVERE.search(str(choice)) or SEVERE.search(first_sentence(description)))


def is_guarded(choice: Choice, description: str) -> bool:
    """Whether similarity alone must not lead to a choice: severe ones, and those for doubt."""
    return is_severe(choice, description) or bool(DOUBTFUL.search(f"{choice} {first_sentence(description)}"))


def first_sentence(text: str) -> str:
    return next(iter(split_sentences(text)), "")


def find_fallback(mild: Sequence[Choice], choices: Mapping[Choice, str], instructions: str) -> Choice | None:
    """The choice for what fits nowhere: the instructions' own, else the one described so."""
    undecided = [sentence for sentence in split_sentences(instructions) if UNDECIDED.search(sentence)]
    named = [choice for choice in mild for sentence in undecided if f"`{choice}`" in sentence]
    described = [choice for choice in mild if FALLBACK.search(choices[choice])]
    return next(iter([*named, *described]), None)
