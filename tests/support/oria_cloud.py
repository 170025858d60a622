"""The local cloud with Oria and a scripted model server that lives in the test's process.

What is real: the template's functions in worker processes, Postgres, the bus, Oria's graph, HTTP to the provider.
What is replaced: the provider's answers.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from local.cloud.cloud import LocalCloud
from local.cloud.options import CloudOptions
from oria_runtime.db.pool import TenantDatabase, create_pool
from tests.support.database import DatabaseUrls, create_tenant
from tests.support.lab_cloud import LabCloud
from tests.support.people import add_person
from tests.support.scripted_model import Script

STAGE_FUNCTIONS = ("GateFunction", "SupervisorFunction", "SpecialistFunction")


@dataclass
class OriaCloud(LabCloud):
    """A running cloud with one tenant and one person who has a profile."""

    script: Script = field(default_factory=Script)

    async def converse(self) -> UUID:
        answer = await self.call("POST", "/v1/conversations", {"assistant": "oria"})
        assert answer.status_code == 201, answer.text
        return UUID(answer.json()["id"])


@asynccontextmanager
async def start_oria_cloud(
    data: Path, script: Script, *, timeouts: Mapping[str, float] | None = None, **options: Any
) -> AsyncIterator[OriaCloud]:
    """A cloud whose workers call the scripted model; its stages have the template's timeouts unless given."""
    settings = CloudOptions(
        data=data,
        sample_tenant=False,
        offline_model=False,
        environ=script.environ,
        timeouts=timeouts or {},
        throwaway=True,
        schedules=False,
        **options,
    )
    async with LocalCloud(settings) as cloud:
        found = cloud.database_urls
        assert found is not None
        urls = DatabaseUrls(owner=found.owner, app=found.app)
        async with create_pool(urls.app, max_size=1) as pool:
            tenant_id = await create_tenant(pool, f"oria-{uuid4().hex[:8]}")
            await add_person(TenantDatabase(pool, tenant_id), "ana", job_title="Data analyst")
        oria = OriaCloud(cloud, tenant_id, urls, script=script)
        try:
            yield oria
        finally:
            await oria.http.aclose()
