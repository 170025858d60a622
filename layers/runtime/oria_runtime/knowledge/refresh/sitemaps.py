"""The locations that sitemaps list (sitemaps.org): sitemaps of sitemaps, plain, gzipped, or one URL a line."""

import zlib
from dataclasses import dataclass, field
from xml.parsers import expat

from oria_runtime.knowledge.refresh.limits import SITEMAP_BYTES

GZIP_MAGIC = b"\x1f\x8b"


class SitemapError(ValueError):
    """It cannot be read; the text says why and quotes nothing."""


@dataclass
class Sitemap:
    """What a sitemap lists, as written: pages, or other sitemaps."""

    pages: list[str] = field(default_factory=list)
    sitemaps: list[str] = field(default_factory=list)


def read_sitemap(body: bytes) -> Sitemap:
    """Read a sitemap. Raises SitemapError when it is none."""
    if body.startswith(GZIP_MAGIC):
        body = _expand(body)
    start = body.lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"<") or body[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return _read_xml(body.lstrip() if start.startswith(b"<") else body)
    return _read_lines(start)


def _expand(body: bytes) -> bytes:
    inflate = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        expanded = inflate.decompress(body, SITEMAP_BYTES)
    except zlib.error as error:
        raise SitemapError("The sitemap's gzip data is damaged.") from error
    if inflate.unconsumed_tail:
        raise SitemapError(f"The sitemap is larger than {SITEMAP_BYTES} bytes.")
    if not inflate.eof:
        raise SitemapError("The sitemap's gzip data is cut off.")
    return expanded


def _read_lines(body: bytes) -> Sitemap:
    lines = [line.strip() for line in body.decode("utf-8", "replace").splitlines()]
    pages = [line for line in lines if line.startswith(("http://", "https://"))]
    if len(pages) < len([line for line in lines if line]):
        raise SitemapError("The sitemap is neither XML nor a list of URLs.")
    return Sitemap(pages=pages)


class _Reader:
    """Collects the text of each <loc>, by the entry it is in; the same name elsewhere (images, videos) is left out."""

    def __init__(self) -> None:
        self.found = Sitemap()
        self._path: list[str] = []
        self._text: list[str] = []

    def start(self, name: str, _attributes: object) -> None:
        self._path.append(name)
        self._text.clear()
        if len(self._path) == 1 and _local(name) not in ("urlset", "sitemapindex"):
            raise SitemapError("The XML is no sitemap.")

    def characters(self, text: str) -> None:
        self._text.append(text)

    def end(self, _name: str) -> None:
        kind = tuple(map(_local, self._path))
        # Namespaces apart: <image:loc> is not the page's location.
        same_namespace = len({name.rpartition(" ")[0] for name in self._path}) == 1
        location = "".join(self._text).strip()
        if location and same_namespace and kind == ("urlset", "url", "loc"):
            self.found.pages.append(location)
        elif location and same_namespace and kind == ("sitemapindex", "sitemap", "loc"):
            self.found.sitemaps.append(location)
        self._path.pop()
        self._text.clear()


def _local(name: str) -> str:
    return name.rpartition(" ")[2]


def _refuse_declaration(*_: object) -> None:
    raise SitemapError("The sitemap declares entities.")


def _read_xml(body: bytes) -> Sitemap:
    """expat alone: no entity of a stranger is expanded or fetched, and a large file makes no tree."""
    reader = _Reader()
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.characters
    parser.EntityDeclHandler = _refuse_declaration
    try:
        parser.Parse(body, True)
    except expat.ExpatError as error:
        raise SitemapError("The sitemap is not well-formed XML.") from error
    return reader.found
