"""A folder's documents: those that a refresh can read, found below it, nothing hidden and nothing outside it."""

import html
import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path, PurePosixPath
from urllib.parse import quote

# What the knowledge reads, by the names that files have.
MEDIA_TYPES = {
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".txt": "text/plain",
    ".html": "text/html",
    ".htm": "text/html",
    ".pdf": "application/pdf",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
}
# A title stands at the top; further down a `#` may be a comment of a code example.
TITLE_BYTES = 4096
MARKDOWN_TITLES = (re.compile(r"\A---\n(?:.*\n)*?title: *(.+)\n(?:.*\n)*?---\n"), re.compile(r"^# +(.+?) *#*$", re.M))
HTML_TITLES = (re.compile(r"<title[^>]*>(.+?)</title>", re.I | re.S), re.compile(r"<h1[^>]*>(.+?)</h1>", re.I | re.S))
# Followed, not indexed: a list of titles answers no question.
PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="robots" content="noindex"><title>{title}</title></head>
<body>
<h1>{title}</h1>
{lists}
</body>
</html>
"""


@dataclass(frozen=True)
class Folder:
    """A folder by its real path."""

    path: Path

    def find(self, name: str) -> Path | None:
        """The file of a document by its path below the folder, None where there is none to show.

        A link that leads out of the folder is none, nor is anything hidden: the folder may be a whole work place.
        """
        relative = PurePosixPath(name)
        if relative.is_absolute() or relative.suffix.lower() not in MEDIA_TYPES:
            return None
        if any(part.startswith(".") for part in relative.parts):
            return None
        file = (self.path / relative).resolve()
        return file if file.is_relative_to(self.path) and file.is_file() and os.access(file, os.R_OK) else None

    def list_documents(self) -> list[PurePosixPath]:
        """The documents, a folder's own before those of its subfolders."""
        names = (name for name in self._walk() if self.find(str(name)))
        return sorted(names, key=lambda name: (name.parent.parts, name.name.casefold()))

    def count_others(self) -> Counter[str]:
        """How many visible files there are that are no documents, by the end of their names."""
        others = (name for name in self._walk() if name.suffix.lower() not in MEDIA_TYPES)
        return Counter(name.suffix.lower() or name.name for name in others)

    def build_page(self) -> str:
        """An HTML page with a link to every document."""
        title = f"Documents of {self.path.name}"
        groups = groupby(self.list_documents(), key=lambda name: name.parent)
        lists = "\n".join(self._build_list(parent, list(names)) for parent, names in groups)
        return PAGE.format(title=html.escape(title), lists=lists)

    def _build_list(self, parent: PurePosixPath, names: list[PurePosixPath]) -> str:
        heading = f"<h2>{html.escape(str(parent))}</h2>\n" if parent.parts else ""
        items = (
            f'<li><a href="/{html.escape(quote(str(name)))}">{html.escape(self.read_title(name))}</a></li>'
            for name in names
        )
        return f"{heading}<ul>\n" + "\n".join(items) + "\n</ul>"

    def read_title(self, name: PurePosixPath) -> str:
        """What a document calls itself, or else the words of its name."""
        suffix = name.suffix.lower()
        patterns = {".md": MARKDOWN_TITLES, ".markdown": MARKDOWN_TITLES, ".html": HTML_TITLES, ".htm": HTML_TITLES}
        if suffix in patterns:
            with (self.path / name).open("rb") as file:
                start = file.read(TITLE_BYTES).decode("utf-8", errors="replace").replace("\r\n", "\n")
            for pattern in patterns[suffix]:
                if found := pattern.search(start):
                    return html.unescape(re.sub(r"<[^>]+>|\s+", " ", found[1])).strip(" \"'")
        return re.sub(r"[-_ ]+", " ", name.stem).strip().capitalize()

    def _walk(self) -> Iterator[PurePosixPath]:
        for root, folders, files in os.walk(self.path):
            folders[:] = [name for name in folders if not name.startswith(".")]
            below = PurePosixPath(Path(root).relative_to(self.path).as_posix())
            yield from (below / name for name in files if not name.startswith("."))
