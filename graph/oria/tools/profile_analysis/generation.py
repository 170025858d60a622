"""Model calls of the analysis: each has its task, its own deadline, and a result when none can be had."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel

from graph.oria.language import name_language
from graph.oria.prompts import read_prompt
from graph.oria.untrusted import data_message, untrusted_content_policy
from oria_runtime.models.client import Models
from oria_runtime.models.prompts import write_prompt

Written = TypeVar("Written", bound=BaseModel)

FOLDER = "profile_analysis"


@dataclass(frozen=True)
class Generation:
    """What the calls share: the evidence, the tenant's models, and the locale in whose language they write."""

    evidence: Mapping[str, Any]
    models: Models
    locale: str

    async def write(self, task: str, schema: type[Written], seconds: float) -> Written:
        """The structured answer of `task`, which names prompt and label. Raises ModelError."""
        rules = f"{read_prompt(f'{FOLDER}/{task}')}\n\n{untrusted_content_policy()}"
        system = write_prompt(rules, f"Write in {name_language(self.locale)}.")
        messages = [system, data_message("Profile", dict(self.evidence))]
        return await self.models.structured(
            label=f"{FOLDER}.{task}", schema=schema, messages=messages, timeout=seconds, profile="large"
        )
