"""Messages of the refresh queue, as Lambda's event source hands them over."""

import random
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from oria_runtime.errors import InvalidRequestError
from oria_runtime.knowledge.refresh.messages import RefreshMessage
from oria_runtime.knowledge.refresh.run import refresh_source
from oria_runtime.observability import describe, logger
from oria_runtime.turns.invocation import Invocation

if TYPE_CHECKING:
    from oria_runtime.sandbox import Sandbox


async def consume(
    sandbox: "Sandbox", records: Sequence[Mapping[str, Any]], invocation: Invocation
) -> dict[str, list[dict[str, str]]]:
    """Handle the records one after the other; answers which are to come again (`ReportBatchItemFailures`).

    A body that is no message will never be one: it is dropped. What raises comes again, and after three times it goes
    to the dead-letter queue; the schedule finds its source without it.
    """
    failures = [record["messageId"] for record in records if not await handle(sandbox, record, invocation)]
    return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in failures]}


async def handle(sandbox: "Sandbox", record: Mapping[str, Any], invocation: Invocation) -> bool:
    """Whether the message is done with."""
    try:
        message = RefreshMessage.from_body(record["body"])
    except InvalidRequestError as error:
        logger.error("not a refresh message", extra={"message_id": record["messageId"], **describe(error)})
        return True
    keys = {"tenant_id": str(message.tenant_id), "source_id": str(message.source_id), "index_id": str(message.index_id)}
    try:
        result = await refresh_source(sandbox, message, invocation, rng=random.SystemRandom())
    except Exception as error:  # noqa: BLE001 - one message's trouble must not be another's; its type is logged
        logger.error("refresh raised", extra={**keys, **describe(error)})
        return False
    logger.info("refresh ended", extra={**keys, "result": result})
    return True
