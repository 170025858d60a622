"""JSON that is read before anything believes it."""

import base64
import json

import pytest

from oria_runtime.errors import InvalidRequestError
from oria_runtime.http import limits
from oria_runtime.http.bodies import parse_json
from oria_runtime.http.headers import read_last_event_id, read_wait
from oria_runtime.http.images import check_image


def refuse(body: bytes) -> InvalidRequestError:
    with pytest.raises(InvalidRequestError) as raised:
        parse_json(body)
    return raised.value


def test_ordinary_json_is_untouched() -> None:
    value = {"message": "Où ça ? 🌍", "list": [1, 2.5, None, True, {"a/b": "~"}]}
    assert parse_json(json.dumps(value).encode()) == value


def test_pair_of_surrogates_is_a_character() -> None:
    assert parse_json(b'"\\ud83c\\udf0d"') == "🌍"


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        (b'"\\u0000"', ""),
        (b'{"a": {"b": ["ok", "\\u0000"]}}', "/a/b/1"),
        (b'{"a/b": {"c~d": "\\ud800"}}', "/a~1b/c~0d"),
        (b'{"\\u0000": 1}', "/\ufffd"),
        (b'{"\\ud800": 1}', "/\ufffd"),
    ],
)
def test_characters_that_no_database_stores_are_found(body: bytes, pointer: str) -> None:
    error = refuse(body)
    assert (error.status, [violation.pointer for violation in error.errors]) == (422, [pointer])


def test_depth_is_bounded() -> None:
    parse_json(b"[" * limits.JSON_DEPTH + b"]" * limits.JSON_DEPTH)
    assert refuse(b"[" * 100 + b"]" * 100).status == 422
    assert refuse(b"[" * 1_000_000).status == 400


@pytest.mark.parametrize(
    "body", [b"", b"{", b"{]", b"\xff", b"NaN", b"[Infinity]", b"[-Infinity]", b"9" * 5000, b"'a'"]
)
def test_what_is_not_json_is_a_400(body: bytes) -> None:
    assert refuse(body).status == 400


@pytest.mark.parametrize(
    ("prefer", "seconds"),
    [
        (None, None),
        ("", None),
        ("wait=10", 10),
        ("WAIT = 10", 10),
        ('wait="10"', 10),
        ("respond-async, wait=10; x=1", 10),
        ("wait=90", 25),
        ("wait=0", 0),
        ("wait=-1", None),
        ("wait=1.5", None),
        ("await=10", None),
        ("wait=" + "9" * 50, None),
    ],
)
def test_patience_of_a_client_is_read(prefer: str | None, seconds: int | None) -> None:
    assert read_wait(prefer) == seconds


@pytest.mark.parametrize(("text", "number"), [(None, 0), ("", 0), ("-1", 0), ("0", 0), (" 17 ", 17)])
def test_last_event_id_is_a_number(text: str | None, number: int) -> None:
    assert read_last_event_id(text) == number


SIGNATURES = {
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff\xe0",
    "image/gif": b"GIF89a",
    "image/webp": b"RIFF\x00\x00\x00\x00WEBP",
}


@pytest.mark.parametrize(("media_type", "signature"), SIGNATURES.items())
def test_picture_is_known_by_its_first_bytes(media_type: str, signature: bytes) -> None:
    encoded = base64.b64encode(signature + bytes(16)).decode()
    expected = f"data:{media_type};base64,{encoded}"
    assert check_image(encoded) == expected
    # What a client claims it to be does not count.
    assert check_image(f"data:image/svg+xml;base64,{encoded}") == expected


@pytest.mark.parametrize("text", ["", "a", "****", "é", base64.b64encode(b"<svg/>").decode(), "data:image/png;base64,"])
def test_what_is_no_picture_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not"):
        check_image(text)


def test_picture_is_bounded() -> None:
    with pytest.raises(ValueError, match="larger"):
        check_image(base64.b64encode(SIGNATURES["image/png"] + bytes(limits.IMAGE_BYTES)).decode())
