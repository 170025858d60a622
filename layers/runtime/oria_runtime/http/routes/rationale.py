"""Why one training fits the caller; served by a function of its own, because the api has no model library."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import APIRouter, Path

from oria_runtime.catalog.training_rationale import TrainingQuestion, TrainingRationale
from oria_runtime.errors import NotFoundError
from oria_runtime.http import limits
from oria_runtime.http.bodies import UNSTORABLE
from oria_runtime.http.documentation import problems
from oria_runtime.http.requests import NewRationale
from oria_runtime.http.responses import RationaleView
from oria_runtime.http.routing import CallerRoute
from oria_runtime.http.services import CurrentCaller
from oria_runtime.tenancy.language import choose_locale
from oria_runtime.tenancy.tenants import Tenant

Explain = Callable[[TrainingQuestion, Tenant], Awaitable[TrainingRationale]]
TrainingId = Annotated[
    str, Path(max_length=limits.NAME_CHARACTERS, description="The `id` of a training, as its card has it.")
]


def create_router(explain: Explain) -> APIRouter:
    """The route, over the assistant's explanation."""
    router = APIRouter(prefix="/trainings", tags=["trainings"], route_class=CallerRoute)

    @router.post(
        "/{training_id}/rationale",
        operation_id="explainTraining",
        summary="Why a training fits the caller",
        responses=problems(403, 404, body=True),
    )
    async def explain_training(caller: CurrentCaller, training_id: TrainingId, body: NewRationale) -> RationaleView:
        """From the caller's profile and search, only what both and the catalogue support. When no model answers, the
        facts are listed as they are."""
        if UNSTORABLE.search(training_id):
            raise NotFoundError("There is no such training.")
        tenant = await caller.read_tenant()
        locale = choose_locale(tenant.config, body.search_query or "", body.locale)
        question = TrainingQuestion(training_id, caller.user_id, locale, body.search_query or "")
        return RationaleView.model_validate(await explain(question, tenant))

    return router


async def explain_elsewhere(*_: object) -> TrainingRationale:
    """For the document of a function that does not serve the route."""
    raise NotFoundError("Another function explains trainings.")
