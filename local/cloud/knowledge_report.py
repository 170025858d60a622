"""What `make knowledge` prints: progress while a refresh runs, then what became of the documents."""

import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TextIO

# What a refresh counts of documents; its other counts are of chunks.
READ = ("new", "changed", "unchanged")
BAR = 24
# A log is not filled by a long refresh.
LINE_SECONDS = 5.0
SHOWN = 20
STATUSES = {
    "empty": "without text",
    "refused": "not indexed",
    "unreachable": "could not be fetched",
    "gone": "gone",
}
REASONS = {
    "empty": "the file is empty",
    "no_text": "no text in it",
    "noindex": "it asks not to be indexed",
    "encrypted": "protected by a password",
    "broken": "damaged, or not what its name says",
    "type_mismatch": "not what its name says",
    "not_text": "not a text",
    "unsupported": "a format that is not read",
    "too_large": "too large",
    "too_many_pages": "too many pages",
    "too_many_characters": "too much text",
    "too_complex": "too complex to be read safely",
    "too_slow": "reading it took too long",
    "crashed": "reading it failed again and again",
    "timeout": "the server did not answer in time",
    "unreachable": "the server does not answer",
    "robots": "robots.txt forbids it",
    "address": "an address that may not be fetched",
    "gone": "not there any more",
    "unlisted": "not listed any more",
}


@dataclass
class Progress:
    """A refresh of `total` documents on a terminal: one line that changes. Elsewhere: a line now and then.

    `count_fetched` says how many were fetched: they are indexed some at a time, later.
    """

    total: int
    count_fetched: Callable[[], int]
    stream: TextIO = field(default_factory=lambda: sys.stdout)
    _last: str = ""
    _printed_at: float = 0.0

    def show(self, counts: Mapping[str, int], seconds: float) -> None:
        """Show how far it is."""
        text = self._write(counts)
        if self.stream.isatty():
            # Erases what an earlier, longer line left behind.
            self.stream.write(f"\r{text}  {seconds:.0f} s\x1b[K")
        elif text != self._last and time.monotonic() - self._printed_at >= LINE_SECONDS:
            self.stream.write(f"{text}\n")
            self._printed_at = time.monotonic()
        self._last = text
        self.stream.flush()

    def end(self) -> None:
        """Leave the line to what is printed next."""
        if self.stream.isatty():
            self.stream.write("\r\x1b[K")
            self.stream.flush()

    def _write(self, counts: Mapping[str, int]) -> str:
        if not counts:
            return "waiting for a worker"
        done = min(max(sum(counts.get(name, 0) for name in READ), self.count_fetched()), self.total)
        bar = "#" * (BAR * done // self.total)
        passages = f", {counts['embedded']} passages embedded" if counts.get("embedded") else ""
        return f"[{bar:.<{BAR}}] {done} of {self.total} documents{passages}"


def describe_result(source: Mapping[str, Any], documents: Iterable[Mapping[str, Any]]) -> str:
    """What a refresh changed, and what of the source's documents could not be indexed, with reasons."""
    last = source["last_refresh"]
    counts = last["counts"]
    changes = ", ".join(f"{counts[name]} {name}" for name in READ if counts.get(name)) or "no document"
    lines = [f"{changes}; {counts.get('embedded', 0)} passages embedded"]
    if last["status"] != "completed":
        lines = [f"the refresh failed: {describe_reason(last['error']['reason'])} ({last['error']['detail']})"]
    # The list of documents is no document of the folder.
    shown = [document for document in documents if document["location"] != source["location"]]
    indexed = [document for document in shown if document["status"] == "indexed"]
    lines.append(f"{len(indexed):>5} indexed, {sum(document['chunks'] for document in indexed)} passages")
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for document in shown:
        if document["status"] != "indexed" or document["reason"]:
            groups[document["status"]].append(f"        {document['location']}: {describe_document(document)}")
        elif document["warnings"]:
            groups["indexed"].append(f"        {document['location']}: {describe_warnings(document['warnings'])}")
    for status, found in groups.items():
        lines.append(f"{len(found):>5} {STATUSES.get(status, 'indexed with a remark')}")
        lines += found[:SHOWN] + ([f"        and {len(found) - SHOWN} more"] if len(found) > SHOWN else [])
    return "\n".join(lines)


def describe_document(document: Mapping[str, Any]) -> str:
    """Why a document is not as it should be, and whether an older version of it still answers."""
    kept = f"; its last version still answers ({document['chunks']} passages)" if document["chunks"] else ""
    is_scan = document["reason"] == "no_text" and str(document["location"]).lower().endswith(".pdf")
    advice = ": a scan needs text recognition first" if is_scan else ""
    return describe_reason(document["reason"] or document["status"]) + advice + kept


def describe_reason(reason: str) -> str:
    """A reason's code in words."""
    if reason.startswith("status_"):
        return f"the server answers {reason.removeprefix('status_')}"
    return REASONS.get(reason, reason.replace("_", " "))


def describe_warnings(warnings: Iterable[Mapping[str, Any]]) -> str:
    """What is missing of a document that is indexed otherwise."""
    parts = []
    for warning in warnings:
        about = ", ".join(f"{name} {value}" for name, value in warning.items() if name != "code")
        parts.append(str(warning["code"]).replace("_", " ") + (f" ({about})" if about else ""))
    return "; ".join(parts)
