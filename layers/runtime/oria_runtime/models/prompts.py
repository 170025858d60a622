"""System prompts in two parts: instructions that stay the same, and what changes with each request.

The parts are two text blocks of one SystemMessage, so that a provider can be asked to cache the first one. `.text` is
the whole prompt; the models write the message as their wire wants it (`caching`).
"""

from typing import Any, Final

from langchain_core.messages import SystemMessage

STABLE: Final = "stable"
SEPARATOR: Final = "\n\n"


def write_prompt(stable: str, request: str = "") -> SystemMessage:
    """A system prompt whose stable part may be cached. Nothing of a person, a request or a day belongs into it."""
    rest = [text_block(SEPARATOR + request)] if request else []
    return SystemMessage(content=[text_block(stable) | {STABLE: True}, *rest])


def extend_prompt(system: SystemMessage | None, text: str) -> SystemMessage:
    """The prompt with more text at its end; the stable part stays what it is."""
    if system is None:
        return SystemMessage(text)
    stable, rest = split_prompt(system)
    if not stable:
        return SystemMessage(f"{rest}{SEPARATOR}{text}")
    return write_prompt(stable, f"{rest.removeprefix(SEPARATOR)}{SEPARATOR}{text}")


def split_prompt(system: SystemMessage) -> tuple[str, str]:
    """The stable part, empty when none is marked, and the rest."""
    content = system.content
    if isinstance(content, list) and content and isinstance(content[0], dict) and content[0].get(STABLE):
        stable = str(content[0]["text"])
        return stable, str(system.text)[len(stable) :]
    return "", str(system.text)


def text_block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}
