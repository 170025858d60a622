"""What an answer's status and header mean."""

from dataclasses import dataclass

from oria_runtime.documents.formats import BY_DECLARATION, UNDECLARED
from oria_runtime.knowledge.errors import FetchError
from oria_runtime.knowledge.fetching.conditional import Headers, ask_conditionally, is_same
from oria_runtime.knowledge.fetching.encoding import ACCEPTED
from oria_runtime.knowledge.fetching.exchange import Answer, Room, read_body
from oria_runtime.knowledge.fetching.failures import explain_body
from oria_runtime.knowledge.fetching.media import find_media_type, read_content_type
from oria_runtime.knowledge.fetching.policy import NONE, Fetched, Validators
from oria_runtime.knowledge.fetching.redirects import REDIRECTS
from oria_runtime.knowledge.locations import Scope

# 203 is a 200 that a proxy changed. Other answers of success have no document, or only a part of one.
FOUND = frozenset({200, 203})
NOT_MODIFIED = 304
GONE = frozenset({404, 410})
RETRY_LATER = frozenset({429, 503})


@dataclass(frozen=True)
class Wanted:
    """What a fetch asks for. Without `accept_types` every type is read."""

    scope: Scope
    room: Room
    validators: Validators = NONE
    accept_types: tuple[str, ...] = ()

    def headers(self, user_agent: str) -> Headers:
        """Those of every request of the fetch. `*/*` is there for servers that answer 406 instead of what they have."""
        accept = ", ".join((*self.accept_types, "*/*;q=0.1")) if self.accept_types else "*/*"
        return [
            (b"User-Agent", user_agent.encode("ascii")),
            (b"Accept", accept.encode("ascii")),
            (b"Accept-Encoding", ACCEPTED),
            *ask_conditionally(self.validators),
        ]

    def check_type(self, media_type: str) -> None:
        """Raises FetchError `unsupported`."""
        if self.accept_types and media_type not in self.accept_types:
            raise FetchError("unsupported", "The location holds a kind of file that is not read here.")


def read_redirect(answer: Answer) -> str | None:
    """Where an answer redirects to, as it says it; None when it does not."""
    return answer.headers.get("location") if answer.status in REDIRECTS else None


async def read_fetched(
    answer: Answer, location: str, hops: tuple[str, ...], wanted: Wanted, idle_seconds: float
) -> Fetched:
    """What the end of a fetch holds. Raises FetchError: `gone`, `status`, `unsupported`, and those of the body."""
    declared, charset = read_content_type(answer.headers.get("content-type", ""))
    received = Validators(answer.headers.get("etag"), answer.headers.get("last-modified"))
    if is_unmodified(answer.status, wanted.validators, received):
        await finish(answer)
        sent = wanted.validators
        kept = Validators(received.etag or sent.etag, received.last_modified or sent.last_modified)
        return Fetched(location, hops, True, kept, declared, charset, b"", "")
    check_status(answer.status)
    if declared not in UNDECLARED:
        wanted.check_type(BY_DECLARATION.get(declared, declared))
    body, body_hash = await read_body(answer, wanted.room, idle_seconds)
    media_type = find_media_type(declared, location, body)
    wanted.check_type(media_type)
    return Fetched(location, hops, False, received, media_type, charset, body, body_hash)


def is_unmodified(status: int, sent: Validators, received: Validators) -> bool:
    """Whether the answer says that the version named by `sent` still stands. 304 counts only where it was asked for."""
    if status == NOT_MODIFIED:
        return sent != NONE
    return status in FOUND and is_same(sent.etag, received.etag)


async def finish(answer: Answer) -> None:
    """Reads a 304, which by RFC 9112 has no body, to its end: the connection is then kept for the next request."""
    if answer.status == NOT_MODIFIED:
        with explain_body():
            await answer.response.aread()


def check_status(status: int) -> None:
    """Raises FetchError: `gone`, or `status` for every other answer without a document."""
    if status in GONE:
        raise FetchError("gone", "The document is not there any more.", status=status)
    if status not in FOUND:
        raise FetchError("status", f"The server answers with status {status}.", status=status)
