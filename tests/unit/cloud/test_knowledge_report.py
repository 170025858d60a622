"""What `make knowledge` shows of a refresh."""

import io
from typing import Any

from local.cloud.knowledge_report import Progress, describe_result


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def document(name: str, status: str = "indexed", **fields: Any) -> dict[str, Any]:
    defaults: dict[str, Any] = {"reason": None, "warnings": [], "chunks": 2 if status == "indexed" else 0}
    return {"location": f"http://127.0.0.1:1/{name}", "status": status, **defaults, **fields}


def source(status: str = "completed", error: dict[str, str] | None = None, **counts: int) -> dict[str, Any]:
    last = {"status": status, "error": error, "counts": counts}
    return {"location": "http://127.0.0.1:1/", "last_refresh": last}


def test_a_terminal_shows_one_line_that_grows_and_goes_away() -> None:
    terminal = Terminal()
    fetched = iter((1, 3, 4))
    progress = Progress(4, lambda: next(fetched), terminal)
    progress.show({}, 0.4)
    progress.show({"empty": 1}, 1.2)
    progress.show({"empty": 1, "new": 2, "embedded": 7}, 1.8)
    progress.show({"empty": 1, "new": 2, "refused": 1, "unchanged": 1, "embedded": 9}, 2.6)
    progress.end()

    assert "\n" not in terminal.getvalue()
    assert [text.rstrip("\x1b[K") for text in terminal.getvalue().split("\r")] == [
        "",
        "waiting for a worker  0 s",
        "[######..................] 1 of 4 documents  1 s",
        "[##################......] 3 of 4 documents, 7 passages embedded  2 s",
        "[########################] 4 of 4 documents, 9 passages embedded  3 s",
        "",
    ]


def test_a_log_gets_a_line_now_and_then() -> None:
    log = io.StringIO()
    progress = Progress(400, int, log)
    for done in range(400):
        progress.show({"new": done}, done / 10)
    progress.end()

    assert log.getvalue() == "[........................] 0 of 400 documents\n"


def test_what_could_not_be_indexed_is_listed_with_reasons() -> None:
    documents = [
        document("", "empty", reason="noindex"),
        document("a.md"),
        document("locked.pdf", "refused", reason="encrypted"),
        document("scan.pdf", "empty", reason="no_text"),
        document("late.md", "unreachable", reason="status_503", chunks=3),
        document("half.pdf", warnings=[{"code": "pages_without_text", "pages": [2]}]),
        document("missing.md", reason="gone"),
    ]

    assert describe_result(source(new=2, unchanged=1, embedded=4), documents).splitlines() == [
        "2 new, 1 unchanged; 4 passages embedded",
        "    3 indexed, 6 passages",
        "    1 not indexed",
        "        http://127.0.0.1:1/locked.pdf: protected by a password",
        "    1 without text",
        "        http://127.0.0.1:1/scan.pdf: no text in it: a scan needs text recognition first",
        "    1 could not be fetched",
        "        http://127.0.0.1:1/late.md: the server answers 503; its last version still answers (3 passages)",
        "    2 indexed with a remark",
        "        http://127.0.0.1:1/half.pdf: pages without text (pages [2])",
        "        http://127.0.0.1:1/missing.md: not there any more; its last version still answers (2 passages)",
    ]


def test_a_refresh_that_failed_says_why() -> None:
    failed = source("failed", {"reason": "timeout", "detail": "No answer within 20 s."})

    assert describe_result(failed, [document("a.md")]).splitlines() == [
        "the refresh failed: the server did not answer in time (No answer within 20 s.)",
        "    1 indexed, 2 passages",
    ]


def test_a_long_list_is_cut() -> None:
    shown = describe_result(source(), [document(f"{n}.pdf", "refused", reason="broken") for n in range(30)])

    assert shown.count("damaged, or not what its name says") == 20
    assert shown.endswith("and 10 more")
