"""The HTTP API behind API Gateway's proxy events."""

from functools import cache
from typing import TYPE_CHECKING, Any

from oria_runtime.http.gateway import create_adapter
from oria_runtime.observability import instrument
from oria_runtime.sandbox import get_sandbox

if TYPE_CHECKING:
    from mangum import Mangum


@instrument
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one proxy event of a REST API."""
    return get_adapter()(event, context)


@cache
def get_adapter() -> "Mangum":
    """The application, once per sandbox."""
    return create_adapter(get_sandbox())
