"""The language of a turn: its own `locale`, the conversation's, bounded detection, the tenant's default (DESIGN §6).

Detection is `eld`: n-grams, no model download, loaded on first use (about 60 ms).
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any

from oria_runtime.errors import InvalidRequestError, Violation
from oria_runtime.tenancy.tenants import TenantConfig

# Language, script, region and variants of RFC 5646; extensions and private use say nothing about the answer's language.
LOCALE_PATTERN = r"^[A-Za-z]{2,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?(-[A-Za-z0-9]{5,8})*$"
LOCALE_LIMIT = 35
DETECTION_CHARACTERS = 500
# Among a tenant's languages some language always wins, German too where only English, French and Spanish are spoken.
# The winner counts only when it is nearly the best of all languages: measured 1.0 for a spoken one, 0.6 for Portuguese
# taken as Spanish, 0.1 for German taken as French.
WINNING_SHARE = 0.8

_locale = re.compile(LOCALE_PATTERN)


def match_locale(tag: str | None, locales: Sequence[str]) -> str | None:
    """The tenant's locale for a BCP 47 tag (RFC 4647 lookup): `fr-CA` finds `fr-CA`, then `fr`, then another `fr-…`.

    None when there is no tag or the tenant does not speak it. Raises InvalidRequestError for a malformed tag.
    """
    if tag is None:
        return None
    if len(tag) > LOCALE_LIMIT or not _locale.fullmatch(tag):
        detail = "must be a language tag such as en or fr-CA"
        raise InvalidRequestError("The locale is malformed.", [Violation("/locale", detail)])
    known = {locale.lower(): locale for locale in locales}
    parts = tag.lower().split("-")
    for length in range(len(parts), 0, -1):
        if found := known.get("-".join(parts[:length])):
            return found
    return next((locale for lowered, locale in known.items() if lowered.split("-")[0] == parts[0]), None)


def choose_locale(config: TenantConfig, text: str, *asked: str | None, previous: str | None = None) -> str:
    """The locale of a turn. `asked` are tags by precedence (the turn's, the conversation's); `previous` is the locale
    of the conversation's previous turn, taken when `text` is too short or too mixed to tell.

    Raises InvalidRequestError when a tag is malformed.
    """
    for tag in asked:
        if locale := match_locale(tag, config.locales):
            return locale
    return detect_locale(text, config.locales) or match_locale(previous, config.locales) or config.default_locale


def detect_locale(text: str, locales: Sequence[str]) -> str | None:
    """The one of `locales` that the beginning of a text is written in, or None when that is not certain."""
    languages = sorted({locale.split("-")[0].lower() for locale in locales})
    if len(languages) < 2:
        return None
    language = _detect_language(text[:DETECTION_CHARACTERS], languages)
    return match_locale(language, locales)


def _detect_language(text: str, languages: list[str]) -> str | None:
    detector = _load_detector()
    detector.dynamic_lang_subset(None)
    best = max(detector.detect(text).scores().values(), default=0.0)
    if not detector.dynamic_lang_subset(languages).success:
        return None
    result = detector.detect(text)
    if not result.is_reliable() or result.scores()[result.language] < WINNING_SHARE * best:
        return None
    return str(result.language)


@lru_cache(maxsize=1)
def _load_detector() -> Any:
    return import_module("eld").LanguageDetector()
