"""The REST API: what goes where, what streams, and how long API Gateway waits."""

from collections.abc import Iterator
from typing import Any

from oria_runtime.documents.formats import BY_DECLARATION, UNDECLARED
from tests.support.template import Stack

ANY = "x-amazon-apigateway-any-method"
STREAM_ROUTES = {("/v1/turns/{id}/events", "get"), ("/mcp", ANY)}
RATIONALE_ROUTE = ("/v1/trainings/{proxy+}", ANY)
STREAMING_URI = "lambda:path/2021-11-15/functions/${StreamFunction.Arn}/response-streaming-invocations"


def integrations(stack: Stack) -> Iterator[tuple[tuple[str, str], Any]]:
    """Path and method of every route with its integration."""
    for path, methods in stack.resources["Api"]["Properties"]["Body"]["paths"].items():
        for method, operation in methods.items():
            yield (path, method), operation["x-amazon-apigateway-integration"]


def find_function(route: tuple[str, str]) -> str:
    """Whose a route is."""
    if route in STREAM_ROUTES:
        return "StreamFunction"
    return "RationaleFunction" if route == RATIONALE_ROUTE else "ApiFunction"


def test_endpoint_is_regional(stack: Stack) -> None:
    assert stack.resources["Api"]["Properties"]["EndpointConfiguration"]["Types"] == ["REGIONAL"]


def test_the_event_stream_and_mcp_and_nothing_else_stream(stack: Stack) -> None:
    """A misspelt mode or the buffered URI passes the linter, and the stream would arrive at its end."""
    for route, integration in integrations(stack):
        uri, streams = integration["uri"]["Fn::Sub"], route in STREAM_ROUTES
        buffered = f"lambda:path/2015-03-31/functions/${{{find_function(route)}.Arn}}/invocations"
        assert uri.endswith(STREAMING_URI if streams else buffered), route
        assert integration.get("responseTransferMode") == ("STREAM" if streams else None), route


def test_gateway_waits_as_long_as_the_functions_run(stack: Stack) -> None:
    for route, integration in integrations(stack):
        assert integration["timeoutInMillis"] == stack.functions[find_function(route)]["Timeout"] * 1000, route


def test_integrations_are_proxies_called_by_post(stack: Stack) -> None:
    for route, integration in integrations(stack):
        assert (integration["type"], integration["httpMethod"]) == ("aws_proxy", "POST"), route


def test_paths_beside_the_stream_still_reach_the_api(stack: Stack) -> None:
    routes = dict(integrations(stack))
    for path in ("/v1/{proxy+}", "/v1/turns", "/v1/turns/{id}", "/v1/turns/{id}/{proxy+}", "/v1/turns/{id}/events"):
        assert (path, ANY) in routes
    assert {("/v1/trainings", ANY), RATIONALE_ROUTE} <= set(routes)


def test_documents_arrive_as_they_were_sent(stack: Stack) -> None:
    """API Gateway takes every other body for UTF-8 text."""
    binary = stack.resources["Api"]["Properties"]["Body"]["x-amazon-apigateway-binary-media-types"]
    assert set(binary) == {*BY_DECLARATION, *UNDECLARED} - {""}


def test_uploads_are_private_encrypted_and_short_lived(stack: Stack) -> None:
    bucket = stack.resources["UploadsBucket"]["Properties"]
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    assert bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    (rule,) = bucket["LifecycleConfiguration"]["Rules"]
    assert (rule["Status"], rule["ExpirationInDays"]) == ("Enabled", 1)
    (statement,) = stack.resources["UploadsBucketPolicy"]["Properties"]["PolicyDocument"]["Statement"]
    assert (statement["Effect"], statement["Condition"]) == ("Deny", {"Bool": {"aws:SecureTransport": "false"}})


def test_gateway_may_invoke_its_functions_from_this_api_only(stack: Stack) -> None:
    granted = {
        permission["FunctionName"]["Ref"]: permission["SourceArn"]["Fn::Sub"]
        for permission in stack.of_type("AWS::Lambda::Permission").values()
        if permission["Principal"] == "apigateway.amazonaws.com"
    }
    assert set(granted) == {"ApiFunction", "StreamFunction", "RationaleFunction"}
    assert all("${Api}/" in source for source in granted.values())


def test_answers_of_the_gateway_itself_are_problems(stack: Stack) -> None:
    responses = stack.resources["Api"]["Properties"]["Body"]["x-amazon-apigateway-gateway-responses"]
    for name, response in responses.items():
        kind = response["responseParameters"]["gatewayresponse.header.Content-Type"]
        assert kind == "'application/problem+json'", name
        assert f'"status": {response["statusCode"]}' in response["responseTemplates"]["application/json"], name


def test_stream_runs_behind_the_web_adapter(stack: Stack) -> None:
    function = stack.functions["StreamFunction"]
    variables = function["Environment"]["Variables"]
    assert variables["AWS_LAMBDA_EXEC_WRAPPER"] == "/opt/bootstrap"
    assert variables["AWS_LWA_INVOKE_MODE"] == "response_stream"
    assert any("${WebAdapterLayer}" in layer.get("Fn::Sub", "") for layer in function["Layers"])
