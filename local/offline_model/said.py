"""Single values of a schema, out of the person's words: numbers, identifiers, names, titles, questions, texts."""

import re
from typing import Final

from local.offline_model.choices import Chooser
from local.offline_model.evidence import Evidence, list_strings
from local.offline_model.names import FILE_FIELD, ID_FIELD, NAME_FIELD, find_name
from local.offline_model.names import find_file as name_file
from local.offline_model.names import find_id as name_id
from local.offline_model.phrases import TEXTS, Language, find_duration_text, find_durations
from local.offline_model.schema_fields import Field, bound, drop_ids, explain, humanize, make_title
from local.offline_model.sentences import unique

# The likeness from which a description is about what the person says.
FITTING: Final = 0.34
NUMBER: Final = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])")
TITLE: Final = re.compile(r"title|heading|headline|label|caption", re.IGNORECASE)
LENGTH: Final = re.compile(r"how long|duration", re.IGNORECASE)
QUESTION: Final = re.compile(r"question", re.IGNORECASE)
# What the person has said is not asked of them.
PERSONS: Final = re.compile(r"user_|person_")


class SaidValues:
    """Finds or words such values for one request. The system text `instructions` may explain what names mean."""

    def __init__(self, chooser: Chooser, evidence: Evidence, language: Language, instructions: str) -> None:
        self._chooser = chooser
        self._evidence = evidence
        self._language = language
        self._instructions = instructions

    def count(self, field: Field, kind: str) -> int | float:
        """A number within the field's bounds, divided among the records that share it."""
        number = self.find_number(field)
        low = field.schema.get("minimum", field.schema.get("exclusiveMinimum", -1) + 1)
        if number is None:
            number = field.schema.get("default", low)
        number = min(max(number / field.siblings, low), field.schema.get("maximum", number))
        return int(number) if kind == "integer" else float(number)

    def find_number(self, field: Field) -> float | None:
        """An amount of the time unit that the field names, else the only plain number."""
        text = " ".join((*self._evidence.earlier, self._evidence.latest))
        hint = field.hint.casefold()
        amounts = [number for number, unit in find_durations(text) if unit in hint]
        if amounts or find_durations(text):
            return amounts[-1] if amounts else None
        plain = NUMBER.findall(self._evidence.latest)
        return float(plain[0]) if len(plain) == 1 else None

    def write(self, field: Field) -> str:
        """A string: an identifier, a name, a question about the record, a title, or what was asked."""
        if ID_FIELD.search(field.name):
            return self.find_id(field)
        if FILE_FIELD.search(field.name):
            return self.find_file()
        if NAME_FIELD.search(field.name) and (name := find_name(self._evidence.request)):
            return bound(name, field.schema)
        return self._phrase(field)

    def _phrase(self, field: Field) -> str:
        subject = " ".join(unique(list_strings(drop_ids(field.record))))
        if QUESTION.search(field.hint) and not PERSONS.match(field.name):
            topic = explain(subject, self._instructions) or self._evidence.request
            if topic.endswith("?") and self._language == "en":
                return bound(topic, field.schema)
            return bound(TEXTS["ask"][self._language].format(topic=humanize(topic).strip(" .?")), field.schema)
        if TITLE.search(field.name):
            return bound(make_title(subject or self._evidence.request), field.schema)
        if LENGTH.search(field.hint):
            return find_duration_text(self._evidence.request)
        return bound(subject or self._evidence.subject or field.name, field.schema)

    def find_file(self) -> str:
        """The name of a file that the person mentions."""
        return name_file(" ".join((*self._evidence.earlier, self._evidence.latest)))

    def find_id(self, field: Field) -> str:
        """The newest identifier of what the field names."""
        return name_id(field.name, self._evidence.results)

    def fits_text(self, field: Field) -> bool:
        """Whether an optional text has something to hold."""
        if ID_FIELD.search(field.name):
            return False
        if NAME_FIELD.search(field.name):
            return bool(find_name(self._evidence.request))
        if LENGTH.search(field.hint):
            return bool(find_duration_text(self._evidence.request))
        return self._chooser.measure(self._evidence.latest, field.hint, 1) >= FITTING
