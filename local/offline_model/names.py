"""What stands for one thing: a person's name in a text, an identifier in the results of tools."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from local.offline_model.phrases import ASKING, SMALL_WORDS
from local.offline_model.sentences import split_sentences

NAME_FIELD = re.compile(r"(?:^|_)name$")
ID_FIELD = re.compile(r"_id$")
CODES_FIELD = re.compile(r"_codes$")
FILE_FIELD = re.compile(r"file_?name$")
FILE = re.compile(r"[\w-]+\.[A-Za-z]{2,5}\b")
# A mark ends a name, as in: Thomas Becker (Fleet manager).
WORD = re.compile(r"[^\W\d_][\w'’-]*|[^\w\s]")
# Small words inside a name: Esther van den Berg.
PARTICLES = frozenset(["van", "von", "den", "der", "de", "del", "la", "di", "da", "el", "al", "bin"])


def find_name(text: str) -> str:
    """The longest run of capitalised words, the last of equals; nothing when there is none."""
    runs = [run for sentence in split_sentences(text) for run in list_runs(sentence)]
    longest = max((len(run) for run in runs), default=0)
    return next((" ".join(run) for run in reversed(runs) if len(run) == longest), "")


def list_runs(sentence: str) -> Iterator[list[str]]:
    """The runs of capitalised words of a sentence, whose first word is capitalised anyway."""
    words = WORD.findall(sentence)
    if words and (words[0].casefold() in SMALL_WORDS or ASKING.match(words[0])):
        words[0] = words[0].casefold()
    run: list[str] = []
    for word in [*words, ""]:
        if (word[:1].isupper() and len(word) > 1) or (run and word in PARTICLES):
            run.append(word)
            continue
        while run and run[-1] in PARTICLES:
            run.pop()
        if run:
            yield run
        run = []


def find_id(field: str, results: Sequence[tuple[str, Any]]) -> str:
    """The newest identifier of what a field such as `objective_id` names, in results given with their tool's name."""
    stem = ID_FIELD.sub("", field)
    found = [found for name, result in results for found in list_ids(result, stem, name)]
    return found[-1] if found else ""


def list_ids(value: Any, stem: str, key: str) -> Iterator[str]:
    """The ids of the records that stand alone under a key, or in the result of a tool, with that word in its name."""
    if not isinstance(value, Mapping):
        return
    if stem in key and isinstance(value.get("id"), str):
        yield value["id"]
    for inner_key, inner in value.items():
        yield from list_ids(inner, stem, inner_key)


def find_codes(field: str, results: Sequence[tuple[str, Any]]) -> list[str]:
    """The codes that results have for a field such as `job_codes`, each once."""
    key = CODES_FIELD.sub("_code", field)
    return list(dict.fromkeys(code for _, result in results for code in list_values(result, key)))


def list_values(value: Any, key: str) -> Iterator[str]:
    """The texts under a key, anywhere in a value."""
    for name, inner in value.items() if isinstance(value, Mapping) else enumerate(value):
        if name == key and isinstance(inner, str):
            yield inner
        elif isinstance(inner, Mapping | list):
            yield from list_values(inner, key)


def find_file(text: str) -> str:
    """The name of a file in a text, with its ending; nothing when there is none."""
    found = FILE.search(text)
    return found.group() if found else ""
