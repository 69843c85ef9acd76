"""Made records: texts of benchmarks/sense/texts.txt, filled, with the marked pieces."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from typing import NamedTuple

from benchmarks.sense import lists

_TEXTS = Path(__file__).with_name("texts.txt")
_PERSONS = 3
_FIRST_DAY, _DAYS = date(2018, 1, 1), 2500
# A mark around slots, or a slot alone.
_PART = re.compile(r"\[(\w+)\|((?:[^\[\]{}]|\{\w+\})*)\]|\{(\w+)\}")
_SLOT = re.compile(r"\{(\w+)\}")
_NUMBERED = re.compile(r"([A-Za-z]+)(\d)")
_PRONOUNS = {"he": ("he", "she"), "him": ("him", "her"), "his": ("his", "her")}


class Piece(NamedTuple):
    """A part of a text that a row of the table counts."""

    row: str
    """The mark, or the slot of an identity: given, family, email, order, ..."""
    label: str
    """The number of its person or thing, "" for none."""
    field: int
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Made:
    """A made record: its kind, its texts, the pieces of them that are counted."""

    kind: str
    texts: tuple[str, ...]
    pieces: tuple[Piece, ...]


@cache
def templates() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the kinds and the fields of all records, with slots and marks."""
    lines = _TEXTS.read_text(encoding="utf-8").splitlines(keepends=True)
    given = "".join(line for line in lines if not line.startswith("#"))
    given = given.replace(" \\\n", " ")
    found = []
    for part in given.split("%%\n"):
        kind, _, texts = part.partition("\n")
        found.append((kind, tuple(text.strip() for text in texts.split("---\n"))))
    return tuple(found)


def made(draws: int, seed: int) -> Iterator[Made]:
    """Yield each record so many times, with other names and numbers each time."""
    rng = random.Random(seed)
    for _ in range(draws):
        for kind, texts in templates():
            yield filled(kind, texts, rng)


def filled(kind: str, texts: tuple[str, ...], rng: random.Random) -> Made:
    """Fill the slots of a record."""
    values: dict[str, str] = {}
    _persons(values, rng)
    _things(values, rng)
    done: list[str] = []
    pieces: list[Piece] = []
    for field, text in enumerate(texts):
        out, end = "", 0
        for part in _PART.finditer(text):
            out, end = out + text[end : part.start()], part.end()
            row, inside, slot = part.groups()
            begin = len(out)
            for name, value in _values(f"{{{slot}}}" if slot else inside, values, rng):
                pieces += _identities(name, value, field, len(out))
                out += value
            if row:
                pieces.append(Piece(row, "", field, begin, len(out)))
        done.append(out + text[end:])
    return Made(kind, tuple(done), tuple(pieces))


def _values(
    text: str, values: dict[str, str], rng: random.Random
) -> Iterator[tuple[str, str]]:
    """Yield slots with their values, and the text between them under ""."""
    end = 0
    for slot in _SLOT.finditer(text):
        yield "", text[end : slot.start()]
        name, end = slot[1], slot.end()
        new = _NEW.get(name)
        yield name, new(rng) if new else values[name]
    yield "", text[end:]


def _identities(name: str, value: str, field: int, begin: int) -> Iterator[Piece]:
    """Yield the pieces of a slot that stands for somebody or something."""
    parts = _NUMBERED.fullmatch(name)
    if not parts:
        return
    slot, label = parts.groups()
    end = begin + len(value)
    if slot.lower() == "given":
        yield Piece("given", label, field, begin, end)
    elif slot == "full":
        middle = begin + value.index(" ")
        yield Piece("given", label, field, begin, middle)
        yield Piece("family", label, field, middle + 1, end)
    elif slot.lower() in ("he", "she", "him", "his"):
        yield Piece("pronoun", label, field, begin, end)
    else:
        yield Piece(slot, label, field, begin, end)


def _persons(values: dict[str, str], rng: random.Random) -> None:
    origins = rng.sample([*lists.PEOPLE], _PERSONS)
    for number, origin in enumerate(origins, 1):
        names = lists.PEOPLE[origin]
        men, women, families = names[:4], names[4:8], names[8:]
        woman = rng.random() < 0.5
        given, family = rng.choice(women if woman else men), rng.choice(families)
        values[f"given{number}"] = values[f"Given{number}"] = given
        values[f"family{number}"] = family
        values[f"full{number}"] = f"{given} {family}"
        for slot, forms in _PRONOUNS.items():
            values[f"{slot}{number}"] = forms[woman]
            values[f"{slot.capitalize()}{number}"] = forms[woman].capitalize()
        values[f"she{number}"] = values[f"he{number}"]
        values[f"She{number}"] = values[f"He{number}"]
        initials = f"{rng.choice('abcdefg')}{rng.choice('klmnop')}"
        place = rng.choice(["mail", "post", "inbox"])
        values[f"email{number}"] = f"{initials}.{rng.randint(10, 99)}@{place}.example"
        values[f"phone{number}"] = f"+44 20 7946 0{rng.randint(100, 999)}"
        letters = rng.choice("BCDFG") + rng.choice("KLMNP")
        values[f"order{number}"] = (
            f"{letters}{rng.randint(1, 9)}-{rng.randrange(10**7):07}"
        )


def _things(values: dict[str, str], rng: random.Random) -> None:
    first = _FIRST_DAY + timedelta(rng.randrange(_DAYS))
    days = first, first + timedelta(rng.randint(2, 200))
    handles = rng.sample(lists.HANDLES, 2)
    products = rng.sample(lists.PRODUCTS, 2)
    for number, (day, handle, product) in enumerate(
        zip(days, handles, products, strict=True), 1
    ):
        values[f"date{number}"] = day.isoformat()
        values[f"dmy{number}"] = f"{day.day} {day:%B} {day.year}"
        values[f"mdy{number}"] = f"{day:%B} {day.day}, {day.year}"
        values[f"handle{number}"], values[f"product{number}"] = handle, product
    for slot, among in (
        ("city", lists.CITIES),
        ("org", lists.ORGANISATIONS),
        ("month", lists.MONTHS),
    ):
        values[slot] = rng.choice(among)


def _range(rng: random.Random) -> str:
    low = rng.randint(1, 20)
    return f"{low}{rng.choice(['-', '–', ' to '])}{low + rng.randint(1, 10)}"


def _range_of_two(rng: random.Random) -> str:
    low = rng.randint(10, 60)
    return f"{low}-{low + rng.randint(1, 30)}"


def _percents(rng: random.Random) -> str:
    low = rng.randint(1, 60)
    return f"{low}% to {low + rng.randint(1, 30)}%"


def _years(rng: random.Random) -> str:
    low = rng.randint(2015, 2022)
    return f"{low}{rng.choice(['-', ' to '])}{low + rng.randint(1, 3)}"


def _pressure(rng: random.Random) -> str:
    return f"{rng.randint(105, 160)}/{rng.randint(60, 95)}"


# Slots with another value each time.
_NEW: dict[str, Callable[[random.Random], str]] = {
    "n": lambda rng: str(rng.randint(2, 9)),
    "age": lambda rng: str(rng.randint(21, 88)),
    "percent": lambda rng: str(rng.randint(2, 98)),
    "rating": lambda rng: str(rng.randint(1, 5)),
    "year": lambda rng: str(rng.randint(2016, 2025)),
    "acronym": lambda rng: rng.choice(lists.ACRONYMS),
    "range": _range,
    "tens": _range_of_two,
    "percents": _percents,
    "years": _years,
    "pressure": _pressure,
}
