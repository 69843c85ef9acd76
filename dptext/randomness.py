"""Cryptographic randomness with a key per record.

Every record has a 128-bit nonce, a keyed hash of the run key, the settings, the
record's identity (or its place: the name of its output, if there are several, and its
number there) and its text. A word's random bits are AES-256 of the nonce combined with
the word's number in its record and a lane number: counter mode with explicit counters.
So the same key, input and settings give the same bits for any batch size, number of
jobs and order of work. No two words share a block, except with probability about
blocks^2 / 2^128, as in AES-CTR with random nonces.
"""

from __future__ import annotations

import copy
import errno
import hashlib
import os
import re
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from dptext import streams
from dptext.errors import UsageError
from dptext.run.interface import option
from dptext.types import Record

# Part of every nonce (dptext.pipeline): changed whenever the bytes drawn for the same
# key, input and settings change their meaning.
ALGORITHM = b"dptext/2"
# Part of every derived key. Public draws (of matrices, for the Bayes risk) rest on it.
_FORMAT = b"dptext/1"
# The first lane of each step after the mechanism. Every step numbers its own lanes from
# 0 (`RandomBits.since`), so that a component cannot draw the bits of another step.
BUDGET_LANE, MAPPING_LANE, JOINER_LANE, NUMBER_LANE = (1 << n for n in range(28, 32))
KEY_BYTES = 32
# Bytes of a block of AES.
_BLOCK_BYTES = 16
_LONGEST_KEY = 2**20
# Secrets of containers: each on its mount, or all on one.
_SECRETS = "/run/secrets"
_MOUNTS = "/proc/self/mountinfo"
# The bits of 1.0 in float64.
_ONE = np.uint64(0x3FF0000000000000)
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, repr=False)
class RunKey:
    """The secret of a run."""

    secret: bytes
    #: "system" (the operating system's generator), "key-file" (repeatable, secret as
    #: long as the file is) or "seed" (public: no privacy).
    origin: str

    @classmethod
    def fresh(cls) -> RunKey:
        """Generate a key with the operating system's randomness."""
        return cls(os.urandom(KEY_BYTES), "system")

    @classmethod
    def from_seed(cls, seed: int) -> RunKey:
        """Derive a key from a public seed: for tests and papers, never private."""
        return cls(hashlib.blake2b(b"seed %d" % seed, digest_size=32).digest(), "seed")

    @classmethod
    def from_file(cls, path: str | Path, *, trusted: bool = False) -> RunKey:
        """Read a key of at least 32 random bytes, raw or as 64 hexadecimal digits.

        Raises UsageError if the file cannot be read, is short, holds few distinct
        bytes, may be read by other users (not checked if trusted), or is neither a
        regular file nor an open pipe, such as `<(...)` in a shell.
        """
        make = f"make one with: (umask 077; openssl rand -out {path} {KEY_BYTES})"
        if not os.path.lexists(path):
            missing = OSError(errno.ENOENT, os.strerror(errno.ENOENT))
            raise UsageError(f"key file {streams.unopened(path, missing)}; {make}")
        data = key_bytes(
            path,
            lambda data: trusted,
            (
                f", or give {option('trust-key-file')} if nobody else can read it, "
                "as in "
                "a container"
            ),
        )
        try:
            return cls.from_bytes(data)
        except UsageError as error:
            raise UsageError(f"key file {path}: {error}; {make}") from None

    @classmethod
    def from_bytes(cls, data: bytes) -> RunKey:
        """Use at least 32 random bytes, raw or as 64 hexadecimal digits.

        Raises UsageError if they are too few or too many, or hold few distinct values.
        """
        try:
            data = bytes.fromhex(data.decode("ascii"))
        except ValueError:
            pass
        if len(data) < KEY_BYTES or len(set(data)) < KEY_BYTES // 2:
            raise UsageError(f"a key needs at least {KEY_BYTES} random bytes")
        if len(data) > _LONGEST_KEY:
            raise UsageError(f"a key has at most {_LONGEST_KEY} bytes")
        return cls(hashlib.blake2b(data, digest_size=32).digest(), "key-file")


def is_mounted_secret(path: str, mounts: str) -> bool:
    """Return whether a file is on a secrets mount seen only by one container.

    path has no links in it; mounts: the content of /proc/self/mountinfo (Linux). A
    file in such a folder on the machine's own disk does not count: all users of
    the machine see it.
    """
    # The fifth column is the mount point, with spaces and the like as octal numbers.
    points = (line.split()[4] for line in mounts.splitlines() if line.count(" ") > 4)
    decoded = (re.sub(r"\\([0-7]{3})", lambda m: chr(int(m[1], 8)), p) for p in points)
    return any(
        f"{point}/".startswith(f"{_SECRETS}/") and f"{path}/".startswith(f"{point}/")
        for point in decoded
    )


def _is_secret_by_mount(path: str | Path) -> bool:
    try:
        mounts = Path(_MOUNTS).read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:  # another system than Linux
        return False
    return is_mounted_secret(os.path.realpath(path), mounts)


def key_bytes(
    path: str | Path,
    is_public: Callable[[bytes], bool] = lambda data: False,
    advice: str = "",
) -> bytes:
    """Return the content of any kind of key file.

    Raises UsageError if it cannot be read, or if other users may read it, including its
    owner, unless that is this user or root. Exceptions are content for which is_public
    is true, such as a public key, and container secrets, as their mount keeps other
    users out. advice is added to the message.
    """
    streams.check_file(path, "key file")
    try:
        with open(path, "rb") as file:
            data = file.read(_LONGEST_KEY + 1)
            status = os.fstat(file.fileno())
    except OSError as error:
        raise UsageError(f"key file {path}: {error.strerror}") from None
    others = stat.S_IRGRP | stat.S_IROTH | stat.S_IWGRP | stat.S_IWOTH
    is_foreign = stat.S_ISREG(status.st_mode) and not streams.is_own(status)
    if not (status.st_mode & others or is_foreign):
        return data
    if is_public(data) or _is_secret_by_mount(path):
        return data
    problem, change = "other users may read it", "chmod 600"
    if is_foreign:
        problem, change = "it belongs to another user", "chown $(id -u)"
    raise UsageError(
        f"key file {path}: {problem}; run: {change} {path}, mount it below "
        f"{_SECRETS}{advice}"
    )


class _Encryptor(Protocol):
    """Encrypts counter blocks, one after the other."""

    def update(self, data: memoryview) -> bytes: ...


class _BlockCipher(Protocol):
    def encryptor(self) -> _Encryptor: ...


class _WatchedCipher:
    """A cipher that reports each block before encrypting it."""

    def __init__(self, cipher: _BlockCipher, watch: Callable[[bytes], object]) -> None:
        self._cipher, self._watch = cipher, watch

    def encryptor(self) -> _Encryptor:
        return self

    def update(self, data: memoryview) -> bytes:
        blocks = bytes(data)
        for begin in range(0, len(blocks), _BLOCK_BYTES):
            self._watch(blocks[begin : begin + _BLOCK_BYTES])
        return self._cipher.encryptor().update(data)


class Randomness:
    """Source of a run's random bits, batch by batch."""

    def __init__(self, key: RunKey, settings: str, output: str | None = None) -> None:
        """Derive the keys for nonces and bits.

        The digest of settings covers everything other than key and input that affects
        draws. It is part of both keys: any change of settings gives independent noise,
        even with the same key. output: a name that is part of every nonce of a record;
        outputs with different names have independent draws.
        """
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        def derive(purpose: bytes) -> bytes:
            message = _FORMAT + purpose + settings.encode()
            return hashlib.blake2b(message, key=key.secret, digest_size=32).digest()

        self.origin = key.origin
        self._output = b""
        if output is not None:
            encoded = output.encode("utf-8", "surrogateescape")
            self._output = b"f%d:" % len(encoded) + encoded
        self._computed: dict[str, Any] = {}
        self._nonce_key = derive(b"/nonce/")
        self._data_key = derive(b"/keyed/")
        # Copied for each record: the key is hashed once.
        self._nonce = hashlib.blake2b(self._output, key=self._nonce_key, digest_size=16)
        # ECB on counter blocks that never repeat is counter mode.
        self._cipher: _BlockCipher = Cipher(
            algorithms.AES(derive(b"/noise/")),
            modes.ECB(),  # noqa: S305
        )

    def watched(self, watch: Callable[[bytes], object]) -> Randomness:
        """Return an equal source that calls `watch` with each counter block.

        A block has 16 bytes. Two steps with the same block share their random bits: an
        audit can only detect that here. Values of `once` are recomputed.
        """
        source = copy.copy(self)
        source._computed = {}
        source._cipher = _WatchedCipher(self._cipher, watch)
        return source

    def once(self, name: str, make: Callable[[], Value]) -> Value:
        """Compute a named value once for this key and these settings."""
        if name not in self._computed:
            self._computed[name] = make()
        value: Value = self._computed[name]
        return value

    def nonce(self, record: Record) -> bytes:
        """Return the record's 128-bit nonce, from its identity and its texts.

        Records of an output never share one: records with equal identity and texts
        differ in their count (repeat).
        """
        # A letter before each part and its length make the hashed bytes unambiguous.
        hashed = self._nonce.copy()
        if record.identity is None:
            hashed.update(b"o%d" % record.ordinal)
        else:
            identity = record.identity.encode("utf-8", "surrogatepass")
            hashed.update(b"i%d:" % len(identity) + identity)
        if record.repeat:
            hashed.update(b"r%d" % record.repeat)
        for text in record.texts:
            encoded = text.encode("utf-8", "surrogatepass")
            hashed.update(b"|%d:" % len(encoded) + encoded)
        return hashed.digest()

    def keyed(self, data: bytes) -> bytes:
        """Return 32 bytes derived from data with the key and settings.

        They are independent of record nonces, which use another key.
        """
        return hashlib.blake2b(data, key=self._data_key, digest_size=32).digest()

    @property
    def run_nonce(self) -> bytes:
        """Return the nonce for draws shared by all outputs of a run.

        No record has this nonce, as none has its number.
        """
        return hashlib.blake2b(b"o-2", key=self._nonce_key, digest_size=16).digest()

    def bits(self, nonces: Sequence[bytes], records: NDArray[np.int64]) -> RandomBits:
        """Return the random bits of a batch of n words.

        nonces (r,): one per record; records (n,): the record of each word, in
        order.
        """
        table = np.frombuffer(b"".join(nonces), np.uint64).reshape(-1, 2)
        begins = np.flatnonzero(records[1:] != records[:-1]) + 1
        begins = np.concatenate(([0], begins))
        sizes = np.diff(begins, append=len(records))
        # The number of each word in its record.
        number = np.arange(len(records)) - np.repeat(begins, sizes)
        return RandomBits(self._cipher, table[records], number.astype(np.uint64))


class RandomBits:
    """The random bits of a batch of n words; all lanes are independent."""

    def __init__(
        self,
        cipher: _BlockCipher,
        nonces: NDArray[np.uint64],
        number: NDArray[np.uint64],
        first: int = 0,
    ) -> None:
        self._cipher = cipher
        self._nonces = nonces
        self._number = number
        # The lane that is lane 0 of this step.
        self._first = first

    def __len__(self) -> int:
        """Return the number of words n."""
        return len(self._number)

    def take(self, positions: NDArray[np.int64]) -> RandomBits:
        """Return the bits of some words, the same as in the whole batch."""
        return RandomBits(
            self._cipher, self._nonces[positions], self._number[positions], self._first
        )

    def since(self, lane: int) -> RandomBits:
        """Return the bits for a later step, in which this lane is lane 0."""
        return RandomBits(self._cipher, self._nonces, self._number, self._first + lane)

    def integers(self, lane: int, lanes: int = 1) -> NDArray[np.uint64]:
        """Return 128 bits per lane: (n, 2 * lanes) uint64, from lane to lane + lanes.

        Steps number their lanes from 0; equal lanes give equal bits.
        """
        lane += self._first
        blocks = np.empty((len(self._number), lanes, 2), np.uint64)
        blocks[:, :, 0] = self._nonces[:, 0, None]
        counters = np.arange(lane, lane + lanes, dtype=np.uint64)
        # A counter block: the nonce, with number and lane XORed into its second half.
        blocks[:, :, 1] = self._nonces[:, 1, None] ^ (
            (self._number[:, None] << np.uint64(32)) | counters
        )
        if not blocks.size:
            return blocks.reshape(len(self._number), 2 * lanes)
        view = memoryview(blocks)  # type: ignore[arg-type, unused-ignore]
        drawn = self._cipher.encryptor().update(view.cast("B"))
        return np.frombuffer(drawn, np.uint64).reshape(len(self._number), 2 * lanes)

    def uniform(self, lane: int, lanes: int = 1) -> NDArray[np.float64]:
        """Return uniforms strictly between 0 and 1: (n, 2 * lanes) float64, 52 bits."""
        return self.unit(self.integers(lane, lanes))

    @staticmethod
    def unit(integers: NDArray[np.uint64]) -> NDArray[np.float64]:
        """Convert 64-bit values to uniforms strictly between 0 and 1, of 52 bits."""
        # The 52 high bits become the fraction of a float64 in [1, 2); subtracting
        # 1 - 2^-53 is exact, and moves the grid half a step away from 0 and 1.
        high = integers >> np.uint64(12)
        high |= _ONE
        unit = high.view(np.float64)
        unit -= 1.0 - 2.0**-53
        return unit

    @staticmethod
    def below(integers: NDArray[np.uint64], bound: int) -> NDArray[np.int64]:
        """Convert 64-bit values to integers below bound, for bound < 2^32.

        Probabilities differ from 1 / bound by at most 2^-64: it is the high half of the
        128-bit product integers * bound.
        """
        wide = np.uint64(bound)
        half = np.uint64(32)
        low = (integers & np.uint64(0xFFFFFFFF)) * wide >> half
        return (((integers >> half) * wide + low) >> half).astype(np.int64)

    def normal(self, lane: int, width: int) -> NDArray[np.float64]:
        """Return standard normals (n, width), Box-Muller, from ceil(width/2) lanes."""
        u = self.uniform(lane, (width + 1) // 2)
        radius = np.sqrt(-2.0 * np.log(u[:, 0::2]))
        angle = (2.0 * np.pi) * u[:, 1::2]
        out = np.empty_like(u)
        np.multiply(radius, np.cos(angle), out=out[:, 0::2])
        np.multiply(radius, np.sin(angle), out=out[:, 1::2])
        return out[:, :width]
