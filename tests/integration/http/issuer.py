"""A token issuer over real HTTP: publishes keys, signs tokens, and can be made to fail."""

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import UUID

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes

AUDIENCE = "oria-api"


@cache
def rsa_key(name: str) -> rsa.RSAPrivateKey:
    """One key per name and session: making one takes 50 ms."""
    del name
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@dataclass
class Issuer:
    """`answer` overrides what the key endpoint says: a status, a body, seconds to wait first."""

    url: str
    keys: dict[str, PrivateKeyTypes] = field(default_factory=dict)
    requests: int = 0
    answer: tuple[int, bytes, float] | None = None

    @property
    def jwks_url(self) -> str:
        return f"{self.url}/jwks"

    def document(self) -> bytes:
        """The key set, as an issuer publishes it."""
        entries = []
        for name, key in self.keys.items():
            if isinstance(key, rsa.RSAPrivateKey):
                entry = jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key(), as_dict=True)
            else:
                assert isinstance(key, ec.EllipticCurvePrivateKey)
                entry = jwt.algorithms.ECAlgorithm.to_jwk(key.public_key(), as_dict=True)
            entries.append({**entry, "kid": name, "use": "sig"})
        return json.dumps({"keys": entries}).encode()

    def claims(self, tenant: UUID | str, user: str = "ada", **changes: Any) -> dict[str, Any]:
        """Claims of a good token; a change to None takes a claim away."""
        now = int(time.time())
        claims = {"iss": self.url, "aud": AUDIENCE, "sub": user, "tenant": str(tenant), "iat": now, "exp": now + 3600}
        return {name: value for name, value in (claims | changes).items() if value is not None}

    def sign(self, claims: Mapping[str, Any], *, kid: str = "rsa", algorithm: str = "RS256") -> str:
        """A token signed with one of the keys."""
        return jwt.encode(dict(claims), self.keys[kid], algorithm=algorithm, headers={"kid": kid})  # type: ignore[arg-type]

    def token(self, tenant: UUID | str, user: str = "ada", **changes: Any) -> str:
        """A good token."""
        return self.sign(self.claims(tenant, user, **changes))


@contextmanager
def run_issuer() -> Iterator[Issuer]:
    """An issuer on a free port, with an RSA and an EC key."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            issuer.requests += 1
            status, body, seconds = issuer.answer or (200, issuer.document(), 0.0)
            time.sleep(seconds)
            self.send_response(status)
            if status in (301, 302):
                self.send_header("Location", issuer.jwks_url)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            with suppress(ConnectionError):
                self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    issuer = Issuer(f"http://127.0.0.1:{server.server_port}")
    issuer.keys = {"rsa": rsa_key("rsa"), "ec": ec.generate_private_key(ec.SECP256R1())}
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield issuer
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
