"""Which route of the REST API a request takes, by API Gateway's rules."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from local.cloud.resources import RouteSpec

STATIC, PARAMETER, GREEDY = range(3)


@dataclass(frozen=True)
class Match:
    """A route and the values of its path parameters."""

    route: RouteSpec
    parameters: Mapping[str, str]


class Router:
    """Chooses the most specific resource first and its method second: a resource without the method is not found, even
    where a greedy one would have it."""

    def __init__(self, routes: Sequence[RouteSpec]) -> None:
        self._resources: dict[str, dict[str, RouteSpec]] = {}
        for route in routes:
            self._resources.setdefault(route.resource, {})[route.method] = route

    def find(self, method: str, path: str) -> Match | None:
        """The route of a request; `path` is percent-encoded."""
        segments = _split(path)
        found = [
            (ranks, resource, parameters)
            for resource in self._resources
            for ranks, parameters in [_match(_split(resource), segments)]
            if ranks is not None
        ]
        if not found:
            return None
        _, resource, parameters = min(found, key=lambda item: item[0])
        methods = self._resources[resource]
        route = methods.get(method) or methods.get("ANY")
        return None if route is None else Match(route, parameters)


def _split(path: str) -> list[str]:
    return [segment for segment in path.split("/") if segment]


def _match(pattern: Sequence[str], segments: Sequence[str]) -> tuple[tuple[int, ...] | None, dict[str, str]]:
    ranks: list[int] = []
    parameters: dict[str, str] = {}
    for position, part in enumerate(pattern):
        if position >= len(segments):
            return None, {}
        if part.endswith("+}"):
            parameters[part[1:-2]] = unquote("/".join(segments[position:]))
            return (*ranks, GREEDY), parameters
        if part.startswith("{"):
            parameters[part[1:-1]] = unquote(segments[position])
            ranks.append(PARAMETER)
        elif part == segments[position]:
            ranks.append(STATIC)
        else:
            return None, {}
    return (tuple(ranks), parameters) if len(pattern) == len(segments) else (None, {})
