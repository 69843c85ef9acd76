"""The chain of events: its values, and that no two lists of fields share an encoding."""

from __future__ import annotations

import hashlib
import hmac

from hypothesis import given
from hypothesis import strategies as st

from dptext.ledger.chain import Chain, Event, Position, encode, is_equal

FIELDS = st.lists(
    st.none() | st.integers() | st.text() | st.binary() | st.floats(), max_size=5
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


def test_values_are_those_of_the_construction() -> None:
    """As the head of the module writes them, by hand."""
    chain = Chain(b"c" * 32, b"h" * 32, "id")
    start = hmac.new(
        b"c" * 32, bytes(32) + b"t" + bytes(7) + b"\x02id", hashlib.sha256
    ).digest()
    assert chain.start == Position(0, start)
    encoded = (
        *(b"i", bytes(7), b"\x011", b"i", bytes(7), b"\x011"),
        *(b"t", bytes(7), b"\x04open", b"n", bytes(8), b"n", bytes(8)),
        *((b"i" + bytes(7) + b"\x010") * 3, b"t", bytes(8)),
    )
    value = hmac.new(b"c" * 32, start + b"".join(encoded), hashlib.sha256).digest()
    assert chain.after(chain.start, Event(1, 1, "open")) == Position(1, value)
    sealed = b"i" + bytes(7) + b"\x011" + b"b" + bytes(7) + b"\x20" + value
    seal = hmac.new(b"h" * 32, sealed, hashlib.sha256).digest()
    assert chain.seal(Position(1, value)) == seal


def test_wrong_lengths_are_not_equal() -> None:
    """A value cut short, made longer or of another type is not the value."""
    value = b"v" * 32
    assert is_equal(value, value)
    for stored in (value[:31], value + b"v", b"", "v" * 32, None, 1):
        assert not is_equal(stored, value)


def test_nothing_of_a_key_is_shown() -> None:
    """A chain in a traceback shows no key."""
    assert repr(Chain(b"c" * 32, b"h" * 32, "id")) == "Chain()"
