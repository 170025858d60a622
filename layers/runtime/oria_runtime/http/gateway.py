"""The app behind API Gateway's proxy events, by Mangum."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from fastapi import APIRouter
from mangum import Mangum
from mangum.adapter import DEFAULT_TEXT_MIME_TYPES

from oria_runtime.http.app import create_app
from oria_runtime.http.problems import MEDIA_TYPE

if TYPE_CHECKING:
    from oria_runtime.sandbox import Sandbox


def create_adapter(sandbox: "Sandbox", *, routers: Sequence[APIRouter] = ()) -> Mangum:
    """A handler `(event, context) -> response` on the sandbox's loop and pool.

    Mangum takes the current event loop, and from Python 3.14 on there is none by itself (Kludex/mangum#347). Its
    lifespan would run for every invocation (Kludex/mangum#342). It sends what it does not know as text in base64,
    which API Gateway passes on as it is: problem details must be on its list. The base path is that of a custom
    domain's mapping; a stage is not part of an event's path.
    """
    asyncio.set_event_loop(sandbox.loop)
    base_path = urlsplit(sandbox.settings.public_base_url).path
    return Mangum(
        create_app(sandbox, routers=routers),
        lifespan="off",
        api_gateway_base_path=base_path or "/",
        text_mime_types=[*DEFAULT_TEXT_MIME_TYPES, MEDIA_TYPE],
    )
