"""From what the network raises to what a source can show."""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager

import httpcore2

from oria_runtime.knowledge.errors import FetchError


@contextmanager
def explain_header() -> Iterator[None]:
    """Raises FetchError for what may happen until an answer's header is complete: `timeout`, `tls`, `unreachable`."""
    try:
        yield
    except (TimeoutError, httpcore2.TimeoutException) as error:
        raise FetchError("timeout", "The server did not answer in time.") from error
    except (httpcore2.NetworkError, httpcore2.ProtocolError, ssl.SSLError) as error:
        if is_tls(error):
            raise FetchError("tls", "The server's certificate or its encryption is not to be trusted.") from error
        raise FetchError("unreachable", "The server cannot be reached, or does not speak HTTP.") from error


@contextmanager
def explain_body() -> Iterator[None]:
    """Raises FetchError for what may happen to the body of an answer: `timeout`, `truncated`."""
    try:
        yield
    except (TimeoutError, httpcore2.TimeoutException) as error:
        raise FetchError("timeout", "The server stopped in the middle of its answer.") from error
    except (httpcore2.NetworkError, httpcore2.ProtocolError, ssl.SSLError) as error:
        raise FetchError("truncated", "The answer ends before its content does.") from error


def is_tls(error: BaseException) -> bool:
    """Whether TLS is the cause. httpcore2 keeps the cause as its error's argument; its pool drops the `__cause__`."""
    return isinstance(error, ssl.SSLError) or any(isinstance(cause, ssl.SSLError) for cause in error.args)
