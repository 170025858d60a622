"""Prompt caching: asked for where the provider has it and the stable prefix is long enough, else not at all.

Writing to a cache costs more than reading the prompt plainly, so a mark belongs only where a later request starts with
the same tokens: at the end of the stable instructions (seeds/oria_orchestration.md, "Prompt, model and observability
profiles").
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from langchain_core.messages import BaseMessage, SystemMessage

from oria_runtime.models.profiles import ResolvedProfile
from oria_runtime.models.prompts import split_prompt, text_block

CHARACTERS_PER_TOKEN: Final = 4
# https://developers.openai.com/api/docs/guides/prompt-caching: shorter prompts are never cached.
OPENAI_MINIMUM: Final = 1_024
# The same guide: from this family on, a cached prefix ends at a breakpoint, and only an explicit one is stable.
BREAKPOINT_MODELS: Final = ("gpt-5.6", "gpt-6")
# https://platform.claude.com/docs/en/build-with-claude/prompt-caching, by the beginning of the model's name; a mark
# on a shorter prefix is ignored.
ANTHROPIC_MINIMUM: Final = 1_024
ANTHROPIC_MINIMA: Final[Mapping[str, int]] = {
    "claude-opus-5": 512,
    "claude-fable-5": 512,
    "claude-opus-4-7": 2_048,
    "claude-opus-4-6": 4_096,
    "claude-opus-4-5": 4_096,
    "claude-haiku-4-5": 4_096,
}
Mark = Mapping[str, Any]
ANTHROPIC_MARK: Final[Mark] = {"cache_control": {"type": "ephemeral"}}
OPENAI_MARK: Final[Mark] = {"prompt_cache_breakpoint": {"mode": "explicit"}}


def write_systems(messages: Sequence[BaseMessage], mark: Mark | None) -> list[BaseMessage]:
    """The messages with every system prompt as plain text, or in two blocks with the mark on its stable part."""
    return [write_system(message, mark) if isinstance(message, SystemMessage) else message for message in messages]


def write_system(message: SystemMessage, mark: Mark | None) -> SystemMessage:
    stable, rest = split_prompt(message)
    if not stable or mark is None:
        return SystemMessage(stable + rest)
    # A provider refuses an empty block.
    return SystemMessage(content=[text_block(stable) | dict(mark), *([text_block(rest)] if rest else [])])


def find_prefix(messages: Sequence[BaseMessage], tools: Any) -> str:
    """What every request of this kind begins with: the tools and the stable part of the first message.

    Empty when no stable part is marked, which is how a caller asks for caching.
    """
    first = messages[0] if messages else None
    stable = split_prompt(first)[0] if isinstance(first, SystemMessage) else ""
    return json.dumps(tools or [], ensure_ascii=False, default=str) + stable if stable else ""


def reaches(prefix: str, minimum: int) -> bool:
    """Whether a prefix has about that many tokens."""
    return len(prefix) // CHARACTERS_PER_TOKEN >= minimum


def choose_mark(profile: ResolvedProfile, prefix: str) -> Mark | None:
    """The mark that ends the cached prefix on this profile's wire, or None."""
    if profile.provider == "anthropic":
        return ANTHROPIC_MARK if prefix and reaches(prefix, read_minimum(profile.model)) else None
    marked = profile.provider == "openai" and profile.model.startswith(BREAKPOINT_MODELS)
    return OPENAI_MARK if marked and prefix and reaches(prefix, OPENAI_MINIMUM) else None


def choose_key(profile: ResolvedProfile, prefix: str) -> str | None:
    """The `prompt_cache_key` that sends requests with one prefix to one cache, or None. It holds no text."""
    known = profile.provider in {"openai", "azure"} and profile.model.startswith("gpt-")
    if not known or not prefix or not reaches(prefix, OPENAI_MINIMUM):
        return None
    return hashlib.sha256(prefix.encode()).hexdigest()[:32]


def read_minimum(model: str) -> int:
    """The shortest prefix that Anthropic caches for a model, in tokens."""
    found = (minimum for name, minimum in ANTHROPIC_MINIMA.items() if model.startswith(name))
    return next(found, ANTHROPIC_MINIMUM)
