"""Which language a turn gets."""

import pytest

from oria_runtime.errors import InvalidRequestError
from oria_runtime.tenancy.language import choose_locale, detect_locale, match_locale
from oria_runtime.tenancy.tenants import TenantConfig

LOCALES = ["en", "fr", "es"]
CONFIG = TenantConfig(locales=LOCALES, default_locale="en")


@pytest.mark.parametrize(
    ("tag", "locales", "expected"),
    [
        ("fr", LOCALES, "fr"),
        ("FR-ca", LOCALES, "fr"),
        ("fr-CA", ["en", "fr", "fr-CA"], "fr-CA"),
        ("fr", ["en", "fr-CA"], "fr-CA"),
        ("zh-Hant-TW", ["zh-Hant", "en"], "zh-Hant"),
        ("es-419", LOCALES, "es"),
        ("de", LOCALES, None),
        (None, LOCALES, None),
    ],
)
def test_tag_finds_the_nearest_locale_of_the_tenant(tag: str | None, locales: list[str], expected: str | None) -> None:
    assert match_locale(tag, locales) == expected


@pytest.mark.parametrize(
    "tag", ["", "french", "f", "fr_CA", "fr-", "-fr", "fr--CA", "fr\n", "f\x00", "en" * 40, "fr-CA; q=1"]
)
def test_malformed_tag_is_refused_with_its_place(tag: str) -> None:
    with pytest.raises(InvalidRequestError) as raised:
        match_locale(tag, LOCALES)
    assert [violation.pointer for violation in raised.value.errors] == ["/locale"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Bonjour, je voudrais apprendre à programmer", "fr"),
        ("I want a learning plan for data engineering", "en"),
        ("¿Qué puedes hacer por mí?", "es"),
        ("merci beaucoup", "fr"),
        ("Ich möchte gerne Deutsch lernen", None),
        ("Quero um plano de formação para dados", None),
        ("ok", None),
        ("12345 !!!", None),
        ("", None),
        ("人工智能", None),
    ],
)
def test_detection_is_certain_or_silent(text: str, expected: str | None) -> None:
    assert detect_locale(text, LOCALES) == expected


def test_detection_reads_only_the_beginning() -> None:
    assert (
        detect_locale(
            "I want a learning plan for data engineering. " * 12 + "Bonjour tout le monde. " * 40_000, LOCALES
        )
        == "en"
    )


def test_detection_gives_the_tenants_own_locale() -> None:
    assert detect_locale("Bonjour, je voudrais apprendre", ["en-GB", "fr-CA"]) == "fr-CA"


def test_one_locale_needs_no_detection() -> None:
    assert detect_locale("Bonjour, je voudrais apprendre", ["en"]) is None


@pytest.mark.parametrize(
    ("text", "asked", "previous", "expected"),
    [
        ("Bonjour, je voudrais apprendre", ("es", "fr"), "en", "es"),
        ("Bonjour, je voudrais apprendre", (None, "es"), "en", "es"),
        ("Bonjour, je voudrais apprendre", (None, None), "es", "fr"),
        ("Bonjour, je voudrais apprendre", ("de", None), None, "fr"),
        ("ok", (None, None), "es", "es"),
        ("ok", (None, None), None, "en"),
        ("ok", (None, None), "de", "en"),
    ],
)
def test_language_is_chosen_by_precedence(
    text: str, asked: tuple[str | None, ...], previous: str | None, expected: str
) -> None:
    assert choose_locale(CONFIG, text, *asked, previous=previous) == expected
