"""Times as people write them in English, French and Spanish: the length of a plan, and the time for it each week."""

import re
from typing import Final

NUMBER_WORDS: Final = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "eight": 8, "ten": 10,
    "twelve": 12,
    "un": 1, "une": 1, "deux": 2, "trois": 3, "quatre": 4, "cinq": 5, "huit": 8, "dix": 10, "douze": 12,
    "una": 1, "dos": 2, "tres": 3, "cuatro": 4, "cinco": 5, "seis": 6, "ocho": 8, "diez": 10, "doce": 12,
}  # fmt: skip
NUMBER: Final = r"(?P<number>\d{1,4}(?:[.,]\d)?|" + "|".join(sorted(NUMBER_WORDS, key=len, reverse=True)) + r")"
MINUTES: Final = {"minute": 1, "min": 1, "minuto": 1, "hour": 60, "hr": 60, "h": 60, "heure": 60, "hora": 60}
WEEKS: Final = {
    "day": 1 / 7, "jour": 1 / 7, "día": 1 / 7, "dia": 1 / 7, "week": 1.0, "semaine": 1.0, "semana": 1.0,
    "month": 13 / 3, "mois": 13 / 3, "mes": 13 / 3, "year": 52.0, "an": 52.0, "année": 52.0, "año": 52.0,
}  # fmt: skip
# How often a week has the period: working days, because learning is working time.
PER_WEEK: Final = {
    "day": 5.0, "jour": 5.0, "día": 5.0, "dia": 5.0, "week": 1.0, "semaine": 1.0, "semana": 1.0,
    "month": 3 / 13, "mois": 3 / 13, "mes": 3 / 13,
}  # fmt: skip


def alternatives(words: dict[str, float] | dict[str, int]) -> str:
    """A pattern of these words, longest first, each with its plural."""
    return "|".join(f"{re.escape(word)}(?:es|s)?" for word in sorted(words, key=len, reverse=True))


PER: Final = r"(?:\s*/\s*|\s+(?:a|an|per|each|every|par|chaque|por|cada|a la|al|à la)\s+)"
MINUTES_PATTERN: Final = re.compile(rf"\b{NUMBER}\s*(?P<unit>{alternatives(MINUTES)})\b", re.IGNORECASE)
WEEKS_PATTERN: Final = re.compile(rf"\b{NUMBER}[\s-]*(?P<unit>{alternatives(WEEKS)})\b", re.IGNORECASE)
WEEKLY_PATTERN: Final = re.compile(
    rf"\b{NUMBER}\s*(?P<unit>{alternatives(MINUTES)}){PER}(?P<period>{alternatives(PER_WEEK)})\b", re.IGNORECASE
)


def read_minutes(text: str) -> int | None:
    """The first duration in minutes or hours."""
    match = MINUTES_PATTERN.search(text)
    return round(read_number(match["number"]) * find_factor(MINUTES, match["unit"])) if match else None


def read_weeks(text: str) -> int | None:
    """The first duration in days, weeks, months or years, in whole weeks, at least one.

    The period of "four hours a week" is no duration of anything.
    """
    match = WEEKS_PATTERN.search(WEEKLY_PATTERN.sub(" ", text))
    return max(1, round(read_number(match["number"]) * find_factor(WEEKS, match["unit"]))) if match else None


def read_weekly_minutes(text: str) -> int | None:
    """The minutes a week of "two hours a week", "30 min par jour" or "5 horas al mes"."""
    match = WEEKLY_PATTERN.search(text)
    if match is None:
        return None
    minutes = read_number(match["number"]) * find_factor(MINUTES, match["unit"])
    return max(1, round(minutes * find_factor(PER_WEEK, match["period"])))


def read_number(text: str) -> float:
    return float(NUMBER_WORDS.get(text.lower()) or text.replace(",", "."))


def find_factor(factors: dict[str, float] | dict[str, int], word: str) -> float:
    """The factor of a word or of its singular."""
    lowered = word.lower()
    return next(float(factors[form]) for form in (lowered, lowered[:-1], lowered[:-2]) if form in factors)
