"""The event streams of turns, and MCP, by uvicorn: AWS's Python runtime cannot stream, and Mangum buffers (run.sh)."""

from fastapi import FastAPI

from oria_runtime.http.app import create_app
from oria_runtime.sandbox import get_sandbox


def build_app() -> FastAPI:
    """The application, for `uvicorn --factory`."""
    return create_app(get_sandbox(), stream=True)
