"""Which route a request takes."""

import pytest

from local.cloud.resources import RouteSpec
from local.cloud.routing import Router

ROUTES = [
    RouteSpec("ANY", "/v1/{proxy+}", "greedy"),
    RouteSpec("ANY", "/v1/turns/{id}", "turn"),
    RouteSpec("GET", "/v1/turns/{id}/events", "events"),
    RouteSpec("POST", "/v1/turns/all", "all"),
]


@pytest.mark.parametrize(
    ("method", "path", "function", "parameters"),
    [
        ("GET", "/v1/health", "greedy", {"proxy": "health"}),
        ("GET", "/v1/a/b%2Fc", "greedy", {"proxy": "a/b/c"}),
        ("DELETE", "/v1/turns/7", "turn", {"id": "7"}),
        ("GET", "/v1/turns/7/", "turn", {"id": "7"}),
        ("GET", "/v1/turns/7/events", "events", {"id": "7"}),
        ("POST", "/v1/turns/all", "all", {}),
        ("GET", "/v1/turns/7/others", "greedy", {"proxy": "turns/7/others"}),
    ],
)
def test_the_most_specific_resource_wins(method: str, path: str, function: str, parameters: dict[str, str]) -> None:
    match = Router(ROUTES).find(method, path)

    assert match is not None
    assert match.route.function == function
    assert match.parameters == parameters


@pytest.mark.parametrize(("method", "path"), [("POST", "/v1/turns/7/events"), ("GET", "/v1"), ("GET", "/other")])
def test_a_resource_without_the_method_hides_a_greedy_one(method: str, path: str) -> None:
    assert Router(ROUTES).find(method, path) is None
