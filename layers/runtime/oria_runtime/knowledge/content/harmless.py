"""Which pages can be parsed in the process that serves others.

The HTML standard makes some of the parser's work quadratic, and nothing ends a call into a library but the end of its
process. Measured with selectolax 1.0.2 on one core: 50,000 nested `div` (250 kB) take 2.2 s and a million would take a
quarter of an hour; 20,000 attributes of one element (170 kB) 0.5 s; 1,000 unclosed `<b a=…>` before 1,000 `<p>` (13 kB)
make a million nodes in 374 MB, because every paragraph opens each of them again.
"""

import re
from typing import Final

# With these the worst page costs 0.5 s and 150 MB. Of real pages most pass; the others cost a process each (50 ms).
CHARACTERS: Final = 150_000
TAGS: Final = 20_000
REOPENED: Final = 400_000

TAG: Final = re.compile(r"<[A-Za-z/]")
# The elements that the standard opens again (HTML, 13.2.4.3, list of active formatting elements).
FORMATTING: Final = re.compile(r"<(?:a|b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)[\s/>]", re.IGNORECASE)


def is_harmless(text: str) -> bool:
    """Whether no parser that follows the standard can need much time or memory for a page: every tag counts, wherever
    it stands, so that nothing in the page can hide one."""
    if len(text) > CHARACTERS:
        return False
    tags = sum(1 for _ in TAG.finditer(text))
    return tags <= TAGS and tags * sum(1 for _ in FORMATTING.finditer(text)) <= REOPENED
