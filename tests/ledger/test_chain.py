"""The chain of events: its values, and the encoding of fields."""

from __future__ import annotations

import hashlib
import hmac

from hypothesis import given
from hypothesis import strategies as st

from dptext.ledger.chain import Chain, Event, Position, encode, is_equal

FIELDS = st.lists(
    st.none()
    | st.integers(-(2**63), 2**63 - 1)
    | st.text()
    | st.binary()
    | st.floats(),
    max_size=5,
)


@given(FIELDS, FIELDS)
def test_different_fields_have_different_encodings(
    first: list[object], second: list[object]
) -> None:
    """Moved boundaries, other types and other orders are other bytes."""
    same = list(map(repr, first)) == list(map(repr, second))
    assert (encode(*first) == encode(*second)) == same


def test_boundaries_and_types_count() -> None:
    """What a plain concatenation would confuse differs."""
    fields = [
        ("ab", "c"),
        ("a", "bc"),
        ("abc",),
        ("", "abc"),
        (b"abc",),
        ("1",),
        (1,),
        (b"1",),
        (None,),
        ("",),
        (b"",),
        (),
        (1.0,),
        (True, 1),
    ]
    assert len({encode(*each) for each in fields}) == len(fields)


def text(content: bytes) -> bytes:
    """Encode a text by hand."""
    return b"t" + len(content).to_bytes(8) + content


def integer(value: int) -> bytes:
    """Encode an integer by hand."""
    return b"i" + (8).to_bytes(8) + value.to_bytes(8, signed=True)


def mac(key: bytes, data: bytes) -> bytes:
    """Return HMAC-SHA-256."""
    return hmac.new(key, data, hashlib.sha256).digest()


def test_values_are_those_of_the_construction() -> None:
    """As the head of the module writes them, by hand."""
    chain_key, head_key = b"c" * 32, b"h" * 32
    chain = Chain(chain_key, head_key, "id")
    start = mac(chain_key, bytes(32) + text(b"id"))
    assert chain.start == Position(0, start)
    null = b"n" + bytes(8)
    encoded = integer(1) + integer(1) + text(b"open") + null + null
    encoded += integer(0) + integer(-5) + integer(0) + text(b"")
    value = mac(chain_key, start + encoded)
    event = Event(1, 1, "open", nats=-5)
    assert chain.after(chain.start, event) == Position(1, value)
    sealed = integer(1) + b"b" + (32).to_bytes(8) + value
    assert chain.seal(Position(1, value)) == mac(head_key, sealed)


def test_wrong_lengths_are_not_equal() -> None:
    """A value cut short, made longer or of another type is not the value."""
    value = b"v" * 32
    assert is_equal(value, value)
    for stored in (value[:31], value + b"v", b"", "v" * 32, None, 1):
        assert not is_equal(stored, value)


def test_nothing_of_a_key_is_shown() -> None:
    """A chain in a traceback shows no key."""
    assert repr(Chain(b"c" * 32, b"h" * 32, "id")) == "Chain()"
