"""Conditional requests (RFC 9110, section 13)."""

from oria_runtime.knowledge.fetching.policy import Validators

Headers = list[tuple[bytes, bytes]]


def ask_conditionally(validators: Validators) -> Headers:
    """The headers that make a request conditional: both validators, byte for byte as they were received.

    A server that knows only one of the two uses that one; RFC 9110, 13.1.3, makes the entity tag win where both count.
    """
    headers: Headers = []
    if validators.etag is not None:
        headers.append((b"If-None-Match", validators.etag.encode("latin-1")))
    if validators.last_modified is not None:
        headers.append((b"If-Modified-Since", validators.last_modified.encode("latin-1")))
    return headers


def is_same(sent: str | None, received: str | None) -> bool:
    """Whether two entity tags name the same version by the weak comparison (RFC 9110, 8.8.3.2).

    Servers that ignore If-None-Match answer 200 with the tag that was sent; a proxy that compresses makes it weak. What
    is no entity tag at all compares unequal, because nothing says what it would mean.
    """
    return sent is not None and received is not None and _opaque(sent) == _opaque(received) is not None


def _opaque(tag: str) -> str | None:
    text = tag.strip().removeprefix("W/")
    return text if len(text) >= 2 and text[0] == text[-1] == '"' else None
