"""The language of a turn, as prompts name it and as fixed texts are chosen by it."""

from collections.abc import Mapping

NAMES: Mapping[str, str] = {
    "de": "German",
    "en": "English",
    "es": "Spanish",
    "fr": "French",
    "it": "Italian",
    "nl": "Dutch",
    "pl": "Polish",
    "pt": "Portuguese",
}
DEFAULT = "en"


def read_language(locale: str) -> str:
    """The primary subtag of a BCP 47 tag, in lower case (RFC 5646, section 2.1)."""
    return locale.replace("_", "-").partition("-")[0].lower()


def name_language(locale: str) -> str:
    """The English name of a locale's language, or its tag where we have no name."""
    return NAMES.get(read_language(locale), locale)


def pick_text(texts: Mapping[str, str], locale: str) -> str:
    """The fixed text in the locale's language, else the English one."""
    return texts.get(read_language(locale), texts[DEFAULT])
