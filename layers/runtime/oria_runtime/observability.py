"""Logs, traces and metrics of the functions, by Powertools. No message text, no token, no profile goes in.

`instrument` wraps a handler: structured JSON logs correlated by turn and request, and a trace segment; `count` writes a
metric at once, as an EMF line (DESIGN §3). Exceptions are logged by type and place: their texts may quote a
conversation.
"""

import os
import traceback
from collections.abc import Callable, Mapping
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import MetricUnit

if TYPE_CHECKING:
    from aws_lambda_powertools import Tracer

NAMESPACE = "Oria"

logger = Logger(service="oria")

Handler = TypeVar("Handler", bound=Callable[..., Any])


def instrument(handler: Handler) -> Handler:
    """Decorate a handler: `(event, context)` as Lambda calls it."""

    @wraps(handler)
    def instrumented(event: Any, context: Any) -> Any:
        keys = {"request_id": context.aws_request_id, "function": context.function_name, **correlation(event)}
        with logger.append_context_keys(**keys):
            if "Sampled=1" not in os.environ.get("_X_AMZN_TRACE_ID", ""):
                return handler(event, context)
            return trace(handler, keys)(event, context)

    return instrumented  # type: ignore[return-value]


def trace(handler: Handler, keys: Mapping[str, Any]) -> Handler:
    """The handler inside a segment that can be found by its turn."""

    @wraps(handler)
    def annotated(event: Any, context: Any) -> Any:
        for key in sorted(keys.keys() & {"turn_id", "tenant_id", "stage"}):
            get_tracer().put_annotation(key, str(keys[key]))
        return handler(event, context)

    return get_tracer().capture_lambda_handler(annotated, capture_response=False, capture_error=False)  # type: ignore[return-value]


@cache
def get_tracer() -> "Tracer":
    """X-Ray's SDK costs 110 ms to import and is needed for sampled requests only. Its auto_patch would import every
    library that X-Ray knows, SQLAlchemy among them: another 230 ms (measured)."""
    from aws_lambda_powertools import Tracer

    return Tracer(service="oria", auto_patch=False)


def correlation(event: Any) -> dict[str, Any]:
    """The ids of a bus event or a failure record, for every log line of its invocation."""
    if not isinstance(event, Mapping):
        return {}
    payload = event.get("requestPayload", event)
    detail = payload.get("detail") if isinstance(payload, Mapping) else None
    if not isinstance(detail, Mapping):
        return {}
    return {key: detail[key] for key in ("tenant_id", "turn_id", "seq", "stage") if key in detail}


def name_trace(turn_id: UUID) -> str:
    """The trace of a turn: Langfuse's id of it. LangSmith's runs have the turn's id in their metadata `turn_id`."""
    return turn_id.hex


def count(name: str, value: float = 1, *, unit: MetricUnit = MetricUnit.Count, **dimensions: str) -> None:
    """Record a metric with its own dimensions, as one EMF line."""
    from aws_lambda_powertools import single_metric

    # The template's namespace carries the stack's name: two stacks of one account do not add up.
    namespace = os.environ.get("POWERTOOLS_METRICS_NAMESPACE", NAMESPACE)
    with single_metric(name=name, unit=unit, value=value, namespace=namespace) as metric:
        metric.add_dimension("service", "oria")
        for key, text in dimensions.items():
            metric.add_dimension(key, text)


def describe(error: BaseException) -> dict[str, Any]:
    """An exception without its text: its types along the causes, and where it was raised."""
    types, at = [], None
    while True:
        types.append(type(error).__name__)
        frames = traceback.extract_tb(error.__traceback__)
        at = f"{frames[-1].filename.rsplit('/', 1)[-1]}:{frames[-1].lineno} {frames[-1].name}" if frames else at
        following = error.__cause__ or error.__context__
        if following is None:
            return {"error": types, "at": at}
        error = following
