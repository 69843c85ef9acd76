"""The key file of a ledger: its secret and a checkpoint of its chain.

It is FILE.key beside the ledger, for its owner only. The ledger alone does not allow
trying out names; ledger and key together do.

    bytes 0 to 31    the secret, random
    bytes 32 to 39   the number of events at the checkpoint, big-endian
    bytes 40 to 71   the value of the chain there

The checkpoint is advanced when a release leaves, after its events are on disk.
A ledger whose chain does not contain it is an older copy. A run killed between writing
the two files leaves a checkpoint older than the ledger, which is valid.

The operating system releases locks when a process ends, however it
ends.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from dptext import streams
from dptext.errors import UsageError
from dptext.ledger.chain import VALUE_BYTES, Chain, Position

fcntl: Any
try:
    import fcntl
except ImportError:  # no such locks on this system
    fcntl = None

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_SECRET_BYTES, _COUNT_BYTES = 32, 8
_FILE_BYTES = _SECRET_BYTES + _COUNT_BYTES + VALUE_BYTES
HASH_BYTES = 16  # of subjects and draws
_LABEL = b"dptext ledger: "
_PURPOSES = ("check", "subject", "draws", "chain", "head", "paths")
_NONCE_BYTES = 12  # of AES-256-GCM, random
_STEP = 256  # bytes; paths are padded to multiples of it


class LedgerKey:
    """A ledger's secret, used only to derive one key per purpose."""

    def __init__(self, secret: bytes) -> None:
        self._keys = {
            purpose: hmac.digest(secret, _LABEL + purpose.encode(), "sha256")
            for purpose in _PURPOSES
        }

    def __repr__(self) -> str:
        """Return a representation without the secret."""
        return "LedgerKey()"

    def check(self) -> bytes:
        """Return the public value by which the ledger recognises this key."""
        return self._keys["check"]

    def subject(self, value: str) -> bytes:
        """Return the keyed hash of a subject, as spelled by the record readers."""
        return self._hash("subject", value.encode("utf-8", "surrogatepass"))

    def draws(self, subject: bytes, nonce: bytes) -> bytes:
        """Return the keyed hash of a subject's draws from a nonce.

        subject: the fixed-length hash of the subject.
        """
        return self._hash("draws", subject + nonce)

    def encrypt_path(self, path: Path) -> str:
        """Encrypt an absolute path, as hexadecimal digits.

        Folder names may be names of people. The result reveals the path's length to
        within 256 bytes.
        """
        data, nonce = os.fsencode(path.absolute()), os.urandom(_NONCE_BYTES)
        padded = data + bytes(-len(data) % _STEP)
        return (nonce + self._cipher().encrypt(nonce, padded, None)).hex()

    def decrypt_path(self, encrypted: str) -> Path:
        """Decrypt a path encrypted by `encrypt_path`."""
        data = bytes.fromhex(encrypted)
        nonce, content = data[:_NONCE_BYTES], data[_NONCE_BYTES:]
        padded = self._cipher().decrypt(nonce, content, None)
        return Path(os.fsdecode(padded.rstrip(b"\0")))  # no path holds NUL

    def _cipher(self) -> AESGCM:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        return AESGCM(self._keys["paths"])

    def chain(self, ledger: str) -> Chain:
        """Return the chain of the ledger with this id."""
        return Chain(self._keys["chain"], self._keys["head"], ledger)

    def _hash(self, purpose: str, data: bytes) -> bytes:
        return hmac.digest(self._keys[purpose], data, "sha256")[:HASH_BYTES]


def key_path(ledger: Path) -> Path:
    """Return the path of a ledger's key."""
    return ledger.parent / f"{ledger.name}.key"


def read_key(path: Path) -> LedgerKey:
    """Read a key file.

    Raises UsageError if it is missing, not a ledger's key, open to other users, or
    owned by another user.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_FILE_BYTES + 1)
            status = os.fstat(file.fileno())
    except FileNotFoundError:
        raise UsageError(
            f"{path}: the key of the ledger is missing, which is needed to recognise "
            "subjects; restore it"
        ) from None
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    if not streams.is_own(status):
        raise UsageError(
            f"{path}: the key of the ledger belongs to another user; use another "
            "ledger, or chown the ledger and its key"
        )
    if status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise UsageError(f"{path}: other users may read it; run: chmod 600 {path}")
    if len(data) != _FILE_BYTES:
        raise UsageError(f"{path}: not a ledger's key; restore the right file")
    return LedgerKey(data[:_SECRET_BYTES])


def read_checkpoint(path: Path) -> Position:
    """Read the checkpoint under a lock, so that no half-finished write is seen."""
    with path.open("rb") as file, locked(file, exclusive=False):
        data = file.read()[_SECRET_BYTES:]
    return Position(int.from_bytes(data[:_COUNT_BYTES]), data[_COUNT_BYTES:])


def advance_checkpoint(path: Path, position: Position) -> None:
    """Advance the checkpoint, never back; it is on disk when this returns.

    position must already be on disk in the ledger. If another run has advanced further
    in the meantime, its checkpoint stays.
    """
    with path.open("r+b", buffering=0) as file, locked(file, exclusive=True):
        file.seek(_SECRET_BYTES)
        if int.from_bytes(file.read(_COUNT_BYTES)) >= position.events:
            return
        file.seek(_SECRET_BYTES)
        # One write within one sector: it is on the disk whole or not at all.
        file.write(_pack(position))
        os.fsync(file.fileno())


def create_key(path: Path, ledger: str) -> LedgerKey:
    """Write a new key for a ledger's id, under a temporary name.

    `publish_key` renames it once the ledger that refers to it is on disk.
    """
    secret = os.urandom(_SECRET_BYTES)
    key = LedgerKey(secret)
    # Made anew: a file or a link that lies there may be of another user. One that a
    # killed run has left goes.
    temporary = _temporary(path)
    temporary.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with open(os.open(temporary, flags, 0o600), "wb") as file:
        file.write(secret + _pack(key.chain(ledger).start))
        file.flush()
        os.fsync(file.fileno())
    return key


def publish_key(path: Path) -> None:
    """Rename a new key to its final name; a later run does so after a crash."""
    # Of two runs that open a new ledger at once the other may be faster.
    with contextlib.suppress(FileNotFoundError):
        if not path.exists():
            os.replace(_temporary(path), path)


def _pack(position: Position) -> bytes:
    return position.events.to_bytes(_COUNT_BYTES) + position.value


def _temporary(path: Path) -> Path:
    return path.with_name(path.name + ".new")


@contextlib.contextmanager
def locked(file: IO[bytes], *, exclusive: bool) -> Iterator[None]:
    """Lock an open file during a block, waiting for other holders."""
    if fcntl is None:
        yield
        return
    fcntl.flock(file, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)


def lock_run(ledger: Path, entry: int) -> contextlib.ExitStack | None:
    """Take the lock that marks an entry's run as active.

    It is a file beside the ledger, FILE.run-N. Returns a stack that releases it when
    closed, or None if another process holds it.
    """
    path = ledger.with_name(f"{ledger.name}.run-{entry}")
    file = open(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "rb+", buffering=0)
    if fcntl is not None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            return None
    lock = contextlib.ExitStack()
    # In reverse: the file goes while the lock is held, so that nobody else has it.
    lock.callback(file.close)
    lock.enter_context(contextlib.suppress(OSError))
    lock.callback(path.unlink)
    return lock
