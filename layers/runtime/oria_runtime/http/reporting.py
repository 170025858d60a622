"""Telling operators what clients are not told."""

import traceback

from starlette.types import Scope

from oria_runtime.observability import describe, logger

STACK_FRAMES = 6


def report_failure(error: Exception, scope: Scope, status: int) -> None:
    """Log an answer of 500 or more, by class and place only: the texts of database errors quote rows, and rows hold
    what people wrote."""
    log = logger.error if status == 500 else logger.warning
    log(
        "request failed",
        extra={
            "request_id": scope["state"]["request_id"],
            "status": status,
            "method": scope["method"],
            "route": getattr(scope.get("route"), "path", None),
            "sqlstate": getattr(error, "sqlstate", None),
            "stack": traceback.format_tb(error.__traceback__, limit=-STACK_FRAMES),
            **describe(error),
        },
    )
