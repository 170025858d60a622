"""A scripted model server and models that reach it, in the test's own event loop."""

from collections.abc import AsyncIterator, Callable

import pytest

from oria_runtime.models.client import Models, build_models
from oria_runtime.settings import ModelSettings
from oria_runtime.tenancy.tenants import ModelProfile, TenantConfig
from tests.support.scripted_model import Script, serve_scripted_model

BuildModels = Callable[..., Models]


@pytest.fixture
async def script() -> AsyncIterator[Script]:
    async with serve_scripted_model() as served:
        yield served


@pytest.fixture
def build(script: Script) -> BuildModels:
    """Models whose mini (and large) profile has these fields."""

    def build_with(*, environ: dict[str, str] | None = None, **profile: object) -> Models:
        settings = ModelProfile.model_validate(profile)
        config = TenantConfig(models={"mini": settings, "large": settings})
        return build_models(ModelSettings(), config, environ=environ or script.environ)

    return build_with


@pytest.fixture
def models(build: BuildModels) -> Models:
    """The default profiles: gpt-6-luna and gpt-6-sol, native decisions."""
    return build()
