"""What the queue says: refresh this source, or go on with this index version. Ids only."""

import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from oria_runtime.errors import InvalidRequestError


@dataclass(frozen=True)
class RefreshMessage:
    """Exactly one of `source_id` and `index_id` is set."""

    tenant_id: UUID
    source_id: UUID | None = None
    index_id: UUID | None = None

    @classmethod
    def from_body(cls, body: str) -> "RefreshMessage":
        """Parse a message's body. Raises InvalidRequestError for anything else."""
        try:
            parsed = json.loads(body)
            message = cls(**{name: UUID(value) for name, value in parsed.items()})
        except (ValueError, TypeError, AttributeError) as error:
            raise InvalidRequestError("not a message of the refresh queue") from error
        if (message.source_id is None) == (message.index_id is None):
            raise InvalidRequestError("a message of the refresh queue names a source or an index")
        return message

    def as_body(self) -> str:
        """The JSON that `from_body` reads."""
        ids: dict[str, Any] = {"tenant_id": self.tenant_id, "source_id": self.source_id, "index_id": self.index_id}
        return json.dumps({name: str(value) for name, value in ids.items() if value is not None})
