"""The types of single values in the catalog, as strict as a customer's file needs: pydantic's own are too helpful."""

from datetime import date
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StringConstraints


def reject_bool(value: Any) -> Any:
    """JSON's true is no number, though Python's is."""
    if isinstance(value, bool):
        raise ValueError("should be a number")
    return value


def parse_day(value: Any) -> Any:
    """ISO dates only: pydantic reads a bare number as seconds since 1970."""
    if value is None or isinstance(value, date):
        return value
    try:
        return date.fromisoformat(value)
    except (TypeError, ValueError):
        raise ValueError("should be a date like 2024-03-31") from None


def wrap_code(value: Any) -> Any:
    """A bare code stands for an object that has only a code, as in a CSV cell."""
    return {"code": value} if isinstance(value, str) else value


Code = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300)]
Label = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]
Name = Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)]
Paragraph = Annotated[str, StringConstraints(strip_whitespace=True, max_length=20_000)]
Language = Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$")]
Email = Annotated[str, StringConstraints(strip_whitespace=True, max_length=320, pattern=r"^\S+@\S+$")]
Url = Annotated[str, StringConstraints(strip_whitespace=True, max_length=2_000, pattern=r"^https?://\S+$")]
Day = Annotated[date, BeforeValidator(parse_day)]
SkillScore = Annotated[int, BeforeValidator(reject_bool), Field(ge=0, le=5)]
WorkMode = Literal["on_site", "hybrid", "remote"]
