"""Undoing a content coding, bounded: a few bytes can say a gigabyte."""

import zlib
from collections.abc import Iterator

from oria_runtime.knowledge.errors import FetchError

ACCEPTED = b"gzip, deflate"
# What one step puts out at most, so that the loop gets its turn between two steps.
PIECE = 262_144
_GZIP = 16 + zlib.MAX_WBITS
_GZIP_MAGIC = b"\x1f\x8b"


class Identity:
    """No coding: bytes pass as they are."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        yield data

    def finish(self) -> None:
        """Nothing can be missing."""


class Gzip:
    """One gzip stream of any number of members (RFC 1952, 2.2)."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(_GZIP)
        self._over = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The bytes behind `data`, in pieces of PIECE at most. Raises FetchError `broken_encoding`."""
        while data and not self._over:
            if self._member.eof:
                # Behind the last member browsers ignore whatever follows, and so do we.
                self._over = not data.startswith(_GZIP_MAGIC[: len(data)])
                self._member = zlib.decompressobj(_GZIP)
            else:
                yield from expand(self._member, data)
                data = self._member.unused_data

    def finish(self) -> None:
        """Raises FetchError `truncated` when the last member has no end."""
        if not self._over:
            finish(self._member)


class Deflate:
    """A zlib stream, or the bare deflate that some servers send under the name (RFC 9110, 8.4.1.2)."""

    def __init__(self) -> None:
        self._stream: zlib._Decompress | None = None
        self._head = b""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The bytes behind `data`, in pieces of PIECE at most. Raises FetchError `broken_encoding`."""
        if self._stream is None:
            self._head += data
            if len(self._head) < 2:
                return
            data = self._head
            self._stream = zlib.decompressobj(zlib.MAX_WBITS if is_zlib(data) else -zlib.MAX_WBITS)
        yield from expand(self._stream, data)

    def finish(self) -> None:
        """Raises FetchError `truncated` when the stream has no end."""
        if self._stream is None:
            raise FetchError("truncated", "The answer ends before its content does.")
        finish(self._stream)


Decoder = Identity | Gzip | Deflate


def choose_decoder(header: str) -> Decoder:
    """The decoder for a Content-Encoding header, "" for none.

    Raises:
        FetchError: `broken_encoding` for a coding that was not asked for, and for several on top of each other.
    """
    codings = [coding for part in header.split(",") if (coding := part.strip().lower()) not in ("", "identity")]
    if not codings:
        return Identity()
    if len(codings) > 1:
        raise FetchError("broken_encoding", "The answer is compressed more than once.")
    if codings[0] in ("gzip", "x-gzip"):
        return Gzip()
    if codings[0] == "deflate":
        return Deflate()
    raise FetchError("broken_encoding", "The answer is compressed in a way that was not asked for.")


def expand(stream: "zlib._Decompress", data: bytes) -> Iterator[bytes]:
    """What `data` adds to a stream, in pieces of PIECE at most. Raises FetchError `broken_encoding`."""
    full = False
    # A full piece may have more behind it that zlib holds although its input is used up.
    while (data or full) and not stream.eof:
        try:
            piece = stream.decompress(data, PIECE)
        except zlib.error as error:
            raise FetchError("broken_encoding", "The answer's compression is broken.") from error
        data, full = stream.unconsumed_tail, len(piece) == PIECE
        if piece:
            yield piece


def finish(stream: "zlib._Decompress") -> None:
    """Raises FetchError `truncated` when a stream has not come to its end."""
    if not stream.eof:
        raise FetchError("truncated", "The answer ends before its content does.")


def is_zlib(data: bytes) -> bool:
    """Whether two bytes are the header of a zlib stream (RFC 1950, 2.2)."""
    return data[0] & 0x0F == 8 and (data[0] << 8 | data[1]) % 31 == 0
