"""Every entry of a list may be drawn, the first and the last as often as the others.

The lists are read from the files of data, not from the code that draws from them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from dptext.randomness import Randomness, RunKey
from dptext.tokens import forms, language_data, lists
from dptext.tokens.draws import CONSONANTS, Integers
from dptext.tokens.policy import Form, Policy, WordClass
from dptext.tokens.regex import key_of
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import Lexicon
from dptext.writing.joining import Joiner
from tests import distributions, small

LARGEST = 2**64 - 1
CLASSES = Policy(common=3000, classes=(*WordClass,), case="copy")
# Draws for each entry of a list: an entry that is never drawn is found.
EACH = 60


def without_spelling(words: list[str]) -> list[str]:
    """Return keys of words, sorted: a lexicon may spell them in its own way."""
    return sorted(key_of(word) for word in words)


def words_of_classes() -> dict[str, list[str]]:
    """Return the words that may be written for each class, from the files alone."""
    listed = dict(language_data.sections("closed_classes"))
    common = dict(language_data.sections("common_words"))
    families = common["en family names"]
    invented = dict(language_data.sections("invented_names"))
    peoples = dict(language_data.sections("nationalities"))
    excluded = {*common["en abbreviations"], *common.get("en months", ())}

    def usable(words: list[str]) -> list[str]:
        return [word for word in words if word.lower() not in excluded]

    names = usable(listed["names"])
    long = {
        name: [word for word in usable(listed[name]) if len(word) > 4]
        for name in ("months", "weekdays")
    }
    return {
        "person": names,
        "given": [name for name in names if name not in families],
        "family": [name for name in names if name in families],
        "place": usable(listed["places"]),
        "places of two": common["en places of two words"],
        "organisation": invented["organisations"],
        "bank": [f"{name} Bank" for name in invented["organisations"]],
        "product": invented["products"],
        "acronym": invented["4"],
        "nationality": peoples["nationality to write"],
        "language": peoples["other nationality to write"],
        "peoples": peoples["nationalities to write"],
        "month": long["months"],
        "weekday": long["weekdays"],
    }


# Texts with a word of a class, its place among these, and the list that is drawn from.
TEXTS = [
    ("we met Sarah here", 0, "person"),
    ("we met Sarah Okafor here", 0, "given"),
    ("we met Sarah Okafor here", 1, "family"),
    ("we met Mr. Sarah here", 0, "family"),
    ("it was in Berlin here", 0, "place"),
    ("it was in Berlin Germany here", 0, "places of two"),
    ("it was by Toshiba here", 0, "organisation"),
    ("it was by Toshiba Bank here", 0, "bank"),
    ("it was by CloudDesk here", 0, "product"),
    ("it was by NASA here", 0, "acronym"),
    ("it was an American here", 0, "nationality"),
    ("it was in Berlin American here", 1, "nationality"),
    ("it was a chinese film here", 0, "language"),
    ("it was the Russians here", 0, "peoples"),
    ("it was in February here", 0, "month"),
    ("it was on Friday here", 0, "weekday"),
]


@pytest.mark.parametrize(("text", "place", "name"), TEXTS)
def test_every_word_of_a_class_is_as_likely(
    builtin: Lexicon, text: str, place: int, name: str
) -> None:
    """Of a list each word comes with the same probability, and no other one does."""
    joiner, wanted = (
        Joiner(builtin, CLASSES),
        without_spelling(words_of_classes()[name]),
    )
    assert len(set(wanted)) == len(wanted) > 3
    tokenizer = Tokenizer(builtin, CLASSES)
    one = tokenizer.words([text])
    at = int(joiner.positions_to_redraw(one)[place])
    shown = [*joiner.candidates(one, at)]
    if name == "places of two":
        shown = [each.replace(" ", "_") for each in shown]
    assert without_spelling(shown) == wanted
    drawn: list[str] = []
    for seed in range(-(-EACH * len(wanted) // 2000)):
        words = tokenizer.words([text] * 2000)
        positions = joiner.positions_to_redraw(words)
        joiner.redraw(words, distributions.bits(len(positions), seed), positions)
        pieces = [words.pieces[each].strip(" ") for each in positions.tolist()]
        size = len(positions) // 2000
        if name == "places of two":
            pairs = zip(pieces[::size], pieces[1::size], strict=True)
            pieces, size = ["_".join(pair) for pair in pairs], 1
        drawn += pieces[place::size]
    rows = {word: row for row, word in enumerate(wanted)}
    ids = np.array([rows[key_of(word)] for word in drawn])
    law = np.full(len(wanted), 1.0 / len(wanted))
    distributions.assert_follows(ids, law, distributions.ALARM / len(TEXTS))


def every(value: int) -> Iterator[int]:
    """Give one integer over and over."""
    while True:
        yield value


@pytest.mark.parametrize("bound", [1, 2, 10, 12, 26, 254, 65_535])
def test_integers_reach_both_ends(bound: int) -> None:
    """The first for the smallest integer of 64 bits, the last for the largest."""
    assert Integers(every(0)).below(bound) == 0
    assert Integers(every(LARGEST)).below(bound) == bound - 1
    assert Integers(every(0)).between(3, bound + 2) == 3
    assert Integers(every(LARGEST)).between(3, bound + 2) == bound + 2
    assert Integers(every(0)).characters(CONSONANTS, 2) == "BB"
    assert Integers(every(LARGEST)).characters(CONSONANTS, 2) == "ZZ"


@pytest.mark.parametrize("bound", [2, 10, 12, 18])
def test_integers_are_uniform(bound: int) -> None:
    """Each value below a bound is as likely, as are those between two ends."""
    numbers = np.random.default_rng(bound).integers(0, LARGEST, 4000, np.uint64)
    law = np.full(bound, 1.0 / bound)
    draws = Integers(iter(numbers.tolist()))
    below = [draws.below(bound) for _ in range(2000)]
    distributions.assert_follows(np.array(below), law, distributions.ALARM / 8)
    between = [draws.between(5, bound + 4) - 5 for _ in range(2000)]
    distributions.assert_follows(np.array(between), law, distributions.ALARM / 8)


# Pieces, and what is written in their layouts by the smallest and largest integers.
ENDS = [
    ("5 Mar 2024", "1 Jan 1950", "9 Dec 2029"),
    ("17 December 2001", "10 January 1950", "28 December 2029"),
    ("17.05.2024", "01.01.1950", "28.12.2029"),
    ("2024-05-17", "1950-01-01", "2029-12-28"),
    ("1/2/99", "1/1/00", "9/9/99"),
    ("12/31/1999", "01/01/1950", "12/12/2029"),
    ("May 3rd, 2024", "January 1st, 1950", "December 9th, 2029"),
    ("MAR 12, 2024", "JAN 10, 1950", "DEC 28, 2029"),
    ("3. März 2024", "1. Januar 1950", "9. Dezember 2029"),
    ("3 janvier 2024", "1 janvier 1950", "9 décembre 2029"),
    ("10:30", "10:00", "20:59"),
    ("22:30:01", "10:00:00", "23:59:59"),
    ("09:30:15.25", "01:00:00.00", "09:59:59.99"),
    ("9 am", "6 am", "9 am"),
    ("5 pm", "1 pm", "9 pm"),
    ("12:15 P.M.", "10:00 P.M.", "12:59 P.M."),
    ("11:15 A.M.", "10:00 A.M.", "11:59 A.M."),
    ("7 o'clock", "1 o'clock", "9 o'clock"),
    (
        "2024-05-17T10:30:00+02:00",
        "1950-01-01T10:00:00+00:00",
        "2029-12-28T23:59:59+12:59",
    ),
    ("10.0.0.1", "192.0.2.1", "203.0.113.254"),
    ("10.0.0.1:8080", "192.0.2.1:1000", "203.0.113.254:9999"),
    ("10.0.0.1/8", "192.0.2.1/1", "203.0.113.254/9"),
    ("10.0.0.1/24", "192.0.2.1/10", "203.0.113.254/32"),
    ("2001:db8::1", "2001:db8::1", "2001:db8::ffff"),
    ("$12.50", "$10.00", "$99.99"),
    ("0.5 %", "0.0 %", "0.9 %"),
    ("$3 million", "$1 million", "$9 million"),
    ("v1.2.3", "v1.0.0", "v9.9.9"),
    ("10.20.30", "10.10.10", "99.99.99"),
    ("K-1234567", "B-0000000", "Z-9999999"),
    ("ab12cd", "bb00bb", "zz99zz"),
    ("1234567", "1000000", "9999999"),
    ("4111 1111 1111 1111", "9999 0000 0000 0004", "9999 9999 9999 9995"),
    ("DE89370400440532013000", "ZZ66000000000000000000", "ZZ18999999999999999999"),
    ("x@y.org", "bbbbbbbb@mail.example", "zzzzzzzz@mail.example"),
    ("@ann", "@user_bbbbbb", "@user_zzzzzz"),
    (
        "https://acme.com/a",
        "https://example.com/bbbbbbbb",
        "https://example.net/zzzzzzzz",
    ),
    ("www.acme.com", "www.example.com", "www.example.net"),
]


@pytest.mark.parametrize(("piece", "first", "last"), ENDS)
def test_fields_of_forms_reach_both_ends(piece: str, first: str, last: str) -> None:
    """Months 1 and 12, the days and years of the window, digits 0 and 9, a and z."""
    layout = forms.find_layout(piece, tuple(Form))
    assert layout is not None
    assert forms.write(layout, every(0)) == first
    assert forms.write(layout, every(LARGEST)) == last


@pytest.mark.parametrize("piece", ["+49 171 1234567", "0171 1234567", "(555) 123-4567"])
def test_telephone_numbers_have_all_last_digits(piece: str) -> None:
    """Their beginnings are of no country; the two digits at the end are any."""
    layout = forms.find_layout(piece, (Form.PHONE,))
    assert layout is not None
    for value, digits in ((0, "00"), (LARGEST, "99")):
        written = re.sub("[^0-9]", "", forms.write(layout, every(value)))
        assert written.endswith(digits)


def test_every_month_and_host_is_as_likely() -> None:
    """Of lists in dates and URLs, in any batch."""
    drawn: dict[str, Callable[[str], int]] = {
        "17 December 2001": lambda text: int(
            "January February March April May June July August September October "
            "November December".split().index(text.split()[1])
        ),
        "http://a.org": lambda text: ["com", "org", "net"].index(text[-3:]),
        "10.0.0.1": lambda text: ["192", "198", "203"].index(text[:3]),
    }
    policy = Policy(forms=tuple(Form))
    lexicon = small.english("cat")
    joiner, tokenizer = Joiner(lexicon, policy), Tokenizer(lexicon, policy)
    for piece, number_of in drawn.items():
        words = tokenizer.words([piece] * 2400)
        positions = joiner.positions_to_redraw(words)
        assert len(positions) == 2400
        streams = Randomness(RunKey.from_seed(1), "choices")
        bits = streams.bits([bytes(16)], np.zeros(2400, np.int64))
        joiner.redraw(words, bits, positions)
        written = [number_of(words.pieces[at]) for at in positions.tolist()]
        law = np.full(12 if "December" in piece else 3, 1.0)
        law /= law.sum()
        distributions.assert_follows(np.array(written), law, distributions.ALARM / 3)


LISTED = ("alpha", "beta two", "gamma", "delta")
PATTERNS = (r"p\d", r"q\d", r"r\d", r"s\d")
MATCHED = ("p1", "q1", "r1", "s1")


@pytest.mark.parametrize("use", ["keep", "mask"])
@pytest.mark.parametrize("form", ["words", "files", "patterns"])
def test_every_entry_of_a_list_counts(use: str, form: str, tmp_path: Path) -> None:
    """Of words, files of words and patterns: the first, the last and all between."""
    written = MATCHED if form == "patterns" else LISTED
    entries: tuple[str, ...] = PATTERNS if form == "patterns" else LISTED
    if form == "files":
        # Two files, each with two lines, the last one without an end.
        entries = (str(tmp_path / "one.txt"), str(tmp_path / "two.txt"))
        for path, some in zip(entries, (LISTED[:2], LISTED[2:]), strict=True):
            Path(path).write_text("\n".join(some), encoding="utf-8")
    listed = lists.read({form: list(entries)}, "test")
    policy = Policy(keep=listed) if use == "keep" else Policy(mask=listed)
    lexicon = small.english("cat", "dog")
    tokenizer, joiner = Tokenizer(lexicon, policy), Joiner(lexicon, policy)
    for entry in written:
        words = tokenizer.words([f"cat {entry} dog"])
        drawn = np.zeros(len(words.ids), np.int32)
        (text,) = joiner.join(words, drawn, distributions.bits(len(drawn))).texts
        assert text == f"Cat {entry if use == 'keep' else '[masked]'} cat"
