"""The certificate that a server of the operator shows: out of files, read anew when they change, or made up."""

from __future__ import annotations

import logging
import socket
import ssl
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from pyopscaffold.errors import UserError

if TYPE_CHECKING:
    from ssl import SSLObject, SSLSocket

_log = logging.getLogger("pyopscaffold.tls")


def context_of(certificate: Path, key: Path) -> ssl.SSLContext:
    """Return a server's TLS context whose every handshake uses what the files hold by then.

    Files that do not fit together, as they may for a moment when they are renewed, are logged and not used.

    Raises:
        UserError: there is no usable certificate in the files now.

    """
    try:
        seen, current = _stamp(certificate, key), _load(certificate, key)
    except OSError as error:  # ssl.SSLError is one
        raise UserError(
            f"no certificate can be read from {certificate} and {key}: {error.strerror or error}",
            hint="mount the Secret that has them there, or name the files as they are called",
        ) from error

    def fresh(connection: SSLSocket | SSLObject, _name: str | None, _context: ssl.SSLContext) -> None:
        nonlocal seen, current
        try:
            if (now := _stamp(certificate, key)) != seen:
                seen = now
                current = _load(certificate, key)
                _log.info("the certificate %s was renewed", certificate)
        except OSError as error:
            _log.error("the certificate %s can't be read, the last one serves on: %s", certificate, error)
        connection.context = current

    context = _load(certificate, key)
    context.sni_callback = fresh  # called for clients that name no server too
    return context


def self_signed_context() -> ssl.SSLContext:
    """Return a server's TLS context with a certificate of its own making, for clients that verify none.

    Raises:
        UserError: cryptography is not installed.

    """
    with tempfile.TemporaryDirectory() as folder:  # Python's ssl reads files only; the folder is private to the user
        path = Path(folder, "tls.pem")
        path.write_bytes(_self_signed())
        return _load(path, path)


def _load(certificate: Path, key: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


def _stamp(*files: Path) -> tuple[tuple[int, int, int], ...]:
    found = (path.stat() for path in files)
    return tuple((stat.st_ino, stat.st_mtime_ns, stat.st_size) for stat in found)


def _self_signed() -> bytes:
    try:
        from cryptography import x509  # noqa: PLC0415 - an extra, which most operators do without
        from cryptography.hazmat.primitives import hashes, serialization  # noqa: PLC0415 - as above
        from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415 - as above
    except ImportError as error:
        raise UserError(
            "metrics are to be served by TLS, and there is no certificate",
            hint="name a folder with --metrics-cert-path, or install pyopscaffold-runtime[tls], which makes one up",
        ) from error
    key = ec.generate_private_key(ec.SECP256R1())
    names = dict.fromkeys(("localhost", socket.gethostname()))
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "pyopscaffold")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=365))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name) for name in names]), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return private + certificate.public_bytes(serialization.Encoding.PEM)
