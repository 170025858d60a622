"""An application behind the Web Adapter: sends a line each tenth of a second."""

import asyncio
from collections.abc import AsyncIterator

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route


async def stream(request: Request) -> StreamingResponse:
    async def lines() -> AsyncIterator[str]:
        for number in range(int(request.query_params.get("lines", "4"))):
            yield f"line {number} {request.url.path} {'x-amzn-request-context' in request.headers}\n"
            await asyncio.sleep(0.1)

    return StreamingResponse(lines(), media_type="text/event-stream")


app = Starlette(routes=[Route("/v1/stream/{name}", stream)])
