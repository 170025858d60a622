"""What is remembered about the caller across conversations."""

from fastapi import APIRouter

from oria_runtime.http.documentation import problems
from oria_runtime.http.requests import NewPreferences
from oria_runtime.http.responses import PreferencesView
from oria_runtime.http.routing import CallerRoute
from oria_runtime.http.services import CurrentCaller
from oria_runtime.turns import preferences

router = APIRouter(prefix="/preferences", tags=["preferences"], route_class=CallerRoute)


@router.get("", operation_id="readPreferences", summary="What is remembered", responses=problems())
async def read_preferences(caller: CurrentCaller) -> PreferencesView:
    """`version` grows with every change, also those that conversations make."""
    return PreferencesView.model_validate(await preferences.read_preferences(caller.database, caller.user_id))


@router.put("", operation_id="writePreferences", summary="Replace the list", responses=problems(403, 409, body=True))
async def write_preferences(caller: CurrentCaller, body: NewPreferences) -> PreferencesView:
    """With `version`, only over that version: else 409, and nothing is written."""
    await caller.read_tenant()
    written = await preferences.write_preferences(caller.database, caller.user_id, body.items, body.version)
    return PreferencesView.model_validate(written)


@router.delete(
    "", operation_id="deletePreferences", summary="Forget everything", status_code=204, responses=problems(403)
)
async def delete_preferences(caller: CurrentCaller) -> None:
    """A turn that began before this cannot bring the list back."""
    await caller.read_tenant()
    await preferences.delete_preferences(caller.database, caller.user_id)
