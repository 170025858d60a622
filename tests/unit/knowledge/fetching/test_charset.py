"""Which charset a body is read with."""

import pytest

from oria_runtime.knowledge.fetching.charset import decode

FRENCH = "Les congés payés : après l’été, l'employé à l’étranger reçoit sa prime de dépaysement."
SPANISH = "Las vacaciones se solicitan con antelación. El año siguiente, ¿cuántos días me quedan?"
GERMAN = "Über die Größe der Büros: für Anträge müssen Sie die Führungskraft fragen. Schöne Grüße."
RUSSIAN = "Заявление на отпуск подаётся за две недели до начала отпуска. Требуется согласие руководителя."
JAPANESE = "休暇の申請は二週間前までに提出してください。上司の承認が必要です。詳しくは人事部まで。"


def page(text: str, head: str = "") -> str:
    return f"<html><head>{head}<title>t</title></head><body><p>{text}</p></body></html>"


@pytest.mark.parametrize("mark", [("utf-8-sig", "utf-8"), ("utf-16", "utf-16-le")])
def test_a_byte_order_mark_beats_every_declaration(mark: tuple[str, str]) -> None:
    body = page(FRENCH, '<meta charset="iso-8859-1">').encode(mark[0])
    text, encoding = decode(body, "windows-1252")
    assert (text, encoding) == (page(FRENCH, '<meta charset="iso-8859-1">'), mark[1])


def test_the_header_beats_the_meta() -> None:
    body = page(RUSSIAN, '<meta charset="koi8-r">').encode("cp1251")
    text, encoding = decode(body, "windows-1251")
    assert RUSSIAN in text
    assert encoding == "cp1251"


@pytest.mark.parametrize(
    "head",
    [
        '<meta charset="windows-1251">',
        "<META CHARSET=windows-1251>",
        '<meta http-equiv="Content-Type" content="text/html; charset=windows-1251">',
        "<!-- <meta charset=koi8-r> --><meta name=a content=b><meta charset='cp1251'>",
    ],
)
def test_the_meta_counts_where_the_header_says_nothing(head: str) -> None:
    assert RUSSIAN in decode(page(RUSSIAN, head).encode("cp1251"))[0]


def test_the_declaration_of_xml_counts() -> None:
    body = '<?xml version="1.0" encoding="windows-1251"?><p>' + RUSSIAN + "</p>"
    assert decode(body.encode("cp1251"))[0] == body


def test_a_meta_that_says_utf_16_in_ascii_means_utf_8() -> None:
    assert FRENCH in decode(page(FRENCH, "<meta charset=utf-16>").encode())[0]


@pytest.mark.parametrize("declared", ["utf-8", "us-ascii", "utf-16", "shift_jis", "nonsense", "zip", "utf-7", "x" * 99])
def test_a_declaration_that_does_not_fit_is_passed_over(declared: str) -> None:
    assert FRENCH in decode(page(FRENCH).encode("cp1252"), declared)[0]


def test_the_charset_that_a_server_declares_for_everything_does_not_break_utf_8() -> None:
    assert decode(FRENCH.encode(), "iso-8859-1") == (FRENCH, "utf-8")


@pytest.mark.parametrize("label", ["latin1", "ISO-8859-1", "ascii", "windows-1252", "x-cp1252"])
def test_latin_1_is_read_as_browsers_read_it(label: str) -> None:
    assert decode("l’été — 5 €".encode("cp1252"), label) == ("l’été — 5 €", "cp1252")


@pytest.mark.parametrize("label", ["gb2312", "gbk"])
def test_chinese_labels_mean_the_larger_set(label: str) -> None:
    assert decode("員工手冊".encode("gb18030"), label)[0] == "員工手冊"


@pytest.mark.parametrize("text", [FRENCH, SPANISH, GERMAN, "Café – résumé", "Prix : 5 €"])
@pytest.mark.parametrize("wrapped", [True, False])
def test_undeclared_western_text_is_detected(text: str, wrapped: bool) -> None:
    assert text in decode((page(text) if wrapped else text).encode("cp1252"))[0]


@pytest.mark.parametrize(("text", "encoding"), [(RUSSIAN, "cp1251"), (JAPANESE, "cp932"), (FRENCH, "utf-16-le")])
def test_other_undeclared_text_is_detected(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)) == (text, encoding)


@pytest.mark.parametrize("declared", [None, "utf-8", "windows-1252", "gb18030"])
def test_no_bytes_fail(declared: str | None) -> None:
    assert decode(bytes(range(256)) * 3, declared)[0]
    assert decode(b"", declared)[0] == ""


def test_broken_utf_8_with_its_mark_is_read_with_replacements() -> None:
    assert decode(b"\xef\xbb\xbfcaf\xe9 au lait") == ("caf\ufffd au lait", "utf-8")
