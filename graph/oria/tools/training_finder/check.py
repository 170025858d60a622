"""A check of a request before the search: its evidence, and structured answers about it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from langchain_core.messages import SystemMessage
from pydantic import BaseModel

from graph.oria.language import name_language
from graph.oria.prompts import read_prompt, read_sections
from graph.oria.untrusted import data_message, untrusted_content_policy
from graph.policy import SCOPE_SECONDS
from oria_runtime.models.client import Models

Written = TypeVar("Written", bound=BaseModel)

FOLDER = "training_finder"


@dataclass(frozen=True)
class Check:
    """What a check may use: JSON evidence, and the locale in whose language questions are written."""

    evidence: Mapping[str, Any]
    models: Models
    locale: str

    @property
    def native(self) -> bool:
        """Whether judgements are decisions of the provider; settled before any call and never changed by a failure."""
        return self.models.supports_decisions("mini")

    async def generate(self, schema: type[Written], label: str, *prompts: str, **given: Any) -> Written:
        """A structured answer by these rules. Raises ModelError."""
        rules = [write_rules(f"{FOLDER}/{name}") for name in prompts]
        language = f"Write questions and options in {name_language(self.locale)}."
        system = SystemMessage("\n\n".join([*rules, untrusted_content_policy(), language]))
        data = data_message("Training request", dict(self.evidence) | given)
        return await self.models.structured(label=label, schema=schema, messages=[system, data], timeout=SCOPE_SECONDS)


def write_rules(name: str) -> str:
    """A prompt with its sections as a list."""
    sections = "\n".join(f"- `{heading}`: {text}" for heading, text in read_sections(name).items())
    return "\n\n".join(part for part in (read_prompt(name), sections) if part)
