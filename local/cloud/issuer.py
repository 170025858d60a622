"""A local OIDC issuer: a key of this machine, its JWKS and discovery pages, and the tokens it signs."""

import base64
import json
import os
import time
from pathlib import Path
from typing import Any

from local.cloud.proxy_events import HttpResponse

# A name, not an address: tokens stay valid when the cloud runs on another port.
ISSUER = "https://issuer.oria.invalid"
AUDIENCE = "oria"
PREFIX = "/.local/issuer"
TOKEN_SECONDS = 12 * 3600
KEY_BITS = 2048
CAPABILITIES = {
    "response_types_supported": ["id_token"],
    "subject_types_supported": ["public"],
    "id_token_signing_alg_values_supported": ["RS256"],
}


class Issuer:
    """Signs with the RSA key in a data folder, which it creates when there is none. `origin` is where its pages are."""

    def __init__(self, data: Path, *, origin: str = "") -> None:
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        path = data / "issuer.pem"
        if not path.exists():
            _create_key(path)
        self._origin = origin
        self._pem = path.read_bytes()
        public = load_pem_private_key(self._pem, password=None).public_key()
        self._jwk = _describe_key(public)

    def answer(self, path: str) -> HttpResponse | None:
        """The issuer's pages (OpenID Connect Discovery 1.0, RFC 7517)."""
        if path == f"{PREFIX}/jwks.json":
            return _as_json({"keys": [self._jwk]})
        if path == f"{PREFIX}/.well-known/openid-configuration":
            return _as_json({"issuer": ISSUER, "jwks_uri": f"{self._origin}{PREFIX}/jwks.json"} | CAPABILITIES)
        return None

    def sign(self, user: str, tenant: str, *, seconds: int = TOKEN_SECONDS, **claims: Any) -> str:
        """A bearer token of a user of a tenant; further claims are added or replaced."""
        import jwt

        now = int(time.time())
        standard = {"iss": ISSUER, "aud": AUDIENCE, "sub": user, "tenant": tenant, "iat": now, "exp": now + seconds}
        return jwt.encode(standard | claims, self._pem, algorithm="RS256", headers={"kid": self._jwk["kid"]})


def _create_key(path: Path) -> None:
    from cryptography.hazmat.primitives.asymmetric import rsa
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    key = rsa.generate_private_key(public_exponent=65537, key_size=KEY_BITS)
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))


def _describe_key(public: Any) -> dict[str, str]:
    import hashlib

    numbers = public.public_numbers()
    jwk = {"e": _encode_number(numbers.e), "kty": "RSA", "n": _encode_number(numbers.n)}
    # The thumbprint of RFC 7638: the required members in alphabetical order.
    thumbprint = hashlib.sha256(json.dumps(jwk, separators=(",", ":")).encode()).digest()
    return {**jwk, "kid": _encode_bytes(thumbprint), "alg": "RS256", "use": "sig"}


def _encode_number(number: int) -> str:
    return _encode_bytes(number.to_bytes((number.bit_length() + 7) // 8, "big"))


def _encode_bytes(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def _as_json(document: Any) -> HttpResponse:
    return HttpResponse(200, [("Content-Type", "application/json")], json.dumps(document).encode())
