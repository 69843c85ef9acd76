"""Pairs of keys for signatures, and files of keys."""

from __future__ import annotations

from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519


def _pem(private: ed25519.Ed25519PrivateKey) -> tuple[bytes, bytes]:
    return (
        private.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ),
        private.public_key().public_bytes(
            serialization.Encoding.PEM,
            serialization.PublicFormat.SubjectPublicKeyInfo,
        ),
    )


PRIVATE, PUBLIC = _pem(ed25519.Ed25519PrivateKey.from_private_bytes(bytes(range(32))))
OTHER, _ = _pem(ed25519.Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33))))


def put(path: Path, data: bytes, mode: int = 0o600) -> Path:
    """Write a key file."""
    path.write_bytes(data)
    path.chmod(mode)
    return path
