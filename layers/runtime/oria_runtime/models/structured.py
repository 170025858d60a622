"""Structured answers under a strict JSON schema, and decisions by that way for models without native ones."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import openai
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage
from pydantic import BaseModel, ValidationError

from oria_runtime.models.errors import DecisionUnavailableError, ModelMalformedError
from oria_runtime.models.prompts import write_prompt

Answer = TypeVar("Answer", bound=BaseModel)


async def generate_structured(chat: BaseChatModel, schema: type[Answer], messages: Sequence[BaseMessage]) -> Answer:
    """An instance of `schema`. Raises ModelMalformedError when the text is not one, and what the model raises.

    The schema travels as a plain mapping: given a class, the SDK parses the answer itself, and a malformed one
    becomes an exception that has lost its usage.
    """
    tool = openai.pydantic_function_tool(schema)["function"]
    bound = chat.bind(response_format=strict_format(tool["name"], tool["parameters"]))
    message = await bound.ainvoke(list(messages))
    try:
        return schema.model_validate_json(message.text)
    except ValidationError as error:
        raise ModelMalformedError(f"the answer is no {schema.__name__}") from error


async def choose_structured(
    chat: BaseChatModel, name: str, instructions: str, choices: Mapping[str, str], evidence: Mapping[str, Any]
) -> str:
    """One of the choices. Rules and choices are the system message; the evidence is JSON in a message of its own."""
    listed = "\n".join(f"- {value}: {description}" for value, description in choices.items())
    schema = {
        "type": "object",
        "properties": {name: {"type": "string", "enum": list(choices), "description": listed}},
        "required": [name],
        "additionalProperties": False,
    }
    messages = [
        write_prompt(f"{instructions}\n\nChoose exactly one value for `{name}`:\n{listed}"),
        HumanMessage(json.dumps(evidence, ensure_ascii=False)),
    ]
    message = await chat.bind(response_format=strict_format(name, schema)).ainvoke(messages)
    return read_choice(message.text, name, choices)


def read_choice(text: str, name: str, choices: Mapping[str, str]) -> str:
    """The chosen value of a JSON answer. Raises DecisionUnavailableError for anything that was not offered."""
    try:
        answer = json.loads(text)
    except ValueError as error:
        raise DecisionUnavailableError("malformed") from error
    value = answer.get(name) if isinstance(answer, dict) and set(answer) == {name} else None
    if not isinstance(value, str) or value not in choices:
        raise DecisionUnavailableError("malformed")
    return value


def strict_format(name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The `response_format` of a strict JSON schema."""
    return {"type": "json_schema", "json_schema": {"name": name, "schema": dict(schema), "strict": True}}
