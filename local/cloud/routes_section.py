"""The REST API of the template: routes from its OpenAPI body and from the functions' own events."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from local.cloud.intrinsics import TemplateError
from local.cloud.resources import ApiSpec, GatewayResponse, RouteSpec

ANY_METHOD = "x-amazon-apigateway-any-method"
INTEGRATION = "x-amazon-apigateway-integration"
GATEWAY_RESPONSES = "x-amazon-apigateway-gateway-responses"
BINARY_TYPES = "x-amazon-apigateway-binary-media-types"
FUNCTION_IN_URI = re.compile(r"/functions/(arn:aws:lambda:[^/]+)/(?:invocations|response-streaming-invocations)")


def read_api(properties: Mapping[str, Any], by_arn: Mapping[str, str], shortcuts: Sequence[RouteSpec]) -> ApiSpec:
    """The API. `by_arn` names the functions by ARN; `shortcuts` are the routes of the functions' Api events."""
    body = properties.get("DefinitionBody", {})
    return ApiSpec(
        stage=properties["StageName"],
        binary_media_types=tuple(properties.get("BinaryMediaTypes", body.get(BINARY_TYPES, ()))),
        routes=(*_read_paths(body.get("paths", {}), by_arn), *shortcuts),
        responses={name: _read_response(value) for name, value in body.get(GATEWAY_RESPONSES, {}).items()},
    )


def _read_paths(paths: Mapping[str, Any], by_arn: Mapping[str, str]) -> Iterator[RouteSpec]:
    for resource, operations in paths.items():
        for method, operation in operations.items():
            integration = operation[INTEGRATION]
            match = FUNCTION_IN_URI.search(integration["uri"])
            if match is None or match[1] not in by_arn:
                raise TemplateError(f"{method} {resource}: no function in {integration['uri']}")
            name = "ANY" if method == ANY_METHOD else method.upper()
            streaming = integration.get("responseTransferMode") == "STREAM"
            seconds = float(integration.get("timeoutInMillis", 29_000)) / 1000
            yield RouteSpec(name, resource, by_arn[match[1]], streaming, seconds)


def _read_response(value: Mapping[str, Any]) -> GatewayResponse:
    headers = {
        name.removeprefix("gatewayresponse.header."): text.strip("'")
        for name, text in value.get("responseParameters", {}).items()
        if name.startswith("gatewayresponse.header.")
    }
    body = value.get("responseTemplates", {}).get("application/json")
    return GatewayResponse(int(value["statusCode"]), body, headers)
