"""The HTTP API behind API Gateway's proxy events."""

import asyncio
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from mangum import Mangum

from oria_runtime.http.app import create_app
from oria_runtime.observability import instrument
from oria_runtime.sandbox import get_sandbox


@instrument
def handler(event: Any, context: Any) -> dict[str, Any]:
    """Answer one proxy event of a REST API."""
    return build_adapter()(event, context)


@cache
def build_adapter() -> Mangum:
    """The application, once per sandbox.

    Mangum takes the current event loop, which must be the one that the pool lives on. `lifespan="off"`: it would start
    and stop the application on every invocation (Kludex/mangum#342). The base path is the mapping of a custom domain.
    """
    sandbox = get_sandbox()
    asyncio.set_event_loop(sandbox.loop)
    base_path = urlsplit(sandbox.settings.public_base_url).path
    return Mangum(create_app(sandbox), lifespan="off", api_gateway_base_path=base_path or "/")
