"""Every bound of documents in one table.

What is larger than a request (http/limits.py) goes through the bucket. A stored document is shown whole
to a model (seeds/oria_tools.md, get_document_content_tool), so its characters are bounded by what a model's context
holds: 300,000 are about 75,000 tokens.
"""

from dataclasses import dataclass
from typing import Final

UPLOAD_BYTES: Final = 20_000_000
UPLOAD_SECONDS: Final = 900
NAME_CHARACTERS: Final = 200
TITLE_CHARACTERS: Final = 300
DOCUMENTS: Final = 50
CONVERSATION_CHARACTERS: Final = 2_000_000


@dataclass(frozen=True)
class ExtractionLimits:
    """What one extraction may cost. `seconds` is wall clock, and of processor time; `memory` is the address space of
    the process that reads; `expanded` are bytes after decompression."""

    bytes: int = UPLOAD_BYTES
    pages: int = 300
    characters: int = 300_000
    expanded: int = 100_000_000
    memory: int = 640_000_000
    seconds: int = 15
