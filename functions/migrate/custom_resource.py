"""CloudFormation's custom resource protocol: whatever happens, the response URL gets an answer, or the stack hangs.

https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/crpg-ref.html
"""

import json
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

Work = Callable[[dict[str, Any]], Mapping[str, str]]

# Constant: another id would make CloudFormation "replace" the migration, and delete the old one after an update.
PHYSICAL_ID = "oria-migration"
ATTEMPTS = 3


def answer(event: dict[str, Any], log_stream: str, work: Work) -> None:
    """Do the work of a custom resource event and report its result, or the kind of its failure, to CloudFormation.

    The reason names the error's class and the log stream, never its text: the text may hold the connection's address.
    Raises the error of the work again after the answer, so that it is logged and counted as the function's.
    """
    try:
        attributes = work(event)
    except BaseException as error:
        respond(event, "FAILED", reason=f"{type(error).__name__}: see log stream {log_stream}")
        raise
    respond(event, "SUCCESS", attributes=attributes)


def respond(
    event: Mapping[str, Any], status: str, *, reason: str = "", attributes: Mapping[str, str] | None = None
) -> None:
    """PUT the answer to the presigned address. Raises URLError after the last attempt."""
    body = {
        "Status": status,
        "Reason": reason,
        "PhysicalResourceId": event.get("PhysicalResourceId") or PHYSICAL_ID,
        "StackId": event["StackId"],
        "RequestId": event["RequestId"],
        "LogicalResourceId": event["LogicalResourceId"],
        "Data": dict(attributes or {}),
    }
    # The address is signed for an empty content type.
    request = Request(  # noqa: S310 - CloudFormation's own address, from an event that only it can send
        event["ResponseURL"], data=json.dumps(body).encode(), method="PUT", headers={"Content-Type": ""}
    )
    for attempt in range(ATTEMPTS):
        try:
            with urlopen(request, timeout=10):  # noqa: S310
                return
        except URLError:
            if attempt == ATTEMPTS - 1:
                raise
            time.sleep(2**attempt)
