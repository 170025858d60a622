"""Declaring a tool: its docstring is what the model reads."""

from collections.abc import Awaitable, Callable
from functools import wraps
from inspect import cleandoc
from typing import Annotated, Any

from langchain_core.tools import BaseTool, InjectedToolArg, tool
from pydantic import BaseModel, ValidationError


class StoredDataError(Exception):
    """Something that a tool read does not fit its model; the cause says what."""


class NoArguments(BaseModel):
    """The tool takes nothing from the model: what it works on is the request's matter.

    LangChain gives a tool whose schema is empty no injected argument either, so the runtime is named here; the schema
    that the model sees leaves it out (StructuredTool._to_args_and_kwargs).
    """

    runtime: Annotated[Any, InjectedToolArg]


def declare_tool(name: str, schema: type[BaseModel]) -> Callable[[Callable[..., Awaitable[Any]]], BaseTool]:
    """LangChain's `@tool` with two corrections.

    The docstring is cleaned: only Python 3.13 and newer do that by themselves. And a ValidationError of the tool's own
    work gets another type: ToolNode takes it for wrong arguments and quotes what did not validate to the model.
    """

    def declare(function: Callable[..., Awaitable[Any]]) -> BaseTool:
        @wraps(function)
        async def work(*args: Any, **kwargs: Any) -> Any:
            try:
                return await function(*args, **kwargs)
            except ValidationError as error:
                raise StoredDataError from error

        return tool(name, args_schema=schema, description=cleandoc(function.__doc__ or ""))(work)

    return declare
