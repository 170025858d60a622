"""What a source may be: the rules of a new or changed one, each said with the place that breaks it."""

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from oria_runtime.errors import InvalidRequestError, Violation
from oria_runtime.knowledge.locations import (
    LocationError,
    Scope,
    default_scope,
    find_origin,
    is_public,
    list_prefixes,
    normalize,
)

KINDS_OF_PAGES: Final = frozenset({"web", "sitemap"})
S3: Final = "s3://"
BUCKET: Final = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")  # AWS, "Bucket naming rules"


def check_place(
    kind: str,
    location: str | None,
    origins: Sequence[str],
    path_prefixes: Sequence[str],
    *,
    s3_prefixes: Collection[str],
    allow_loopback: bool,
) -> tuple[str | None, Scope]:
    """The location in its one spelling, and what the source may read. Raises InvalidRequestError naming every rule
    that is broken.

    Without origins and prefixes a source may read the folder of its own location. `s3_prefixes` are `bucket/prefix` of
    the tenant's configuration.
    """
    if kind in KINDS_OF_PAGES:
        return _check_pages(location, origins, path_prefixes, allow_loopback=allow_loopback)
    found = list(_find_scope(origins, path_prefixes))
    if kind == "upload" and location is not None:
        found.append(Violation("/location", "an upload has no location: its files are uploaded"))
    folder = _name_folder(location) if kind == "s3" else None
    if kind == "s3":
        found += _find_s3(folder, s3_prefixes)
    if found:
        raise _refuse(found)
    return folder, Scope(())


def _refuse(found: Sequence[Violation]) -> InvalidRequestError:
    return InvalidRequestError("The source breaks a rule.", found)


def _find_scope(origins: Sequence[str], path_prefixes: Sequence[str]) -> Iterator[Violation]:
    """Limits of pages on a source without pages."""
    for name, given in (("origins", origins), ("path_prefixes", path_prefixes)):
        if given:
            yield Violation(f"/{name}", "belongs to sources of the kinds web and sitemap")


def _name_folder(location: str | None) -> str | None:
    """`s3://bucket/prefix/`, because to S3 a prefix without its slash begins other folders too. None for no place."""
    bucket, _, prefix = (location or "").removeprefix(S3).partition("/")
    if location is None or not location.startswith(S3) or not BUCKET.fullmatch(bucket):
        return None
    return f"{S3}{bucket}/{prefix.strip('/')}/" if prefix.strip("/") else f"{S3}{bucket}/"


def _find_s3(folder: str | None, allowed: Collection[str]) -> Iterator[Violation]:
    if folder is None:
        yield Violation("/location", "must be s3://bucket/prefix")
    elif not any(folder.startswith(f"{S3}{each.strip('/')}/") for each in allowed):
        yield Violation("/location", "is not below a prefix that the tenant's configuration allows")


def _check_pages(
    location: str | None, origins: Sequence[str], path_prefixes: Sequence[str], *, allow_loopback: bool
) -> tuple[str, Scope]:
    if location is None:
        raise _refuse([Violation("/location", "a source of this kind needs a URL")])
    found: list[Violation] = []
    normal = _check_location("/location", location, found, allow_loopback=allow_loopback)
    allowed = [
        _check_origin(f"/origins/{number}", origin, found, allow_loopback=allow_loopback)
        for number, origin in enumerate(origins)
    ]
    prefixes = [_check_prefix(f"/path_prefixes/{number}", each, found) for number, each in enumerate(path_prefixes)]
    if found:
        raise _refuse(found)
    own = default_scope(normal)
    scope = Scope(tuple(dict.fromkeys(allowed)) or own.origins, tuple(dict.fromkeys(prefixes)) or own.path_prefixes)
    if not scope.admits(normal):
        raise _refuse([Violation("/location", "is outside the source's own origins and path prefixes")])
    return normal, scope


def _check_location(pointer: str, url: str, found: list[Violation], *, allow_loopback: bool) -> str:
    """The normalized URL; what is wrong with it is added to `found`."""
    try:
        normal = normalize(url)
    except LocationError as error:
        found.append(Violation(pointer, f"{error.rule}: {error.detail}"))
        return ""
    if not is_public(normal, allow_loopback=allow_loopback):
        found.append(Violation(pointer, "address: must not lead to a private, local or reserved address"))
    return normal


def _check_origin(pointer: str, origin: str, found: list[Violation], *, allow_loopback: bool) -> str:
    normal = _check_location(pointer, origin, found, allow_loopback=allow_loopback)
    if normal and normal != find_origin(normal) + "/":
        found.append(Violation(pointer, "must be scheme, host and port only, such as https://intranet.example.com"))
    return find_origin(normal)


def _check_prefix(pointer: str, prefix: str, found: list[Violation]) -> str:
    if not prefix.startswith("/") or "?" in prefix or "#" in prefix or prefix.startswith("//"):
        found.append(Violation(pointer, "must be a path that begins with /"))
        return ""
    try:
        return list_prefixes([prefix])[0]
    except LocationError as error:
        found.append(Violation(pointer, f"{error.rule}: {error.detail}"))
        return ""
