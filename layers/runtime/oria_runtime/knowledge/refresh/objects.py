"""Documents that are objects: uploads, and customers' prefixes in S3. Signature until the files are there."""

from collections.abc import Container

from oria_runtime.knowledge.documents import Document
from oria_runtime.knowledge.fetching.policy import Fetched
from oria_runtime.knowledge.refresh.lease import Claim
from oria_runtime.knowledge.refresh.places import Listing, Renew
from oria_runtime.knowledge.refresh.visits import Visit


class ObjectPlace:
    """Objects below a prefix."""

    has_entry = False

    def __init__(self, claim: Claim, bucket: str) -> None:
        self._claim = claim
        self._bucket = bucket

    async def list(self, renew: Renew) -> Listing:
        raise NotImplementedError

    async def fetch(self, visit: Visit, document: Document | None, done: Container[str]) -> Fetched:
        raise NotImplementedError
