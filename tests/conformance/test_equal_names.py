"""Equal names, forms and numbers of a record stay equal, and show that alone.

Two records are compared as the statement says: the same copied words, classes, forms
and layouts in the same places, the same ones equal, and dates in the same order. All
that is in the record may be changed otherwise, and the outputs from equal random bits
stay the same. Records that differ in more have other outputs.
"""

from __future__ import annotations

import itertools
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from dptext import pipeline, profile
from dptext.pipeline import Pipeline
from dptext.randomness import Randomness, RunKey
from dptext.tokens import people
from dptext.types import Lexicon, Record
from tests import distributions

PERSONS = (
    "Sarah Bob Yilmaz Martha Okafor Ivanova Giovanni Patricia Fatima Kowalski Hiroshi "
    "Nguyen Olga Ahmed Maria Smith Robert Garcia Svensson Priya"
).split()
PLACES = "Berlin Florida Canada London Egypt Madrid Tokyo Toronto Sweden Kenya".split()
MONTHS = "Jan Feb Mar Apr May Jun Jul Aug".split()
LONG = "January February March April June July August September October".split()
# Texts of two fields: letters for persons (P) and places (L), forms, numbers and dates,
# each with its number among the different ones of its layout.
RECORDS = (
    ("Order {C0} for {P0} {P1}", "Hi {P0}, order {C0} came, not {C1}. Best, {P2}"),
    ("{P0} met {P1}", "He said {P0} and {P1} met {P2} {P1} in {L0}. {L1} or {L0}?"),
    ("From {E0}", "Write to {E0} or {E1}, not {E2}; {E1} is {P0}. She said so."),
    ("Mr. {P0} and Mrs. {P1}", "Mrs. {P0} told {P1} that {P1} {P0}'s car is here."),
    ("in {Y0} and {Y1}", "{Y1} was good, {Y0}-{Y2} and room {N0}, {N1}, {N0}."),
    ("on {D0} and {I1}", "on {D1}, {D2}, {I2} and {A3}; again {D2} and {A0}"),
    ("on {A2} and {A0}", "on {A1} and {F0}, {F1}"),
    ("{P0} O. {P1}", "{P1}-{P2} {P0}, {T0} to {T1}, {T0}; call {H0} or {H1}, {H0}"),
    (
        "Captain {P0} in the {L0}",
        "{R0}. {P0}, {R1}.{R0}. {P1} in the {L0} {L1} by {R2}",
    ),
    ("{G0}", "he is {G0} years old, she is aged {G1}, {G0}-year-old {P0}, #{X0} #{X1}"),
    ("{Q0} Q1 {Q1}", "{Q1} and {Q0} for {M0}, {M1}, {M0}. {U0} {U1} {U0} in {K0}"),
)
SLOT = re.compile(r"\{([A-Z])(\d)\}")


def filled(record: Sequence[str], rng: random.Random) -> tuple[str, ...]:
    """Fill a record: one value for each slot, different ones for different slots."""
    slots = sorted({match for text in record for match in SLOT.findall(text)})
    values: dict[tuple[str, str], str] = {}
    days = dates(len([1 for letter, _ in slots if letter in "DIA"]) + 9, rng)
    for letter, number in slots:
        used = {value for (of, _), value in values.items() if of == letter}
        while True:
            value = made(letter, int(number), days, rng)
            if value not in used or letter in "DIA":
                break
        values[letter, number] = value
    return tuple(SLOT.sub(lambda m: values[m[1], m[2]], text) for text in record)


def dates(count: int, rng: random.Random) -> list[tuple[int, int, int]]:
    """Return different days in order, all with days from 10 and months up to 8.

    May is left out: it is a whole name, which its layout shows.
    """
    days = {
        (
            rng.randint(1990, 2030),
            rng.choice((1, 2, 3, 4, 6, 7, 8)),
            rng.randint(10, 12),
        )
        for _ in range(4 * count)
    }
    return sorted(rng.sample(sorted(days), count))


def made(
    letter: str, number: int, days: list[tuple[int, int, int]], rng: random.Random
) -> str:
    """Return a random value for a slot; dates by their number, in order."""

    def digits(count: int) -> str:
        return "".join(rng.choices("123456789", k=count))

    def letters(count: int) -> str:
        return "".join(rng.choices("bcdfghjk", k=count))

    year, month, day = days[number]
    return {
        "P": lambda: rng.choice(PERSONS),
        "L": lambda: rng.choice(PLACES),
        "R": lambda: rng.choice("FGKMQVXZ"),
        "C": lambda: f"{letters(2).upper()}-{digits(4)}",
        "E": lambda: f"{letters(rng.randint(2, 9))}@{letters(4)}.com",
        "Y": lambda: str(rng.randint(1000, 9999)),
        "N": lambda: digits(3),
        "D": lambda: f"{day} {MONTHS[month - 1]} {year}",
        "I": lambda: f"{year}-{month:02d}-{day}",
        "A": lambda: f"{month:02d}/{day}/{year}",
        "F": lambda: f"{rng.randint(10, 28)} {rng.choice(LONG)}",
        "T": lambda: f"{rng.randint(10, 23)}:{rng.randint(10, 59)}",
        "H": lambda: f"{digits(3)}-{digits(3)}-{digits(4)}",
        "G": lambda: str(rng.randint(10, 99)),
        "X": lambda: letters(5) + "ing",
        "Q": lambda: f"{digits(1)}.{digits(2)}",
        "M": lambda: f"${digits(3)}",
        "U": lambda: f"https://{letters(5)}.com/{letters(3)}",
        "K": lambda: rng.choice(LONG),
    }[letter]()


class ByNumber(Randomness):
    """Random bits that follow from the number of a record alone."""

    def nonce(self, record: Record) -> bytes:
        """Return the nonce of an empty record of that number."""
        return super().nonce(Record(record.ordinal, (), None))


@pytest.fixture(scope="module")
def readable(builtin: Lexicon) -> Pipeline:
    """Return the profile that ships, ready."""
    return pipeline.build(profile.load("readable"), builtin)


def outputs(
    ready: Pipeline, records: Sequence[tuple[str, ...]], seed: int
) -> list[tuple[str, ...]]:
    """Return what becomes of records, each alone, all with the same random bits."""
    randomness = ByNumber(RunKey.from_seed(seed), ready.identity)
    return [
        ready.privatize([Record(0, texts, None)], randomness).texts[0]
        for texts in records
    ]


@pytest.mark.parametrize("record", RECORDS)
def test_records_of_one_pattern_have_one_law(
    readable: Pipeline, record: tuple[str, str]
) -> None:
    """All names, forms, numbers and dates are changed at once: no output differs."""
    rng = random.Random(str(record))
    for seed in range(3):
        texts = [filled(record, rng) for _ in range(25)]
        outs = outputs(readable, texts, seed)
        for text, out in zip(texts, outs, strict=True):
            assert out == outs[0], (texts[0], text)


@pytest.mark.parametrize("name", ["balanced", "readable"])
def test_forms_of_one_pattern_have_one_law(builtin: Lexicon, name: str) -> None:
    """Where words are drawn as well, the forms among them follow the pattern."""
    ready = pipeline.build(
        profile.load(name, {"budget": {"epsilon": 5.0, "risk": None}}), builtin
    )
    rng = random.Random(name)
    record = ("{C0} {E0} {D0} {I1}", "{E0} {C1} {C0} {D1} {D0} {U0} {T0} {U0} {T1}")
    for seed in range(3):
        assert (
            len({*outputs(ready, [filled(record, rng) for _ in range(25)], seed)}) == 1
        )


def test_a_record_is_written_as_if_it_were_alone(readable: Pipeline) -> None:
    """Other records of a batch have no part in its names, numbers and dates."""
    rng = random.Random(7)
    texts = [filled(record, rng) for record in RECORDS * 3]
    records = [Record(number, each, None) for number, each in enumerate(texts)]
    randomness = Randomness(RunKey.from_seed(4), readable.identity)
    together = readable.privatize(records, randomness).texts
    alone = [readable.privatize([each], randomness).texts[0] for each in records]
    assert together == alone
    assert readable.privatize(records[::-1], randomness).texts == together[::-1]


def test_other_patterns_have_other_outputs(readable: Pipeline) -> None:
    """The tests above would see more: equality and order are shown."""
    pairs = [
        (("Hi Sarah, Sarah here",), ("Hi Sarah, Martha here",)),
        (("code AB-1234 and AB-1234",), ("code AB-1234 and AB-1235",)),
        (("on 2020-05-11 and 2020-05-12",), ("on 2020-05-12 and 2020-05-11",)),
        (("it is 4/5",), ("it is 4/6",)),
    ]
    for pair in pairs:
        apart = [len({*outputs(readable, pair, seed)}) == 2 for seed in range(20)]
        assert sum(apart) >= 15, pair


def rows(text: str, record: str) -> Iterator[tuple[str, str]]:
    """Yield the slots of a template with the words that were written for them."""
    pattern = re.escape(record)
    names = SLOT.findall(record)
    pattern = re.sub(r"\\\{[A-Z]\d\\\}", "(.+?)", pattern)
    match = re.fullmatch(pattern, text)
    assert match is not None, (text, record)
    for (letter, number), words in zip(names, match.groups(), strict=True):
        yield letter + number, words


def test_equal_ones_are_equal_and_others_are_not(readable: Pipeline) -> None:
    """In both texts of a record, for names, e-mail addresses, codes and numbers."""
    record = (
        "{C0} for {P0} {P1} ({E0})",
        "{P0}, {C0} and {C1} of {N0} and {N1}, {N0}; {P2} {P1}; {E0} {E1}; {L0}, {L1}",
    )
    rng = random.Random(3)
    for seed in range(100):
        (out,) = outputs(readable, [filled(record, rng)], seed)
        by_slot: dict[str, set[str]] = {}
        for text, template in zip(out, record, strict=True):
            for slot, words in rows(text, template):
                by_slot.setdefault(slot, set()).add(words)
        assert all(len(words) == 1 for words in by_slot.values()), out
        for letter in "CPENL":
            every = [words for slot, words in by_slot.items() if slot[0] == letter]
            assert len(set(map(str, every))) == len(every), out


def test_surrogates_are_distinct_while_the_list_has_others(readable: Pipeline) -> None:
    """Of two hundred persons of a record each family has its own name, then again."""
    names = [
        f"Mr. Qz{a}{b}rov" for a, b in itertools.product("aeiouy", "bcdfghjklmnpqrst")
    ]
    families = people.lists()["families"]
    texts = [(" ".join(f"{name} came." for name in names),)]
    ((out,),) = outputs(readable, texts, 1)
    written = re.findall(r"Mr\. (\w+)", out)
    assert len(written) == len(names) == 96
    assert len(set(written)) == min(len(families), 96)
    more = [
        f"Mr. Qz{a}{b}{c}x" for a, b, c in itertools.product("aeiou", "bcdfg", "aeiouy")
    ]
    ((out,),) = outputs(readable, [(" ".join(f"{name} came." for name in more),)], 1)
    counts = Counter(re.findall(r"Mr\. (\w+)", out))
    assert set(counts) == {*families}
    assert max(counts.values()) - min(counts.values()) <= 1


def test_surrogates_are_uniform(readable: Pipeline) -> None:
    """Each name is as likely, also for the second of two (false alarm 1e-6)."""
    names = people.lists()["both"]
    at = {name: row for row, name in enumerate(names)}
    randomness = Randomness(RunKey.from_seed(9), readable.identity)
    records = [Record(n, ("Hi Sarah and Olga, Sarah!",), None) for n in range(6000)]
    drawn = [
        re.findall(r"Hi (\w+) and (\w+), (\w+)!", texts[0])[0]
        for texts in readable.privatize(records, randomness).texts
    ]
    assert all(first == again != second for first, second, again in drawn)
    law, alarm = np.full(len(names), 1 / len(names)), distributions.ALARM / 2
    for column in (0, 1):
        ids = np.array([at[each[column]] for each in drawn])
        distributions.assert_follows(ids, law, alarm)


def test_nothing_stays_equal_without_the_setting(builtin: Lexicon) -> None:
    """Each name and number is drawn anew at each of its places, with repeat: none."""
    recipe = profile.load("readable", {"tokens": {"repeat": "none"}})
    ready = pipeline.build(recipe, builtin)
    texts = ("Sarah AB-1234 4821 x@y.org", "Sarah AB-1234 4821 x@y.org")
    for seed in range(20):
        (out,) = outputs(ready, [texts], seed)
        one, two = (text.split() for text in out)
        assert one[1] != two[1]
        assert one[3] != two[3]


def test_marks_are_numbered_in_a_record(builtin: Lexicon) -> None:
    """Nothing is invented; equal names have equal marks, in all texts of a record."""
    recipe = profile.load("readable", {"tokens": {"marks": True}})
    ready = pipeline.build(recipe, builtin)
    texts = ("Sarah in Berlin, 5 May 2024", "Sarah, Olga qzx 12 AB-1234 $5 aged 45")
    (out,) = outputs(ready, [texts], 0)
    assert out == (
        "[name 1] in [place 1], [date]",
        "[name 1], [name 2] [word] [number] [code 1] $[number] aged [number]",
    )
    assert outputs(ready, [texts], 1) == [out]


GENDERS = [
    ("Her son, Olga, came.", "both"),
    ("My son Olga came.", "men"),
    ("Patricia called. She said so.", "women"),
    ("Robert called. He said so.", "men"),
    ("Robert called. She said so.", "women"),
    ("I saw Olga, and he saw me. She left.", "both"),
    ("Olga came.", "both"),
    ("Mrs. Olga Ivanova came.", "women"),
    (
        "Olga Ivanova came. Much later, at the very end of a long day with many other "
        "things to do and to see, they left the house. Mr. Ivanova said so.",
        "men",
    ),
]


@pytest.mark.parametrize(("text", "names"), GENDERS)
def test_given_names_fit_copied_pronouns(
    readable: Pipeline, text: str, names: str
) -> None:
    """Of one gender beside any of its places; of two or none, names of both."""
    randomness = Randomness(RunKey.from_seed(1), readable.identity)
    records = [Record(n, (text,), None) for n in range(80)]
    index = (
        re.sub(r"[.,]", "", text)
        .split()
        .index(next(word for word in ("Patricia", "Robert", "Olga") if word in text))
    )
    for (out,) in readable.privatize(records, randomness).texts:
        assert re.sub(r"[.,]", "", out).split()[index] in people.lists()[names], out


def test_names_keep_their_roles_in_a_record(readable: Pipeline) -> None:
    """Given names first, families' behind and after titles, wherever they stand."""
    lists = people.lists()
    randomness = Randomness(RunKey.from_seed(2), readable.identity)
    texts = ("Ivanova said so.", "Hi Patricia! Dr. Okafor and Patricia A. Ivanova met.")
    for out in readable.privatize(
        [Record(n, texts, None) for n in range(60)], randomness
    ).texts:
        family = out[0].split()[0]
        match = re.fullmatch(
            r"Hi (\w+)! Dr\. (\w+) and (\w+) [\w']+\. (\w+) met\.", out[1]
        )
        assert match is not None, out
        given, titled, again, last = match.groups()
        assert given == again
        assert family == last
        assert given in lists["both"]
        assert {family, titled} <= {*lists["families"]}


def test_lists_of_names_have_no_name_twice() -> None:
    """Given names and families are told apart, and so are genders."""
    counts = Counter(name for names in people.lists().values() for name in names)
    assert max(counts.values()) == 1
    assert all(len(names) >= 60 for names in people.lists().values())
