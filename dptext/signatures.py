"""Signatures of public reports, which reveal any edit to the key's holder.

Ed25519 (RFC 8032); the public half of a key only verifies. The signature covers all
bytes of a report except the hexadecimal digits of the signature itself: remove them to
get the signed bytes.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import msgspec

from dptext import randomness
from dptext.errors import UsageError
from dptext.run.interface import option

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )

_ALGORITHM: Final = "Ed25519"
_BEGINS, _PUBLIC = b"-----BEGIN", b"-----BEGIN PUBLIC KEY"
_UNSIGNED = b'"signature": null'
UNSIGNED = "not signed"


@dataclass(frozen=True, slots=True)
class Signature:
    """The signature of a public report."""

    # No row: the page says who signed.
    algorithm: Annotated[
        Literal["Ed25519"], msgspec.Meta(description="Algorithm (RFC 8032).")
    ]
    # No row: the page says who signed.
    key: Annotated[
        str,
        msgspec.Meta(
            pattern=r"^[0-9a-f]{16}$(?!\n)",
            description="Id of the key: 16 digits of the SHA-256 of its public half.",
        ),
    ]
    # No row: the page says who signed.
    value: Annotated[
        str,
        msgspec.Meta(
            pattern=r"^[0-9a-f]{128}$(?!\n)",
            description="The signature in hexadecimal digits.",
        ),
    ]


class Key:
    """An Ed25519 key pair, or only its public half, which can verify.

    id: the first 16 hexadecimal digits of the SHA-256 of the public half.
    """

    def __init__(
        self, public: Ed25519PublicKey, private: Ed25519PrivateKey | None = None
    ) -> None:
        self._public, self.private = public, private
        self.id = hashlib.sha256(public.public_bytes_raw()).digest()[:8].hex()

    def holds(self, data: bytes, value: bytes) -> bool:
        """Return whether a signature of data was made by this key."""
        from cryptography.exceptions import InvalidSignature

        try:
            self._public.verify(value, data)
        except InvalidSignature:
            return False
        return True


def read(path: Path) -> Key:
    """Read an Ed25519 key in PEM format.

    Raises UsageError, for example for a private key that other users may read.
    """
    return parse(randomness.key_bytes(path, is_public), f"key file {path}")


def is_public(data: bytes) -> bool:
    """Return whether a file contains the public half of a key."""
    return data.lstrip().startswith(_PUBLIC)


def parse(data: bytes, name: str) -> Key:
    """Parse a key file's content. Raises UsageError."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ed25519

    if data.count(_BEGINS) > 1:
        raise UsageError(
            f"{name}: it contains several keys; put each into a separate file"
        )
    key: object = None
    with contextlib.suppress(TypeError, ValueError, UnsupportedAlgorithm):
        if is_public(data):
            key = serialization.load_pem_public_key(data)
        else:
            key = serialization.load_pem_private_key(data, None)
    if isinstance(key, ed25519.Ed25519PublicKey):
        return Key(key)
    if isinstance(key, ed25519.Ed25519PrivateKey):
        return Key(key.public_key(), key)
    raise UsageError(
        f"{name}: not an Ed25519 key in PEM format without a password; make one with: "
        "openssl genpkey -algorithm ed25519 -out FILE"
    )


def read_private(path: Path) -> Key:
    """Read a signing key. Raises UsageError."""
    key = read(path)
    if key.private is None:
        raise UsageError(
            f"key file {path}: a public key can only verify; give the private one"
        )
    return key


def sign(report: bytes, key: Key | None) -> bytes:
    """Return an encoded report with its signature; unchanged without a key."""
    if key is None:
        return report
    assert key.private is not None
    head, _, tail = report.rpartition(_UNSIGNED)
    signature = f'{{"algorithm": "{_ALGORITHM}", "key": "{key.id}", "value": "'
    head, tail = head + b'"signature": ' + signature.encode(), b'"}' + tail
    return head + key.private.sign(head + tail).hex().encode() + tail


def is_signed(report: bytes) -> bool:
    """Return whether a report has a signature, valid or not."""
    return _signature(report) is not None


def problem(report: bytes, keys: Sequence[Key]) -> str:
    """Explain why none of the keys verifies the signature, "" if one does."""
    signature = _signature(report)
    if signature is None:
        return "its report is not signed"
    candidates = [key for key in keys if key.id == signature.key]
    if not candidates:
        return "its report is signed with another key"
    digits = signature.value.encode()
    data = report.replace(digits, b"")
    once = report.count(digits) == 1
    value = bytes.fromhex(signature.value)
    if once and any(key.holds(data, value) for key in candidates):
        return ""
    return "its report was changed: the signature is invalid"


def describe(report: bytes, keys: Sequence[Key]) -> str:
    """Describe a report's signer, and whether the keys verify the signature."""
    signature = _signature(report)
    if signature is None:
        return UNSIGNED
    named = f"by key {signature.key} ({_ALGORITHM})"
    if not problem(report, keys):
        return f"{named}, verified"
    if any(key.id == signature.key for key in keys):
        return f"{named}, does not hold: the report was changed"
    return (
        f"said to be {named}, not verified: dptext check {option('verify-key')} "
        "verifies it"
    )


def describe_signer(key: Key | None) -> str:
    """Describe who signs a run's public report."""
    return UNSIGNED if key is None else f"by key {key.id} ({_ALGORITHM})"


class _Signed(msgspec.Struct):
    signature: Signature


def _signature(report: bytes) -> Signature | None:
    try:
        return msgspec.json.decode(report, type=_Signed).signature
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
