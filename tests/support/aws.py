"""AWS by moto over HTTP, for the code that talks to it through the ordinary endpoint variables."""

from collections.abc import Iterator

import pytest
from moto.server import ThreadedMotoServer


@pytest.fixture(scope="session")
def aws_url() -> Iterator[str]:
    """The address of moto's server."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def aws(aws_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """boto3 finds moto in this test."""
    for name, value in {
        "AWS_ENDPOINT_URL": aws_url,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "eu-west-1",
    }.items():
        monkeypatch.setenv(name, value)
    return aws_url
