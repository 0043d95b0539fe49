"""A server behind real TLS on loopback, and the authority that signs for it and for its users."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, TypeAlias

import pytest
from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from pyopscaffold.kube.builtin import NAMESPACE
from pyopscaffold.runtime.client.config import ClusterConfig
from pyopscaffold.runtime.client.http import HttpClient

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@dataclass(frozen=True)
class Pair:
    """A certificate and its key, PEM."""

    certificate: bytes
    key: bytes


class Authority:
    """Signs certificates, as plain as many clusters' authorities do: without key identifiers."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test-ca")])
        certificate = (
            self._builder(self._name, self._key)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.certificate = certificate.public_bytes(serialization.Encoding.PEM)

    def issue(self, name: str) -> Pair:
        """Give a certificate for a user or a host."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        names = x509.SubjectAlternativeName([x509.DNSName(name)])
        certificate = self._builder(subject, key).add_extension(names, critical=False).sign(self._key, hashes.SHA256())
        pem = serialization.Encoding.PEM
        private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        return Pair(certificate.public_bytes(pem), private)

    def _builder(self, subject: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
        now = datetime.now(UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(hours=1))
            .not_valid_after(now + timedelta(hours=1))
        )


class Guard:
    """A server that has nothing, but notes who asks, and refuses some; it answers while ``gate`` is set."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.paths: list[str] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.refused: set[str] = set()

    async def serve(self, request: web.Request) -> web.Response:
        """Answer a request."""
        assert request.transport is not None
        subject = request.transport.get_extra_info("peercert")["subject"]
        user = dict(pair for part in subject for pair in part)["commonName"]
        self.seen.append(user)
        self.paths.append(request.path)
        await self.gate.wait()
        if user in self.refused:
            return web.json_response({"kind": "Status", "code": 401}, status=401)
        if request.method == "PATCH":
            return web.json_response({"metadata": {"name": "a"}})
        return web.json_response({"metadata": {"resourceVersion": "1"}, "items": []})


@asynccontextmanager
async def guarded(
    guard: Guard, authority: Authority, folder: Path, *, users: Authority | None = None, port: int = 0
) -> AsyncIterator[ClusterConfig]:
    """Serve as ``api.example`` for the length of a block, to ``users``: those with a certificate of the authority."""
    pair = authority.issue("api.example")
    pem = folder / "server.pem"
    pem.write_bytes(pair.certificate + pair.key)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cadata=(users or authority).certificate.decode())
    context.load_cert_chain(pem)
    context.verify_mode = ssl.CERT_REQUIRED
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", guard.serve)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port, ssl_context=context).start()
    try:
        yield ClusterConfig(
            server=f"https://127.0.0.1:{runner.addresses[0][1]}",
            ca=authority.certificate,
            tls_server_name="api.example",
        )
    finally:
        await runner.cleanup()


async def read(client: HttpClient) -> None:
    """Ask the server for something: reads and writes have ways of their own to it."""
    assert await client.list(NAMESPACE) == []


async def write(client: HttpClient) -> None:
    """Have the server change something."""
    assert (await client.patch(NAMESPACE, "a", {}))["metadata"] == {"name": "a"}


both_ways = pytest.mark.parametrize("ask", [read, write])
"""For tests of what holds for reads and writes alike."""

Ask: TypeAlias = Callable[[HttpClient], Awaitable[None]]
