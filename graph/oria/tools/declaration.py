"""Declaring a tool: its docstring is what the model reads."""

from collections.abc import Callable
from inspect import cleandoc
from typing import Any

from langchain_core.tools import BaseTool, tool
from pydantic import BaseModel


def declare_tool(name: str, schema: type[BaseModel]) -> Callable[[Callable[..., Any]], BaseTool]:
    """LangChain's `@tool` with the docstring cleaned: only Python 3.13 and newer do that by themselves."""

    def declare(function: Callable[..., Any]) -> BaseTool:
        return tool(name, args_schema=schema, description=cleandoc(function.__doc__ or ""))(function)

    return declare
