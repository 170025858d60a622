"""Golden events (events/README.md), with their invented ids replaced by those of a test."""

import json
from pathlib import Path
from typing import Any

EVENTS = Path(__file__).parents[2] / "events"
TENANT_ID = "0d6f1d5e-6f0b-4c57-9f0e-3a5d1c2b7e10"
TURN_ID = "9a1f4c80-2c6d-4f4e-8f2b-1e7a5d3c9b02"
SOURCE_ID = "5b7c2f10-8e4d-4a6b-b1c9-6d3e9f0a2c11"
REQUEST_ID = "c2a1b7de-3f5a-4e66-9b1d-5d0f7a8e6c03"
RESPONSE_URL = "http://127.0.0.1:9/response"
TOKEN = "Bearer TOKEN"


def load_event(
    case: str,
    *,
    tenant_id: object = TENANT_ID,
    turn_id: object = TURN_ID,
    source_id: object = SOURCE_ID,
    request_id: object = REQUEST_ID,
    response_url: str = RESPONSE_URL,
    token: str = "TOKEN",
) -> Any:
    """The event `<function>/<case>`. `request_id` is the one of a failure record, `token` a bearer token."""
    text = (EVENTS / f"{case}.json").read_text(encoding="utf-8")
    text = text.replace(TENANT_ID, str(tenant_id)).replace(TURN_ID, str(turn_id)).replace(REQUEST_ID, str(request_id))
    text = text.replace(SOURCE_ID, str(source_id))
    return json.loads(text.replace(RESPONSE_URL, response_url).replace(TOKEN, f"Bearer {token}"))


def list_cases(function: str) -> list[str]:
    """The cases of a function, as `load_event` takes them."""
    return [f"{function}/{path.stem}" for path in sorted((EVENTS / function).glob("*.json"))]
