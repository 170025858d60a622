"""Content codings, fed in any pieces."""

import gzip
import zlib

import pytest

from oria_runtime.knowledge.errors import FetchError
from oria_runtime.knowledge.fetching.encoding import PIECE, choose_decoder

TEXT = b"Every employee has thirty days of leave. " * 20_000
RAW = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
BARE = RAW.compress(TEXT) + RAW.flush()


def decode(coding: str, data: bytes, step: int) -> bytes:
    """The data behind a coding when it arrives in steps of this size; no piece of it is larger than allowed."""
    decoder = choose_decoder(coding)
    pieces = [piece for at in range(0, len(data), step) for piece in decoder.feed(data[at : at + step])]
    decoder.finish()
    assert max(map(len, pieces)) <= PIECE
    return b"".join(pieces)


@pytest.mark.parametrize("step", [1, 7, 1_000, 10_000_000])
@pytest.mark.parametrize(
    ("coding", "data"),
    [
        ("gzip", gzip.compress(TEXT)),
        ("X-GZIP", gzip.compress(TEXT)),
        ("gzip, identity", gzip.compress(TEXT[:500_000]) + gzip.compress(TEXT[500_000:])),
        ("gzip", gzip.compress(TEXT) + bytes(100)),
        ("deflate", zlib.compress(TEXT)),
        ("deflate", BARE),
    ],
)
def test_codings_are_undone_however_the_bytes_arrive(coding: str, data: bytes, step: int) -> None:
    assert decode(coding, data, step) == TEXT


@pytest.mark.parametrize("coding", ["", "identity", " Identity , "])
def test_without_a_coding_bytes_pass_as_they_are(coding: str) -> None:
    assert decode(coding, TEXT, 1_000) == TEXT


def test_bytes_that_expand_to_exactly_a_piece_come_to_their_end() -> None:
    assert decode("gzip", gzip.compress(bytes(PIECE)), 10_000_000) == bytes(PIECE)


@pytest.mark.parametrize("coding", ["br", "zstd", "compress", "gzip, gzip", "gzip, br", "deflate,gzip", "nonsense"])
def test_codings_that_nobody_asked_for_and_nested_ones_are_refused(coding: str) -> None:
    with pytest.raises(FetchError) as raised:
        choose_decoder(coding)
    assert raised.value.reason == "broken_encoding"


@pytest.mark.parametrize(
    ("coding", "data", "reason"),
    [
        ("gzip", gzip.compress(TEXT)[:-30], "truncated"),
        ("gzip", gzip.compress(TEXT) + gzip.compress(TEXT)[:50], "truncated"),
        ("gzip", TEXT, "broken_encoding"),
        ("gzip", gzip.compress(TEXT)[:-8] + bytes(8), "broken_encoding"),
        ("deflate", zlib.compress(TEXT)[:-10], "truncated"),
        ("deflate", b"\x78", "truncated"),
        ("deflate", b"\xff\xff" * 50, "broken_encoding"),
    ],
)
def test_broken_and_cut_streams_are_told_apart(coding: str, data: bytes, reason: str) -> None:
    with pytest.raises(FetchError) as raised:
        decode(coding, data, 1_000)
    assert raised.value.reason == reason
