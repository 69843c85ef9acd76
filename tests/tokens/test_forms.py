from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import repeat

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dptext.guarantees import sentences
from dptext.tokens import forms
from dptext.tokens.forms import is_date
from dptext.tokens.lists import Spans
from dptext.tokens.policy import Form, Policy

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
    *(
        "GB29NWB\u017f60161331926819",
        "2019-2020",
        "10:30",
        "$1,200.50",
        "May",
        "123-456",
        "00/01/2024",
    ),
)


def integers(seed: int) -> list[int]:
    """Return as many integers as an identifier may take."""
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, 2**64, forms.INTEGERS, dtype=np.uint64)
    return [int(each) for each in drawn]


def form_of(text: str, declared: tuple[Form, ...] = ALL) -> Form | None:
    """Return the form that a text is of."""
    layout = forms.layout_of(text, declared)
    return layout and layout.form


def anew(text: str, bits: Iterator[int]) -> str:
    """Return what is written for an identifier."""
    layout = forms.layout_of(text, ALL)
    assert layout is not None
    return forms.written(layout, bits)


def named(text: str, declared: tuple[Form, ...] = ALL) -> list[str]:
    """Return the parts of a text that are found."""
    pieces, positions = Spans(Policy(forms=declared)).divide(text)
    assert "".join(pieces) == text
    return [pieces[position].strip(" ") for position in positions]


@pytest.mark.parametrize(("text", "form"), KNOWN)
def test_identifiers_are_known_by_form_and_check_digits(text: str, form: Form) -> None:
    """Each is found in a sentence, as a whole, and only where its form is declared."""
    assert form_of(text) is form
    assert named(f"see {text}, or ({text}).") == [text, text]
    assert text not in named(f"see {text}!", tuple(f for f in ALL if f is not form))


@pytest.mark.parametrize("text", NONE)
def test_what_has_no_such_form_is_left_to_the_other_settings(text: str) -> None:
    """A wrong check digit, month or length is no identifier."""
    assert form_of(text) is None
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
    out = anew(text, iter(integers(seed)))
    assert form_of(out) in (form, Form.CARD)
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
        outs = [anew(text, iter(integers(seed))) for seed in range(60)]
        for position, each in enumerate(text):
            if each.isalnum():
                assert len({out[position] for out in outs}) > 3
    assert anew("0171 1234567", iter(integers(1))).startswith("0")


def test_the_extremes_of_bits_give_identifiers() -> None:
    """Bits that are all zero or all one are no exception."""
    for text, form in KNOWN:
        for value in (0, 2**64 - 1):
            out = anew(text, repeat(value))
            assert form_of(out, (form,)) is form, (text, out)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [("31/12/2024", True), ("31/31/2024", False), ("2024/1/1", True), ("0.1.2024", 0)],
)
def test_a_date_has_a_month_and_a_day(text: str, is_one: bool) -> None:
    """Which of two numbers is the month is left open where marks do not say it."""
    assert is_date(text) == bool(is_one)


# Layouts as the statement describes them: 0 is a zero, 1 any digit, 2 any but zero, A
# any letter; d, n, m and y stand for the fields of a date.
LAYOUTS = {
    Form.CARD: (
        *("1" * size for size in range(13, 20)),
        *("1111 1111 1111 1111", "1111-1111-1111-1111", "1111-111111-11111"),
    ),
    Form.IBAN: (
        "AA11 1111 1111 1111 1111 11",
        "AA11AAAA11111111111111",
        "AA" + "1" * 18,
    ),
    Form.DATE: (
        *("yyyy-nn-nn", "yyyy/n/n", "d.n.yyyy", "dd.nn.yy", "nn/nn/yy", "n-n-yyyy"),
        *("mmm d, yyyy", "Mmm dd, yyyy", "MMM dth yyyy", "mmmm d, yyyy"),
        *("Mmmm ddth, yyyy", "dth of Mmm yyyy", "dd OF MMMM, yyyy", "d Mmmm yyyy"),
    ),
    Form.PHONE: (
        *("+21 111 1111111", "+2 (211) 111-1111", "(011) 111 1111", "0111 111111"),
        *("211-111-1111", "(211) 111-1111", "0111-111111"),
    ),
    Form.EMAIL: ("aAaaa@aaaa.org", "a@a.net"),
}
MONTHS = (
    "january february march april may june july august september october november "
    "december"
).split()


def month(pattern: str, rng: np.random.Generator) -> str:
    """Return a name of a month: of three letters, or of more; in the same capitals."""
    short = len(pattern) == 3
    # May has three letters, however it is meant.
    names = (
        [name[:3] for name in MONTHS] if short else [n for n in MONTHS if len(n) > 3]
    )
    name = str(rng.choice(names))
    if pattern.isupper():
        return name.upper()
    return name.title() if pattern.istitle() else name


def one_of(form: Form, pattern: str, rng: np.random.Generator) -> str:
    """Return an identifier of a layout."""
    if form is Form.IBAN:
        size = len(pattern.replace(" ", ""))
        countries = {22: ["GB", "DE", "IE"], 20: ["AT", "EE", "LU"]}[size]
        digits = "".join(
            chr(rng.integers(65, 91)) if each == "A" else str(rng.integers(0, 10))
            for each in pattern.replace(" ", "")[4:]
        )
        country = str(rng.choice(countries))
        number = "".join(str(int(each, 36)) for each in f"{digits}{country}00")
        characters = iter(f"{country}{98 - int(number) % 97:02d}{digits}")
        return "".join(each if each == " " else next(characters) for each in pattern)
    if form is Form.EMAIL:
        return (
            f"{chr(rng.integers(97, 123))}{rng.integers(0, 10**6)}@mail{pattern[-4:]}"
        )
    if form is Form.DATE:
        fields = {
            "yyyy": str(rng.integers(1000, 10000)),
            "yy": f"{rng.integers(0, 100):02d}",
            "nn": str(rng.integers(10, 13)),
            "n": str(rng.integers(1, 10)),
            "dd": str(rng.integers(10, 32)),
            "d": str(rng.integers(1, 10)),
            "th": str(rng.choice(["st", "nd", "rd", "th", "TH"])),
        }
        field = re.compile("m{3,4}|yyyy|yy|nn?|dd?|th", re.IGNORECASE)
        return field.sub(
            lambda m: fields[m[0]] if m[0] in fields else month(m[0], rng), pattern
        )
    least = {"0": (0, 1), "1": (0, 10), "2": (1, 10)}
    return "".join(
        str(rng.integers(*least[each])) if each in least else each for each in pattern
    )


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from([(form, each) for form in ALL for each in LAYOUTS[form]]),
    st.integers(0, 2**32 - 1),
)
def test_equal_layouts_and_bits_give_equal_texts(
    layout: tuple[Form, str], seed: int
) -> None:
    """Two identifiers of one layout, as the statement says it, are written alike."""
    rng = np.random.default_rng(seed)
    alike: list[str] = []
    while len(alike) < 2:
        text = one_of(*layout, rng)
        alike += [text] * (form_of(text, (layout[0],)) is layout[0])
    texts = [f"see {each}, or so" for each in alike]
    bits = integers(seed)
    outs = []
    for text in texts:
        pieces, positions = Spans(Policy(forms=(layout[0],))).divide(text)
        for position in positions:
            shown = forms.layout_of(pieces[position].strip(" "), (layout[0],))
            assert shown is not None
            pieces[position] = forms.written(shown, iter(bits))
        outs.append("".join(pieces))
    assert outs[0] == outs[1]


def test_may_is_a_name_of_three_letters() -> None:
    """May is replaced as any other name of three letters."""
    for seed in range(40):
        may, mar = (anew(f"{m} 3, 2020", iter(integers(seed))) for m in ("May", "Mar"))
        assert may == mar
        assert len(may.split()[0]) == 3


@pytest.mark.parametrize("form", ALL)
def test_the_statement_says_what_a_layout_holds(form: Form) -> None:
    """The statement names copied marks, spaces and names of months."""
    policy = Policy(forms=(form,))
    shown = " ".join(sentences.shown(policy))
    assert ("of the same layout" in shown) == bool(forms.RULES[form].said)
    words = {
        Form.CARD: ("how many digits", "spaces or hyphens"),
        Form.IBAN: ("letters", "digits", "spaces"),
        Form.DATE: (
            "order",
            "between",
            "digits",
            "ending",
            "three letters",
            "capitals",
        ),
        Form.PHONE: ("how many digits", "marks and spaces", "begins with 0"),
        Form.EMAIL: (),
    }[form]
    assert all(word in shown for word in words), shown


@pytest.mark.parametrize(
    "text",
    [
        "write to x@y.org\u00b2 now",
        "on the 1\u017ft of May 2020",
        "on 3 \u017feptember 2020",
        "card 4111 1111 1111 1111\u00b2",
        "call +49 170 123\u00b2456",
        "GB82 WEST 1234 5698 7654 3\u00b2",
    ],
)
def test_digits_and_letters_of_other_kinds_are_no_fault(text: str) -> None:
    """Superscripts, and letters that are equal to ASCII ones in capitals."""
    for form in Form:
        for begin, end in forms.spans(form, text):
            layout = forms.layout_of(text[begin:end], tuple(Form))
            assert layout is not None
            assert forms.written(layout, iter([2**63] * forms.INTEGERS))
