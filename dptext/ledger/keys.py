"""The secret of a ledger: subjects and records stand in it as keyed hashes.

It lies beside the ledger, FILE.key, for its owner only. Whoever has the ledger alone
cannot try out names; whoever has both can.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import stat
import unicodedata
from pathlib import Path

from dptext.errors import UsageError

_BYTES = 32
SIZE = 16  # bytes of a hash


class Key:
    """The secret of one ledger."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def __repr__(self) -> str:
        """Show nothing of the secret."""
        return "Key()"

    def _hash(self, purpose: bytes, data: bytes, size: int = SIZE) -> bytes:
        return hashlib.blake2b(
            data, digest_size=size, key=self._secret, person=purpose
        ).digest()

    def check(self) -> bytes:
        """Return what the ledger knows its key by."""
        return self._hash(b"check", b"")

    def subject(self, value: str) -> bytes:
        """Return the hash of a subject; of equal Unicode text it is equal."""
        text = unicodedata.normalize("NFC", value)
        return self._hash(b"subject", text.encode("utf-8", "surrogatepass"))

    def record(self, subject: bytes, nonce: bytes) -> bytes:
        """Return the hash of a record of a subject whose draws follow from a nonce."""
        return self._hash(b"record", subject + nonce)

    def seal(self, data: bytes) -> bytes:
        """Return what shows later that data were not edited."""
        return self._hash(b"seal", data, 32)

    def is_seal(self, data: bytes, seal: bytes) -> bool:
        """Tell whether data are what a seal was made of."""
        return hmac.compare_digest(self.seal(data), seal)


def path_of(ledger: Path) -> Path:
    """Return where the key of a ledger lies."""
    return ledger.with_name(ledger.name + ".key")


def read(path: Path) -> Key:
    """Read a key. Raises UsageError where others may read it, or it is none."""
    try:
        with path.open("rb") as file:
            data = file.read(_BYTES + 1)
            mode = os.fstat(file.fileno()).st_mode
    except FileNotFoundError:
        raise UsageError(
            f"{path}: the key of the ledger is missing, without which its subjects "
            "are not known again; put it back"
        ) from None
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    if os.name != "nt" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise UsageError(f"{path}: other users may read it; run: chmod 600 {path}")
    if len(data) != _BYTES:
        raise UsageError(f"{path}: not the key of a ledger; put the right one back")
    return Key(data)


def create(path: Path) -> Key:
    """Write a fresh key under a name for the time until its ledger is there."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0)
    with open(os.open(_new(path), flags, 0o600), "wb") as file:
        file.write(os.urandom(_BYTES))
        file.flush()
        os.fsync(file.fileno())
    return read(_new(path))


def keep(path: Path) -> None:
    """Give a fresh key its name, once the ledger that knows it is on the disk."""
    if not path.exists() and _new(path).exists():
        os.replace(_new(path), path)


def _new(path: Path) -> Path:
    return path.with_name(path.name + ".new")
