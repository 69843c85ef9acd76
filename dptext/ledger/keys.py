"""The secret of a ledger: keyed hashes of subjects and records, and seals.

It lies beside the ledger, FILE.key, for its owner only. The ledger alone does not allow
trying out names; ledger and key together do. The key file also counts the transactions
of its ledger up to the last release, which shows that a ledger is an older copy.

Edits without the key are found by the seal. Every row has a keyed hash, and the seal
keeps their sum, hidden and authenticated. A transaction verifies the seal, takes away
the hashes of old rows and adds those of new ones, at a cost that does not grow with the
ledger. What other programs do to rows is never added, which the sum over all rows then
shows (AdHash of Bellare and Micciancio, EUROCRYPT 1997, with a keyed hash; the sum is
encrypted as in SIV, RFC 5297).
"""

from __future__ import annotations

import hashlib
import hmac
import os
import stat
from pathlib import Path
from typing import NamedTuple

from dptext.errors import UsageError

_BYTES, _COUNT = 32, 8
SIZE = 16  # bytes of a hash


class LedgerKey:
    """The secret of one ledger."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def __repr__(self) -> str:
        """Show nothing of the secret."""
        return "LedgerKey()"

    def hash(self, purpose: bytes, data: bytes, size: int = SIZE) -> bytes:
        """Return the keyed hash of data, for one purpose."""
        return hashlib.blake2b(
            data, digest_size=size, key=self._secret, person=purpose
        ).digest()

    def check(self) -> bytes:
        """Return what the ledger knows its key by."""
        return self.hash(b"check", b"")

    def subject(self, value: str) -> bytes:
        """Return the hash of a subject, as readers of records spell it."""
        return self.hash(b"subject", value.encode("utf-8", "surrogatepass"))

    def record(self, subject: bytes, nonce: bytes) -> bytes:
        """Return the hash of a record of a subject whose draws follow from a nonce."""
        return self.hash(b"record", subject + nonce)


def path_of(ledger: Path) -> Path:
    """Return where the key of a ledger lies."""
    return ledger.parent / f"{ledger.name}.key"


def read(path: Path) -> LedgerKey:
    """Read a key. Raises UsageError where others may read it, or it is none."""
    try:
        with path.open("rb") as file:
            data = file.read(_BYTES + _COUNT + 1)
            mode = os.fstat(file.fileno()).st_mode
    except FileNotFoundError:
        raise UsageError(
            f"{path}: the key of the ledger is missing, and subjects cannot be "
            "recognised without it; put it back"
        ) from None
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    if os.name != "nt" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise UsageError(f"{path}: other users may read it; run: chmod 600 {path}")
    if len(data) != _BYTES + _COUNT:
        raise UsageError(f"{path}: not the key of a ledger; put the right one back")
    return LedgerKey(data[:_BYTES])


def count(path: Path) -> int:
    """Return how many transactions the ledger had at its last release."""
    return int.from_bytes(path.read_bytes()[_BYTES:])


def remember(path: Path, transactions: int) -> None:
    """Write how many transactions the ledger has; the secret is not touched."""
    with path.open("r+b", buffering=0) as file:
        file.seek(_BYTES)
        file.write(transactions.to_bytes(_COUNT))


def create(path: Path) -> LedgerKey:
    """Write a fresh key under a name for the time until its ledger is there."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0)
    with open(os.open(_new(path), flags, 0o600), "wb") as file:
        file.write(os.urandom(_BYTES) + bytes(_COUNT))
        file.flush()
        os.fsync(file.fileno())
    return read(_new(path))


def keep(path: Path) -> None:
    """Give a fresh key its name, once the ledger that knows it is on the disk."""
    if not path.exists() and _new(path).exists():
        os.replace(_new(path), path)


def _new(path: Path) -> Path:
    return path.with_name(path.name + ".new")


_MODULUS = 1 << 256
_SUM = 32  # bytes


class Seal(NamedTuple):
    """The number of transactions of a ledger, and the sum of the hashes of its rows."""

    transactions: int
    total: int

    def moved(self, by: int) -> Seal:
        """Return the seal after a transaction that changed the sum by so much."""
        return Seal(self.transactions + 1, (self.total + by) % _MODULUS)

    def packed(self, key: LedgerKey, ledger: bytes) -> bytes:
        """Write the seal of a ledger, by its id."""
        count = self.transactions.to_bytes(_COUNT)
        proof = key.hash(b"seal", ledger + count + self.total.to_bytes(_SUM), _SUM)
        return count + proof + _masked(self.total, proof, key).to_bytes(_SUM)


def unpacked(data: bytes, key: LedgerKey, ledger: bytes) -> Seal | None:
    """Read a seal; None where it is not one of this key and ledger."""
    count, proof, hidden = data[:_COUNT], data[_COUNT:-_SUM], data[-_SUM:]
    total = _masked(int.from_bytes(hidden), proof, key)
    seal = key.hash(b"seal", ledger + count + total.to_bytes(_SUM), _SUM)
    if not hmac.compare_digest(seal, proof):
        return None
    return Seal(int.from_bytes(count), total)


def hashed(key: LedgerKey, *row: object) -> int:
    """Return the hash of a row: its table and its values."""
    return int.from_bytes(key.hash(b"row", ascii(row).encode(), _SUM))


def _masked(total: int, proof: bytes, key: LedgerKey) -> int:
    """Hide a sum, or show a hidden one."""
    return total ^ int.from_bytes(key.hash(b"mask", proof, _SUM))
