"""Bytes to text: byte order mark, header, meta, and at last what the bytes look like."""

import codecs
import re

# The marks that WHATWG knows, in its order; they beat everything that is declared (Encoding, "BOM sniff").
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_BE, "utf-16-be"), (codecs.BOM_UTF16_LE, "utf-16-le"))

# Python's codecs for the encodings of WHATWG. Only these: Python also has codecs that are no encodings (unicode_escape,
# idna) and some that nobody means (utf-7, which hides markup).
_ENCODINGS = frozenset(
    {
        *("utf-8", "utf-16-be", "utf-16-le", "gb18030", "big5hkscs", "cp932", "euc_jp", "iso2022_jp", "cp949"),
        *("cp866", "koi8-r", "koi8-u", "mac-roman", "mac-cyrillic", "cp874"),
        *(f"cp125{number}" for number in range(9)),
        *(f"iso8859-{number}" for number in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)),
    }
)
# Names that mean more than Python's codec of the name (WHATWG, "names and labels").
_MEANT = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "utf-16": "utf-16-le",
}
# Labels of WHATWG that Python does not know.
_LABELS = {
    "x-sjis": "cp932",
    "windows-949": "cp949",
    "windows-874": "cp874",
    "dos-874": "cp874",
    "x-mac-cyrillic": "mac-cyrillic",
    "iso-8859-8-i": "iso8859-8",
    "x-gbk": "gb18030",
    "x-euc-jp": "euc_jp",
}
_LONGEST_LABEL = 40

# Encodings in which every byte means something: bytes that are valid UTF-8 "decode" in them too, into nonsense.
_SINGLE_BYTE = re.compile(r"cp125\d|cp866|cp874|iso8859-\d+|koi8-[ru]|mac-.*")

# WHATWG looks for a meta within 1,024 bytes; generators put long comments before it.
_PRESCANNED = 4_096
_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
_META = re.compile(rb"<meta\s[^>]{0,500}?charset\s{0,9}=\s{0,9}[\"']?\s{0,9}([a-z0-9_:.\-]{1,40})", re.IGNORECASE)
_XML = re.compile(
    rb"\A\s{0,9}<\?xml\s[^>]{0,200}?encoding\s{0,9}=\s{0,9}[\"']([a-z0-9_:.\-]{1,40})[\"']", re.IGNORECASE
)

# Letters and signs outside ASCII that texts of Western Europe are made of, and their share in one at most:
# charset-normalizer takes short French and German for windows-1250, which differs in a few letters only.
_WESTERN = frozenset("àâäáãåæçèéêëìíîïñòóôöõøùúûüÿœßÀÂÄÁÃÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÖÕØÙÚÛÜŸŒ¿¡«»‘’“”–—…€°ºª·•©®™§\xa0")
_MOST_WESTERN = 0.2

# What the detection looks at. More costs time (25 ms for each 64 kB) and decides no case that we tried.
_DETECTED = 65_536


def decode(body: bytes, declared: str | None = None) -> tuple[str, str]:
    """Text and the encoding it was read with, as Python names it.

    A declaration that the bytes do not fit is passed over; the last resort, windows-1252, never fails.

    Args:
        declared: The `charset` of the Content-Type header.
    """
    for mark, encoding in _MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(encoding, "replace"), encoding
    for named in (find_encoding(declared), find_meta(body), find_utf16(body), "utf-8"):
        text = read_as(body, named)
        if named and text is not None:
            return text, named
    return detect(body)


def find_encoding(label: str | None) -> str | None:
    """The codec of a declared charset; None for what is none of WHATWG's."""
    text = (label or "").strip().lower()
    if not text or len(text) > _LONGEST_LABEL:
        return None
    try:
        name = codecs.lookup(_LABELS.get(text, text.removeprefix("x-"))).name
    except (LookupError, ValueError):
        return None
    name = _MEANT.get(name, name)
    return name if name in _ENCODINGS else None


def find_meta(body: bytes) -> str | None:
    """The encoding that a page declares in its own head, or XML in its first line.

    What could be read as ASCII until there is no UTF-16, whatever it says (WHATWG, "prescan a byte stream").
    """
    head = _COMMENT.sub(b"", body[:_PRESCANNED])
    found = _XML.match(head) or _META.search(head)
    encoding = find_encoding(found[1].decode("ascii")) if found else None
    return "utf-8" if encoding and encoding.startswith("utf-16") else encoding


def find_utf16(body: bytes) -> str | None:
    """The byte order of UTF-16 without a mark, which UTF-8 would take too: every second byte of ASCII is zero."""
    sample = body[:_PRESCANNED]
    for encoding, zeros in (("utf-16-be", sample[::2].count(0)), ("utf-16-le", sample[1::2].count(0))):
        if zeros > len(sample) // 4:
            return encoding
    return None


def read_as(body: bytes, encoding: str | None) -> str | None:
    """The text, when the bytes fit the encoding.

    Bytes that are UTF-8 with letters outside ASCII are taken for nothing else of one byte a letter: by chance that
    happens to next to no text, by a server's default charset to many.
    """
    # Text of any length in UTF-16 has a zero byte: its blanks and line ends are ASCII. Other bytes decode in it too.
    if encoding is None or (encoding.startswith("utf-16") and 0 not in body[:_PRESCANNED]):
        return None
    try:
        text = body.decode(encoding)
        if _SINGLE_BYTE.fullmatch(encoding) and not body.isascii():
            return None if is_utf8(body) else text
    except UnicodeDecodeError:
        return None
    return text


def is_utf8(body: bytes) -> bool:
    """Whether the bytes are valid UTF-8."""
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def detect(body: bytes) -> tuple[str, str]:
    """Text of bytes that nobody declares rightly and that are no UTF-8."""
    sample = body[:_DETECTED]
    if is_western(sample.decode("cp1252", "replace")):
        return body.decode("cp1252", "replace"), "cp1252"
    from charset_normalizer import from_bytes

    best = from_bytes(sample).best()
    encoding = find_encoding(best.encoding) if best else None
    text = read_as(body, encoding)
    if encoding is None or text is None:
        return body.decode("cp1252", "replace"), "cp1252"
    return text, encoding


def is_western(text: str) -> bool:
    """Whether a text that was read as windows-1252 makes sense as that."""
    outside = [character for character in text if not character.isascii()]
    return _WESTERN.issuperset(outside) and len(outside) < _MOST_WESTERN * len(text)
