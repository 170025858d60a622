"""TLS: the name is verified although the connection goes to an address."""

import asyncio
import ipaddress
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from oria_runtime.knowledge.locations import Scope
from tests.integration.knowledge.fetching.conftest import Names, OpenReader
from tests.support.hostile_server import HostileServer, run_hostile_server

NAME = "handbook.example.test"
OTHER = "other.example.test"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Key and certificate for NAME and 127.0.0.1, signed by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, NAME)])
    now = datetime.now(UTC)
    built = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.DNSName(NAME), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "server.pem"
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    path.write_bytes(private + built.public_bytes(Encoding.PEM))
    return path


@pytest.fixture
def secure(certificate: Path, names: Names) -> Iterator[HostileServer]:
    """A server with the certificate, to which both names lead."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    names.answers |= {NAME: [["127.0.0.1"]], OTHER: [["127.0.0.1"]]}
    with run_hostile_server(tls=context) as server:
        yield server


@pytest.fixture
def trust(certificate: Path) -> ssl.SSLContext:
    """What trusts the certificate."""
    return ssl.create_default_context(cafile=str(certificate))


async def test_a_certificate_for_the_name_is_accepted(
    secure: HostileServer, open_reader: OpenReader, trust: ssl.SSLContext
) -> None:
    base = f"https://{NAME}:{secure.port}"
    reader = open_reader(base=base, tls=trust)
    assert (await reader.read("/good")).body
    assert (await reader.read("/gzip")).body
    assert secure.connections == 1
    assert (await open_reader(base=secure.url, tls=trust).read("/good")).body


async def test_a_certificate_for_another_name_is_refused(
    secure: HostileServer, open_reader: OpenReader, trust: ssl.SSLContext
) -> None:
    assert (await open_reader(base=f"https://{OTHER}:{secure.port}", tls=trust).fail("/good")).reason == "tls"
    assert secure.requests == []


async def test_a_certificate_that_nobody_vouches_for_is_refused(
    secure: HostileServer, open_reader: OpenReader, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert (await open_reader(base=f"https://{NAME}:{secure.port}").fail("/good")).reason == "tls"


async def test_a_server_that_speaks_no_tls_is_refused(open_reader: OpenReader) -> None:
    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        base = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        assert (await open_reader(base=base).fail("/good")).reason == "tls"


async def test_https_does_not_become_http_unless_the_scope_says_so(
    secure: HostileServer, server: HostileServer, open_reader: OpenReader, trust: ssl.SSLContext
) -> None:
    base, plain = f"https://{NAME}:{secure.port}", f"http://{NAME}:{server.port}"
    reader = open_reader(base=base, tls=trust)
    assert (await reader.fail(f"/redirect?to={plain}/good")).reason == "outside"
    both = Scope((base, plain))
    assert (await reader.read(f"/redirect?to={plain}/good", scope=both)).location == f"{plain}/good"
