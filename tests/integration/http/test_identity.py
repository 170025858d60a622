"""Tokens against a real issuer over HTTP (DESIGN §6)."""

import asyncio
import base64
import json
import time
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from oria_runtime.errors import UnauthenticatedError, UnavailableError
from oria_runtime.settings import TokenSettings
from oria_runtime.tenancy.identity import KeyPolicy, KeySet, TokenVerifier
from tests.integration.http.issuer import AUDIENCE, Issuer, rsa_key, run_issuer

TENANT = uuid4()
QUICK = KeyPolicy(timeout=0.4, retry=0.0)


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with run_issuer() as issuer:
        yield issuer


def verifier_of(issuer: Issuer, policy: KeyPolicy = QUICK, clock: Any = time.monotonic) -> TokenVerifier:
    settings = TokenSettings(issuer=issuer.url, audience=AUDIENCE, jwks_url=issuer.jwks_url)
    return TokenVerifier(settings, KeySet(issuer.jwks_url, policy, clock))


def unsigned(header: dict[str, Any], claims: dict[str, Any]) -> str:
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in (header, claims)]
    return ".".join([*parts, ""])


@pytest.mark.parametrize(("kid", "algorithm"), [("rsa", "RS256"), ("ec", "ES256")])
async def test_good_token_gives_the_caller(issuer: Issuer, kid: str, algorithm: str) -> None:
    claims = issuer.claims(TENANT, scope="knowledge:admin chat")
    identity = await verifier_of(issuer).verify(issuer.sign(claims, kid=kid, algorithm=algorithm))
    assert (identity.tenant_id, identity.user_id) == (TENANT, "ada")
    assert identity.scopes == {"knowledge:admin", "chat"}
    assert identity.expires_at.timestamp() == claims["exp"]
    assert identity.token not in repr(identity)


async def test_keys_are_fetched_once_for_many_tokens(issuer: Issuer) -> None:
    verifier = verifier_of(issuer)
    await asyncio.gather(*(verifier.verify(issuer.token(TENANT)) for _ in range(20)))
    assert issuer.requests == 1


FORGERIES: dict[str, dict[str, Any]] = {
    "wrong issuer": {"iss": "https://evil.example"},
    "wrong audience": {"aud": "another-api"},
    "expired": {"exp": int(time.time()) - 60},
    "not valid yet": {"nbf": int(time.time()) + 600},
    "no expiry": {"exp": None},
    "endless expiry": {"exp": "never"},
    "no audience": {"aud": None},
    "no issuer": {"iss": None},
    "no tenant": {"tenant": None},
    "tenant that is no UUID": {"tenant": "northwind"},
    "tenant that is a list": {"tenant": [str(TENANT)]},
    "no user": {"sub": None},
    "empty user": {"sub": ""},
    "user with a NUL": {"sub": "a\x00b"},
    "endless user": {"sub": "a" * 300},
    "user that is a lone surrogate": {"sub": "\ud800"},
}


@pytest.mark.parametrize("changes", FORGERIES.values(), ids=FORGERIES.keys())
async def test_token_with_wrong_claims_is_refused(issuer: Issuer, changes: dict[str, Any]) -> None:
    with pytest.raises(UnauthenticatedError):
        await verifier_of(issuer).verify(
            issuer.sign({k: v for k, v in (issuer.claims(TENANT) | changes).items() if v is not None})
        )


def forge_none(issuer: Issuer) -> str:
    return unsigned({"alg": "none", "typ": "JWT", "kid": "rsa"}, issuer.claims(TENANT))


def forge_symmetric(issuer: Issuer) -> str:
    """HS256 with the public key as its password."""
    public = rsa_key("rsa").public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    claims = issuer.claims(TENANT)
    head, payload, _ = unsigned({"alg": "HS256", "typ": "JWT", "kid": "rsa"}, claims).split(".")
    signature = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256).sign(
        f"{head}.{payload}".encode(), public
    )
    return f"{head}.{payload}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"


def forge_foreign_key(issuer: Issuer) -> str:
    return jwt.encode(issuer.claims(TENANT), rsa_key("other"), algorithm="RS256", headers={"kid": "rsa"})


def forge_unknown_key(issuer: Issuer) -> str:
    return jwt.encode(issuer.claims(TENANT), rsa_key("other"), algorithm="RS256", headers={"kid": "nobody"})


def forge_no_key_id(issuer: Issuer) -> str:
    return jwt.encode(issuer.claims(TENANT), rsa_key("rsa"), algorithm="RS256")


def forge_payload(issuer: Issuer) -> str:
    head, _, signature = issuer.token(TENANT).split(".")
    payload = base64.urlsafe_b64encode(json.dumps(issuer.claims(uuid4())).encode()).rstrip(b"=").decode()
    return f"{head}.{payload}.{signature}"


@pytest.mark.parametrize(
    "forge", [forge_none, forge_symmetric, forge_foreign_key, forge_unknown_key, forge_no_key_id, forge_payload]
)
async def test_forged_token_is_refused(issuer: Issuer, forge: Any) -> None:
    with pytest.raises(UnauthenticatedError):
        await verifier_of(issuer).verify(forge(issuer))


@pytest.mark.parametrize(
    "token", ["", ".", "..", "a.b.c", "é", "\ud800", "x" * 20_000, "eyJhbGciOiJSUzI1NiJ9.e30.", "W" * 4000 + ".e30.x"]
)
async def test_garbage_is_refused(issuer: Issuer, token: str) -> None:
    with pytest.raises(UnauthenticatedError):
        await verifier_of(issuer).verify(token)


async def test_header_nested_without_end_is_refused(issuer: Issuer) -> None:
    header = base64.urlsafe_b64encode(b'{"alg":' + b"[" * 9000).decode()
    with pytest.raises(UnauthenticatedError):
        await verifier_of(issuer).verify(f"{header}.e30.x")


async def test_algorithm_is_refused_before_any_key_is_asked_for(issuer: Issuer) -> None:
    with pytest.raises(UnauthenticatedError):
        await verifier_of(issuer).verify(forge_none(issuer))
    assert issuer.requests == 0


async def test_new_key_is_found_after_a_rotation(issuer: Issuer) -> None:
    now = [0.0]
    verifier = verifier_of(issuer, clock=lambda: now[0])
    await verifier.verify(issuer.token(TENANT))
    issuer.keys["next"] = rsa_key("next")
    now[0] = 31.0
    await verifier.verify(issuer.sign(issuer.claims(TENANT), kid="next"))
    assert issuer.requests == 2


async def test_unknown_key_ids_cannot_make_us_hammer_the_issuer(issuer: Issuer) -> None:
    verifier = verifier_of(issuer)
    await verifier.verify(issuer.token(TENANT))
    for number in range(50):
        token = jwt.encode(issuer.claims(TENANT), rsa_key("other"), algorithm="RS256", headers={"kid": str(number)})
        with pytest.raises(UnauthenticatedError):
            await verifier.verify(token)
    assert issuer.requests == 1


OUTAGES: dict[str, tuple[int, bytes, float]] = {
    "error": (500, b"", 0.0),
    "not JSON": (200, b"<html>", 0.0),
    "no keys": (200, b'{"keys": []}', 0.0),
    "a list": (200, b"[]", 0.0),
    "a redirect": (302, b"", 0.0),
    "silence": (200, b"{}", 1.0),
}


@pytest.mark.parametrize("answer", OUTAGES.values(), ids=OUTAGES.keys())
async def test_issuer_that_is_down_is_not_the_callers_fault(issuer: Issuer, answer: tuple[int, bytes, float]) -> None:
    issuer.answer = answer
    started = time.monotonic()
    with pytest.raises(UnavailableError):
        await verifier_of(issuer).verify(issuer.token(TENANT))
    assert time.monotonic() - started < 0.9


async def test_known_keys_outlive_an_outage_of_the_issuer(issuer: Issuer) -> None:
    now = [0.0]
    verifier = verifier_of(issuer, clock=lambda: now[0])
    await verifier.verify(issuer.token(TENANT))
    issuer.answer = (500, b"", 0.0)
    now[0] = 3_000.0
    assert (await verifier.verify(issuer.token(TENANT))).user_id == "ada"
    now[0] = 90_000.0
    with pytest.raises(UnavailableError):
        await verifier.verify(issuer.token(TENANT))


async def test_failed_fetch_is_not_repeated_for_every_request(issuer: Issuer) -> None:
    issuer.answer = (500, b"", 0.0)
    verifier = verifier_of(issuer, KeyPolicy(retry=5.0))
    for _ in range(5):
        with pytest.raises(UnavailableError):
            await verifier.verify(issuer.token(TENANT))
    assert issuer.requests == 1
