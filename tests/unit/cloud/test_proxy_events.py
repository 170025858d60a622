"""Proxy events and the answers to them."""

import json

import pytest

from local.cloud.proxy_events import BadAnswerError, HttpRequest, build_proxy_event, read_proxy_response
from local.cloud.resources import ApiSpec, RouteSpec

ROUTE = RouteSpec("ANY", "/{proxy+}", "function")


def test_bodies_of_binary_media_types_are_encoded() -> None:
    request = HttpRequest("POST", "/x", "", [("Content-Type", "image/png; q=1")], b"\xff\x00")

    plain = build_proxy_event(request, ROUTE, {}, ApiSpec())
    binary = build_proxy_event(request, ROUTE, {}, ApiSpec(binary_media_types=("image/png",)))

    assert (plain["body"], plain["isBase64Encoded"]) == ("�\x00", False)
    assert (binary["body"], binary["isBase64Encoded"]) == ("/wA=", True)


def test_answers_may_be_encoded_and_have_several_values_of_a_header() -> None:
    answer = {
        "statusCode": 200,
        "headers": {"Content-Type": "image/png", "Set-Cookie": "c"},
        "multiValueHeaders": {"set-cookie": ["a", "b"]},
        "body": "/wA=",
        "isBase64Encoded": True,
    }
    response = read_proxy_response(json.dumps(answer).encode())

    assert response.body == b"\xff\x00"
    assert response.headers == [("set-cookie", "a"), ("set-cookie", "b"), ("Content-Type", "image/png")]


@pytest.mark.parametrize(
    "payload", [b"null", b'"text"', b"{}", b'{"statusCode": "x"}', b'{"statusCode":200,"body":{}}']
)
def test_other_answers_are_malformed(payload: bytes) -> None:
    with pytest.raises(BadAnswerError):
        read_proxy_response(payload)
