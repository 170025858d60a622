"""The process that loads the sample tenant: it needs the model SDKs, which the cloud itself does not."""

import asyncio
import os

from local.sample_tenant.load import load_sample_tenant
from oria_runtime.models.client import build_models
from oria_runtime.settings import ModelSettings, require
from oria_runtime.tenancy.tenants import TenantConfig


async def load() -> None:
    """Load it as the application role."""
    models = build_models(ModelSettings.from_environ(os.environ), TenantConfig())
    await load_sample_tenant(require(os.environ, "DATABASE_URL"), models)


if __name__ == "__main__":
    asyncio.run(load())
