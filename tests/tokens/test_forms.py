from __future__ import annotations

from itertools import repeat

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dptext.tokens import dates, forms
from dptext.tokens.policy import Form, Policy
from dptext.tokens.spans import Spans

ALL = tuple(Form)
# Examples of the standards themselves, and of public documents of banks and networks.
KNOWN = [
    ("4111111111111111", Form.CARD),
    ("4111 1111 1111 1111", Form.CARD),
    ("3782-822463-10005", Form.CARD),
    ("30569309025904", Form.CARD),
    ("DE89 3704 0044 0532 0130 00", Form.IBAN),
    ("GB29NWBK60161331926819", Form.IBAN),
    ("NO9386011117947", Form.IBAN),
    ("MT84 MALT 0110 0001 2345 MTLC AST0 01S", Form.IBAN),
    ("ann.lee+x@mail.example.com", Form.EMAIL),
    ("2024-02-29", Form.DATE),
    ("29.2.2024", Form.DATE),
    ("12/31/99", Form.DATE),
    ("31/12/1999", Form.DATE),
    ("3rd of May 2024", Form.DATE),
    ("Sep 12, 2001", Form.DATE),
    ("+49 171 1234567", Form.PHONE),
    ("+1 (212) 555-0147", Form.PHONE),
    ("(030) 123 4567", Form.PHONE),
    ("555-123-4567", Form.PHONE),
]
NONE = (
    *("4111111111111112", "411111111111", "DE89 3704 0044 0532 0130 01", "99/99/2024"),
    *("2024-13-40", "31 Foo 2024", "XX89370400440532013000", "x@y", "1234", "1.2.3.4"),
    *("2019-2020", "10:30", "$1,200.50", "May", "123-456", "00/01/2024"),
)


def integers(seed: int) -> list[int]:
    """Return as many integers as an identifier may take."""
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, 2**64, forms.INTEGERS, dtype=np.uint64)
    return [int(each) for each in drawn]


def named(text: str, declared: tuple[Form, ...] = ALL) -> list[str]:
    """Return the parts of a text that are found."""
    pieces, positions = Spans(Policy(forms=declared)).divide(text)
    assert "".join(pieces) == text
    return [pieces[position].strip(" ") for position in positions]


@pytest.mark.parametrize(("text", "form"), KNOWN)
def test_identifiers_are_known_by_form_and_check_digits(text: str, form: Form) -> None:
    """Each is found in a sentence, as a whole, and only where its form is declared."""
    assert forms.form_of(text, ALL) is form
    assert named(f"see {text}, or ({text}).") == [text, text]
    assert text not in named(f"see {text}!", tuple(f for f in ALL if f is not form))


@pytest.mark.parametrize("text", NONE)
def test_what_has_no_such_form_is_left_to_the_other_settings(text: str) -> None:
    """A wrong check digit, month or length is no identifier."""
    assert forms.form_of(text, ALL) is None
    assert text not in named(f"see {text}!")


def test_words_in_capitals_after_an_account_are_not_part_of_it() -> None:
    """An IBAN ends where its country's do."""
    iban = "DE89 3704 0044 0532 0130 00"
    assert named(f"{iban} PAID NOW") == [iban]


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(KNOWN), st.integers(0, 10**6))
def test_what_is_written_has_the_form_again(known: tuple[str, Form], seed: int) -> None:
    """A random identifier is right by the same rules, marks and groups in place."""
    text, form = known
    out = forms.written(text, ALL, iter(integers(seed)))
    assert forms.form_of(out, ALL) in (form, Form.CARD)
    if form is not Form.EMAIL:
        assert [c for c in out if not c.isalnum()] == [
            c for c in text if not c.isalnum()
        ]
    if form not in (Form.EMAIL, Form.DATE):
        assert [c.isdigit() for c in out[4:]] == [c.isdigit() for c in text[4:]]
    if form is Form.EMAIL:
        assert out.endswith(".example")


def test_every_digit_is_drawn() -> None:
    """Nothing of the number that stood there stays but the leading zero of a phone."""
    for text in ("4111111111111111", "+49 171 1234567", "DE89370400440532013000"):
        outs = [forms.written(text, ALL, iter(integers(seed))) for seed in range(60)]
        for place, each in enumerate(text):
            if each.isalnum():
                assert len({out[place] for out in outs}) > 3
    assert forms.written("0171 1234567", ALL, iter(integers(1))).startswith("0")


def test_the_extremes_of_bits_give_identifiers() -> None:
    """Bits that are all zero or all one are no exception."""
    for text, form in KNOWN:
        for value in (0, 2**64 - 1):
            out = forms.written(text, ALL, repeat(value))
            assert forms.form_of(out, (form,)) is form, (text, out)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [("31/12/2024", True), ("31/31/2024", False), ("2024/1/1", True), ("0.1.2024", 0)],
)
def test_a_date_has_a_month_and_a_day(text: str, is_one: bool) -> None:
    """Which of two numbers is the month is left open where marks do not say it."""
    assert dates.is_date(text) == bool(is_one)
