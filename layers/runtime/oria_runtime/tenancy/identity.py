"""Who is calling: bearer tokens of an OIDC issuer, verified against its published keys (DESIGN §6)."""

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, Request, build_opener
from uuid import UUID

import jwt

from oria_runtime.errors import UnauthenticatedError, UnavailableError
from oria_runtime.settings import TokenSettings

# Asymmetric only: with HS256 on the list the public key would be a password that everybody knows.
ALGORITHMS = ("RS256", "ES256")
LEEWAY_SECONDS = 10
TOKEN_LIMIT = 16_384
USER_LIMIT = 255
SCOPES_LIMIT = 64
# datetime cannot hold every number that a JWT can; a token this far ahead never expires for us.
FARTHEST_EXPIRY = datetime(2100, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Identity:
    """A verified caller. `token` is the raw bearer token, to be sealed when tools need it and never to be logged."""

    tenant_id: UUID
    user_id: str
    scopes: frozenset[str]
    token: str = field(repr=False)
    expires_at: datetime


@dataclass(frozen=True)
class KeyPolicy:
    """Seconds: how long fetched keys serve, how long they still serve while their endpoint is down, how soon an unknown
    key id may ask again, how soon a failed fetch may be repeated, and how long one fetch may take."""

    lifetime: float = 600.0
    stale: float = 86_400.0
    cooldown: float = 30.0
    retry: float = 1.0
    timeout: float = 3.0


class KeySet:
    """The issuer's public keys, fetched over HTTP when first needed and kept for the life of the sandbox.

    PyJWT's own client blocks the loop, and forgets good keys when the endpoint is down for longer than their lifetime.
    """

    def __init__(self, url: str, policy: KeyPolicy | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._url = url
        self._policy = policy or KeyPolicy()
        self._clock = clock
        self._keys: dict[str, jwt.PyJWK] = {}
        self._fetched_at = float("-inf")
        self._failed_at = float("-inf")
        self._lock = asyncio.Lock()

    async def find(self, key_id: str) -> jwt.PyJWK:
        """The key of that id. Raises UnauthenticatedError when there is none, UnavailableError when nobody can tell."""
        if not self._serves(key_id):
            async with self._lock:
                if not self._serves(key_id):
                    await self._refresh(key_id)
        try:
            return self._keys[key_id]
        except KeyError as error:
            raise UnauthenticatedError("The token is signed with an unknown key.") from error

    def _serves(self, key_id: str) -> bool:
        age = self._clock() - self._fetched_at
        return age < (self._policy.lifetime if key_id in self._keys else self._policy.cooldown)

    async def _refresh(self, key_id: str) -> None:
        cause: UnavailableError | None = None
        if self._clock() - self._failed_at >= self._policy.retry:
            try:
                self._keys = await _fetch_keys(self._url, self._policy.timeout)
                self._fetched_at = self._clock()
                return
            except UnavailableError as error:
                self._failed_at, cause = self._clock(), error
        if key_id not in self._keys or self._clock() - self._fetched_at >= self._policy.stale:
            raise UnavailableError(KEYS_UNAVAILABLE) from cause


class _RefuseRedirects(HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


KEYS_LIMIT = 1_000_000
KEYS_UNAVAILABLE = "The keys of the token issuer cannot be read."


async def _fetch_keys(url: str, timeout: float) -> dict[str, jwt.PyJWK]:  # noqa: ASYNC109 - a socket's timeout, too
    try:
        async with asyncio.timeout(timeout):
            body = await asyncio.to_thread(_download, url, timeout)
        keys = jwt.PyJWKSet.from_dict(json.loads(body)).keys
    except (OSError, HTTPException, ValueError, RecursionError, AttributeError, TypeError, jwt.PyJWTError) as error:
        raise UnavailableError(KEYS_UNAVAILABLE) from error
    return {key.key_id: key for key in keys if key.key_id and key.public_key_use in ("sig", None)}


def _download(url: str, timeout: float) -> bytes:
    request = Request(url, headers={"Accept": "application/json"})  # noqa: S310 - the URL is the deployment's setting
    try:
        with build_opener(_RefuseRedirects).open(request, timeout=timeout) as response:
            body: bytes = response.read(KEYS_LIMIT)
    except HTTPError as error:
        # It is the response, too, and holds the connection.
        error.close()
        raise
    return body


class TokenVerifier:
    """Verifies bearer tokens of one issuer."""

    def __init__(self, settings: TokenSettings, keys: KeySet | None = None) -> None:
        self._settings = settings
        self._keys = keys or KeySet(settings.jwks_url)

    async def verify(self, token: str) -> Identity:
        """The caller behind a token. Raises UnauthenticatedError, and UnavailableError when keys cannot be read."""
        claims = await self._read_claims(token)
        return Identity(
            tenant_id=_read_tenant(claims.get(self._settings.tenant_claim)),
            user_id=_read_user(claims.get(self._settings.user_claim)),
            scopes=_read_scopes(claims),
            token=token,
            expires_at=_read_expiry(claims["exp"]),
        )

    async def _read_claims(self, token: str) -> dict[str, Any]:
        if len(token) > TOKEN_LIMIT:
            raise UnauthenticatedError("The token is too long.")
        try:
            header = jwt.get_unverified_header(token)
            # Before any key is looked for: a forged header must not make us ask the issuer.
            if header.get("alg") not in ALGORITHMS:
                raise UnauthenticatedError("The token is signed with an algorithm that is not accepted.")
            key = await self._keys.find(str(header.get("kid", "")))
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=ALGORITHMS,
                audience=self._settings.audience,
                issuer=self._settings.issuer,
                leeway=LEEWAY_SECONDS,
                options={"require": ["exp", "iss", "aud"]},
            )
        except jwt.ExpiredSignatureError as error:
            raise UnauthenticatedError("The token has expired.") from error
        except (jwt.PyJWTError, ValueError, TypeError, RecursionError, OverflowError) as error:
            raise UnauthenticatedError("The token does not verify.") from error
        return claims


def _read_tenant(claim: object) -> UUID:
    try:
        return UUID(str(claim))
    except ValueError as error:
        raise UnauthenticatedError("The token names no tenant.") from error


def _read_user(claim: object) -> str:
    if not isinstance(claim, str) or not 0 < len(claim) <= USER_LIMIT or not claim.isprintable():
        raise UnauthenticatedError("The token names no user.")
    return claim


def _read_scopes(claims: Mapping[str, Any]) -> frozenset[str]:
    """`scope` of RFC 9068 is one string; some issuers send `scp`, as a string or a list."""
    claim = claims.get("scope", claims.get("scp", ""))
    names = claim.split() if isinstance(claim, str) else claim if isinstance(claim, list) else []
    return frozenset(str(name) for name in names[:SCOPES_LIMIT])


def _read_expiry(claim: float) -> datetime:
    seconds = min(float(claim), FARTHEST_EXPIRY.timestamp())
    return datetime.fromtimestamp(seconds, UTC)
