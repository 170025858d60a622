"""The API as three functions serve it: `stream` the event stream and `/mcp`, `rationale` what waits for a model, `api`
everything else.

No lifespan and no background tasks: Mangum would run the first for every request, and Lambda freezes before the second
(CASES 41, 43).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, FastAPI

from oria_runtime.http import limits
from oria_runtime.http.documentation import DESCRIPTION, DocumentedApp
from oria_runtime.http.mcp.endpoint import create_route
from oria_runtime.http.middleware import RequestMiddleware
from oria_runtime.http.problems import HANDLED, answer_error
from oria_runtime.http.routes import (
    assistants,
    conversations,
    documents,
    events,
    feedback,
    health,
    interactions,
    knowledge,
    preferences,
    rationale,
    turns,
)
from oria_runtime.http.services import Services
from oria_runtime.http.sse import Pace

if TYPE_CHECKING:
    from oria_runtime.sandbox import Sandbox

PREFIX = "/v1"
HEADERS = ("Authorization", "Content-Type", "Idempotency-Key", "Last-Event-ID", "Prefer")
MCP_HEADERS = ("MCP-Protocol-Version", "Mcp-Method", "Mcp-Name")


def create_app(
    sandbox: "Sandbox",
    *,
    stream: bool = False,
    routers: Sequence[APIRouter] = (),
    pace: Pace | None = None,
    request_seconds: float = limits.REQUEST_SECONDS,
) -> DocumentedApp:
    """The ASGI app of a sandbox. `stream` makes it the stream function's, `routers` another function's with its own
    routes; `pace` are the stream's time limits, and `request_seconds` those of every other request."""
    pace = pace or Pace()
    streaming = events.create_router(pace)
    served = routers or ((streaming,) if stream else (
        assistants.router, conversations.router, turns.router, interactions.router, preferences.router,
        documents.router, feedback.router, knowledge.router,
    ))  # fmt: skip
    app = DocumentedApp(
        title="Oria",
        version="1",
        description=DESCRIPTION,
        servers=[{"url": sandbox.settings.public_base_url or "/"}],
        openapi_url=None if stream or routers else f"{PREFIX}/openapi.json",
        docs_url=None,
        redoc_url=None,
        # A redirect would be built from the Host header.
        redirect_slashes=False,
        exception_handlers=dict[int | type[Exception], Any].fromkeys(HANDLED, answer_error),
        separate_input_output_schemas=False,
    )
    app.add_middleware(RequestMiddleware)
    if sandbox.settings.cors_origins:
        allow_cross_origin(app, sandbox.settings.cors_origins)
    app.state.services = Services(sandbox, request_seconds)
    for router in (health.router, *served):
        app.include_router(router, prefix=PREFIX)
    if stream:
        app.router.routes.append(create_route(pace))
    else:
        app.elsewhere = _document(streaming, rationale.create_router(rationale.explain_elsewhere))
    return app


def allow_cross_origin(app: FastAPI, origins: Sequence[str]) -> None:
    """Let web clients of these origins call the API; their token is a header, so no cookie is ever allowed."""
    from starlette.middleware.cors import CORSMiddleware

    app.add_middleware(
        CORSMiddleware,
        allow_origins=list(origins),
        allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
        allow_headers=[*HEADERS, *MCP_HEADERS],
        expose_headers=["Location", "Content-Location", "Preference-Applied", "Retry-After"],
        max_age=600,
    )


def _document(*routers: APIRouter) -> APIRouter:
    documented = APIRouter()
    for router in routers:
        documented.include_router(router, prefix=PREFIX)
    return documented
