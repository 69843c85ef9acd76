"""The key file of a ledger: its secret, and a checkpoint of its chain.

It lies beside the ledger, FILE.key, for its owner only. The ledger alone does not allow
trying out names; ledger and key together do.

    bytes 0 to 31    the secret, random
    bytes 32 to 39   the number of events at the checkpoint, big-endian
    bytes 40 to 71   the value of the chain there

The checkpoint is moved forward when a release leaves, after its events are on the disk.
A ledger that does not pass through it is an older copy. A run that is killed between
the two files leaves a checkpoint that is older than the ledger, which is valid.

Locks are those that the operating system takes back when a process ends, however it
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
    """The secret of one ledger, used only to derive a key for each purpose."""

    def __init__(self, secret: bytes) -> None:
        self._keys = {
            purpose: hmac.digest(secret, _LABEL + purpose.encode(), "sha256")
            for purpose in _PURPOSES
        }

    def __repr__(self) -> str:
        """Show nothing of the secret."""
        return "LedgerKey()"

    def check(self) -> bytes:
        """Return the public value by which the ledger recognises its key."""
        return self._keys["check"]

    def subject(self, value: str) -> bytes:
        """Return the keyed hash of a subject, as readers of records spell it."""
        return self._hash("subject", value.encode("utf-8", "surrogatepass"))

    def draws(self, subject: bytes, nonce: bytes) -> bytes:
        """Return the keyed hash of the draws that follow from a nonce, for a subject.

        subject: the hash of the subject, of a fixed length.
        """
        return self._hash("draws", subject + nonce)

    def encrypt_path(self, path: Path) -> str:
        """Return an absolute path, encrypted, in hexadecimal digits.

        Names of folders may be names of people. The length tells that of the path to
        256 bytes.
        """
        data, nonce = os.fsencode(path.absolute()), os.urandom(_NONCE_BYTES)
        padded = data + bytes(-len(data) % _STEP)
        return (nonce + self._cipher().encrypt(nonce, padded, None)).hex()

    def decrypt_path(self, encrypted: str) -> Path:
        """Return the path that `encrypt_path` encrypted."""
        data = bytes.fromhex(encrypted)
        nonce, content = data[:_NONCE_BYTES], data[_NONCE_BYTES:]
        padded = self._cipher().decrypt(nonce, content, None)
        return Path(os.fsdecode(padded.rstrip(b"\0")))  # no path holds NUL

    def _cipher(self) -> AESGCM:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        return AESGCM(self._keys["paths"])

    def chain(self, ledger: str) -> Chain:
        """Return the chain of a ledger by its id."""
        return Chain(self._keys["chain"], self._keys["head"], ledger)

    def _hash(self, purpose: str, data: bytes) -> bytes:
        return hmac.digest(self._keys[purpose], data, "sha256")[:HASH_BYTES]


def key_path(ledger: Path) -> Path:
    """Return the path of the key of a ledger."""
    return ledger.parent / f"{ledger.name}.key"


def read_key(path: Path) -> LedgerKey:
    """Read a key file.

    Raises UsageError if it is missing, not the key of a ledger, open to other users, or
    of another user.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_FILE_BYTES + 1)
            status = os.fstat(file.fileno())
    except FileNotFoundError:
        raise UsageError(
            f"{path}: the key of the ledger is missing, and subjects cannot be "
            "recognised without it; put it back"
        ) from None
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    if not streams.is_own(status):
        raise UsageError(
            f"{path}: the key of the ledger belongs to another user; use a ledger of "
            "your own, or take this one over: chown it and its key"
        )
    if status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise UsageError(f"{path}: other users may read it; run: chmod 600 {path}")
    if len(data) != _FILE_BYTES:
        raise UsageError(f"{path}: not the key of a ledger; restore the right file")
    return LedgerKey(data[:_SECRET_BYTES])


def read_checkpoint(path: Path) -> Position:
    """Return the checkpoint; the lock keeps out a writer halfway through."""
    with path.open("rb") as file, locked(file, exclusive=False):
        data = file.read()[_SECRET_BYTES:]
    return Position(int.from_bytes(data[:_COUNT_BYTES]), data[_COUNT_BYTES:])


def advance_checkpoint(path: Path, position: Position) -> None:
    """Move the checkpoint forward, on the disk when this returns; never back.

    position is already on the disk in the ledger. Another run may have come further in
    the meantime: then its checkpoint stays.
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
    """Write a new key for the id of a ledger, under a temporary name.

    It gets its name by `publish_key` when the ledger that knows it is on the disk.
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
    """Give a new key its name; the next run does it where the first was killed."""
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
    """Hold the lock of an open file for a block; wait for others that hold it."""
    if fcntl is None:
        yield
        return
    fcntl.flock(file, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)


def lock_run(ledger: Path, entry: int) -> contextlib.ExitStack | None:
    """Take the lock that shows that the run of an entry goes on.

    It is a file beside the ledger, FILE.run-N. Returns a stack that gives it back when
    closed, and None where another process holds it.
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
