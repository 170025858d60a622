"""Training Matching behind API Gateway's proxy events: the one call of the API that waits for a model."""

from functools import cache
from typing import TYPE_CHECKING, Any

import oria_runtime.cold_start  # noqa: F401 - first, because of the imports that follow
from oria_runtime import tracing
from oria_runtime.catalog.training_rationale import TrainingQuestion, TrainingRationale
from oria_runtime.http.gateway import create_adapter
from oria_runtime.http.routes.rationale import Explain, create_router
from oria_runtime.observability import instrument
from oria_runtime.sandbox import Sandbox, get_sandbox
from oria_runtime.tenancy.tenants import Tenant

if TYPE_CHECKING:
    from mangum import Mangum

FLUSH_SECONDS = 1.0


@instrument
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one proxy event of a REST API."""
    return get_adapter()(event, context)


@cache
def get_adapter() -> "Mangum":
    """The application, once per sandbox."""
    sandbox = get_sandbox()
    return create_adapter(sandbox, routers=[create_router(build_explain(sandbox))])


def build_explain(sandbox: Sandbox) -> Explain:
    """The assistant's explanation with the tenant's models, whose library the first call imports."""

    async def explain(question: TrainingQuestion, tenant: Tenant) -> TrainingRationale:
        from graph.oria.training_matching.explanation import explain_training
        from oria_runtime.models.client import build_models

        models = build_models(sandbox.settings.models, tenant.config, environ=sandbox.environ)
        try:
            return await explain_training(question, database=sandbox.database(tenant.id), models=models)
        finally:
            await tracing.flush(sandbox.environ, FLUSH_SECONDS)

    return explain
