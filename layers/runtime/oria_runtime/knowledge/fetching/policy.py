"""What one fetch may cost, and what it gives."""

from dataclasses import dataclass


@dataclass(frozen=True)
class FetchPolicy:
    """Bounds of a fetch. Times are seconds, sizes bytes.

    `seconds` is the deadline of a whole fetch with all its hops, less the waits that politeness asks for. Within it,
    `connect_seconds` bounds name, connection and TLS of one hop, `first_byte_seconds` everything until its header is
    complete, and `idle_seconds` the pause between two pieces of its body.
    """

    allow_loopback: bool = False
    # A page of an intranet takes one to three seconds at its worst; PDFs of `bytes` arrive within 30 s at 700 kB/s.
    seconds: float = 30.0
    connect_seconds: float = 5.0
    first_byte_seconds: float = 15.0
    idle_seconds: float = 10.0
    # The documents' own limit of an upload; what a zipped page may become is what the extractor still reads.
    bytes: int = 20_000_000
    expanded_bytes: int = 40_000_000
    # RFC 9309 asks for five at least; browsers stop at twenty. A chain longer than this is a fault of the site.
    redirects: int = 5
    kept_connections: int = 8
    user_agent: str = "OriaKnowledge/1.0"
    # Between two requests to one host. A refresh reads a few hundred pages: a second would pass the function's time.
    delay_seconds: float = 0.2
    # The longest delay a site gets by its Crawl-delay, and the longest absence by its Retry-After.
    most_delay_seconds: float = 5.0
    retry_seconds: float = 60.0
    most_retry_seconds: float = 86_400.0
    # RFC 9309, 2.5: a crawler reads at least 500 KiB of the rules and may ignore the rest.
    robots_bytes: int = 512_000


@dataclass(frozen=True)
class Validators:
    """What the server called its version of a document, kept and sent back byte for byte."""

    etag: str | None = None
    last_modified: str | None = None


NONE = Validators()


@dataclass(frozen=True)
class Fetched:
    """The answer of a location.

    Attributes:
        location: Where the answer came from, normalized: the end of the redirects.
        hops: The locations that redirected to it, in their order; empty without redirects.
        not_modified: The server says that what `validators` named still stands; `body` is then empty. It speaks of
            `location`: a caller that knows the validators from somewhere else fetches again without them.
        validators: What the server sent, or, when unchanged and not sent again, what it was asked with.
        media_type: Lower case, without parameters; read from the body where the server does not tell.
        charset_declared: The header's `charset`, as sent.
        body: Bytes after the content coding is undone.
        body_hash: SHA-256 of `body` in hexadecimal; empty when not modified.
    """

    location: str
    hops: tuple[str, ...]
    not_modified: bool
    validators: Validators
    media_type: str
    charset_declared: str | None
    body: bytes
    body_hash: str
