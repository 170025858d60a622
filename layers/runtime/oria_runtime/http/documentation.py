"""What the OpenAPI document says beside the models: problem details, headers, who may call."""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRouter

from oria_runtime.http.problems import MEDIA_TYPE, Problem

DESCRIPTIONS = {
    400: "Not JSON, not UTF-8, or a malformed header.",
    401: "No bearer token, or one that does not verify.",
    403: "The token's tenant is not known here, or the caller may not do this.",
    404: "Unknown, malformed or somebody else's id.",
    409: "The state forbids it now; `blocking` names the turn and the interaction in the way.",
    413: "The body is too large.",
    415: "The body is not application/json.",
    422: "The body or a parameter has a wrong shape or value; `errors` says where.",
    500: "A fault of the service.",
    503: "The database, the bus or the token issuer is not answering; `Retry-After` says when to try again.",
}
ALWAYS = (401, 500, 503)
WITH_BODY = (400, 413, 415, 422)

Responses = dict[int | str, dict[str, Any]]


def problems(*statuses: int, body: bool = False) -> Responses:
    """The `responses` of a route: its own problems, those of every route, and those of reading a body."""
    listed = sorted({*statuses, *ALWAYS, *(WITH_BODY if body else ())})
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {status: {"description": DESCRIPTIONS[status], "content": content} for status in listed}


LOCATION = {"Location": {"description": "The absolute address of it.", "schema": {"type": "string", "format": "uri"}}}
CONTENT_LOCATION = {
    "Content-Location": {"description": "The address of the turn.", "schema": {"type": "string", "format": "uri"}}
}
APPLIED = {"Preference-Applied": {"description": "`wait=N` when it was honoured.", "schema": {"type": "string"}}}

DESCRIPTION = """
Supervised assistants. A message begins a turn: `POST /v1/conversations/{id}/turns` answers 202 with the turn's address
in `Location`; follow it with `GET /v1/turns/{id}` or as server-sent events, or send `Prefer: wait=25` to wait for the
outcome. A turn may pause for questions (status `awaiting_input`); answer them all at once with
`POST /v1/interactions/{id}/response`. Errors are problem details (RFC 9457).
"""


class DocumentedApp(FastAPI):
    """The API's app; its document also covers the routes that another function serves (`elsewhere`)."""

    elsewhere: APIRouter | None = None

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            document = get_openapi(
                title=self.title,
                version=self.version,
                description=self.description,
                servers=self.servers,
                tags=self.openapi_tags,
                routes=[*self.routes, *(self.elsewhere.routes if self.elsewhere else [])],
            )
            schemas = document.setdefault("components", {}).setdefault("schemas", {})
            schema = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
            schemas.update(schema.pop("$defs", {}))
            schemas["Problem"] = schema
            self.openapi_schema = document
        return self.openapi_schema
