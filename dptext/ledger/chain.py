"""The hash chain that authenticates a ledger's events; does no file access.

    value(0) = HMAC(chain key, zeros || encode(id))
    value(n) = HMAC(chain key, value(n - 1) || encode(event n))
    seal     = HMAC(head key, encode(n, value(n)))

HMAC uses SHA-256; the two keys are derived from the ledger's secret, each for
one purpose only. An edited, removed, inserted, moved or repeated event changes the
value of its place and of all later ones, and none can be computed without the key. The
seal of the last value shows that no events are missing at the end. An older file has
its own valid chain and seal: it is recognised by a checkpoint kept elsewhere.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
from typing import NamedTuple

VALUE_BYTES = hashlib.sha256().digest_size
TEXT_ERRORS = "surrogateescape"  # keeps bytes that are not UTF-8
_pack_integer = struct.Struct(">cQq").pack  # type, length, content
_pack_head = struct.Struct(">cQ").pack  # type, length


class Position(NamedTuple):
    """A position in the chain."""

    #: The number of events up to here.
    events: int
    #: The value of the last of them; it authenticates all of them.
    value: bytes


class Event(NamedTuple):
    """A row of the ledger without its value; field order is the encoding order."""

    #: 1, 2, 3 and so on, without gaps.
    number: int
    #: The number of the event that began the release (of itself, where it begins one).
    entry: int
    #: One of the kinds of `dptext.ledger.store`.
    kind: str
    #: Keyed hash of the subject of a charge; null for other kinds.
    subject: bytes | None = None
    #: Keyed hash of draws that a key file can repeat; null where none can.
    draws: bytes | None = None
    #: Records of the charge.
    records: int = 0
    #: Units of the charge, or of the limit where a release begins.
    nats: int = 0
    delta: int = 0
    #: JSON about the release where one begins, else "".
    note: str = ""


class Chain:
    """Computes the chain values of a ledger."""

    def __init__(self, chain_key: bytes, head_key: bytes, ledger: str) -> None:
        """Take the two keys and the ledger's id."""
        # Copied for each event, which costs half as much as to begin with the key.
        self._keyed = hmac.new(chain_key, digestmod=hashlib.sha256)
        self._head_key = head_key
        self.start = Position(0, self._value(bytes(VALUE_BYTES), encode(ledger)))

    def __repr__(self) -> str:
        """Return a representation without the keys."""
        return "Chain()"

    def after(self, position: Position, event: Event) -> Position:
        """Return the position after one more event."""
        value = self._value(position.value, encode(*event))
        return Position(position.events + 1, value)

    def seal(self, position: Position) -> bytes:
        """Return the proof that the chain ends here."""
        return hmac.digest(self._head_key, encode(*position), "sha256")

    def _value(self, previous: bytes, encoded: bytes) -> bytes:
        keyed = self._keyed.copy()
        keyed.update(previous + encoded)
        return keyed.digest()


def encode(*values: object) -> bytes:
    """Encode values as bytes; different values never share an encoding.

    Each is its type (i, t, b or n: integer, text, bytes, null), the length of its
    content in eight bytes, big-endian, and its content; integers have 64 bits, as in
    SQLite. The type is included because SQLite stores any type in any column: bytes
    rewritten as text compare differently in its queries.
    """
    parts = []
    for value in values:
        if isinstance(value, int):
            parts.append(_pack_integer(b"i", 8, value))
            continue
        if value is None:
            kind, content = b"n", b""
        elif isinstance(value, bytes):
            kind, content = b"b", value
        elif isinstance(value, str):
            kind, content = b"t", value.encode("utf-8", TEXT_ERRORS)
        else:  # a real number: no event has one, so that it shows an edit
            kind, content = b"?", repr(value).encode()
        parts += (_pack_head(kind, len(content)), content)
    return b"".join(parts)


def is_equal(stored: object, computed: bytes) -> bool:
    """Compare a stored value of any type with the computed one in constant time."""
    return isinstance(stored, bytes) and hmac.compare_digest(stored, computed)
