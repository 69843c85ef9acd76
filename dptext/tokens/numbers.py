"""Numbers as vocabulary elements: which element a number is, and how one is written.

A lexicon holds elements such as `<number 40-49>`: numbers of one form and size. A
number of a text is the element whose form it has; a drawn element is written as a
random number of its form, by bits that hold nothing of the number that stood there.
NUMBER itself stands for every number whose element the lexicon lacks. Both rules are
public.

A form is a row of literal characters and of ranges {first-last}; digits are written as
wide as in `first` at least. A "|" parts the forms of one element. The elements are
those of dptext/data/words/number_elements.txt: what a row there has is divided evenly,
that of kinds that count things by how first digits are distributed (Newcomb 1881,
Benford).

In a lexicon what stands for a number are other numbers, those of similar form and size
first. For this every element has a position: its kind, its digits, its size. Vectors
lie closely around one vector: mechanisms that go by distance write numbers for numbers,
too. In the orders of all other words NUMBER alone is listed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from dptext.randomness import NUMBER_LANE, RandomBits
from dptext.tokens import language_data
from dptext.types import ENGLISH, NUMBER, Floats, Ids, Ints, Lexicon, Rows

_LANES = 3  # 128 bits each: one half chooses the form, the others fill up to 5 ranges
_RANGE = re.compile(r"\{(\d+)-(\d+)\}")
_DIGITS = re.compile(r"\d+")

_MARKED = ("decimal", "thousands")
_IN_LETTERS = ("ordinal", "decade")
_COUNTING = ("integer", "decimal", "thousands")


@dataclass(frozen=True, slots=True)
class NumberPart:
    """Literal characters, or a range of numbers where text is empty."""

    text: str
    first: int = 0
    last: int = 0
    width: int = 0

    @property
    def widths(self) -> range:
        """Return how many digits a number of the range may have."""
        return range(self.width, max(self.width, len(str(self.last))) + 1)

    def holds(self, digits: str) -> bool:
        """Tell whether the range holds a number that is written so."""
        value = int(digits)
        wide = max(self.width, len(str(value)))
        return self.first <= value <= self.last and len(digits) == wide


@dataclass(frozen=True, slots=True)
class Element:
    """A vocabulary element for numbers.

    name, as the vocabulary has it; kind; share, public, of all numbers; forms; first
    and last, the numbers that its first form may begin with.
    """

    name: str
    kind: str
    share: float
    forms: tuple[tuple[NumberPart, ...], ...]
    first: int
    last: int


def _parts(form: str) -> tuple[NumberPart, ...]:
    parts, end = [], 0
    for match in _RANGE.finditer(form):
        parts += [NumberPart(form[end : match.start()])] if match.start() > end else []
        low, high = match.groups()
        parts.append(NumberPart("", int(low), int(high), len(low)))
        end = match.end()
    return (*parts, *([NumberPart(form[end:])] if end < len(form) else []))


def _element(kind: str, spec: str) -> Element:
    forms = tuple(_parts(form) for form in spec.split("|"))
    first, last = (
        int(_DIGITS.findall(_filled(forms[0], ends))[0])
        for ends in zip(*((part.first, part.last) for part in forms[0]), strict=True)
    )
    label = spec.partition("|")[0]
    label = label[1:-1] if _RANGE.fullmatch(label) else label
    name = NUMBER if kind == "any" else f"<number {label}>"
    return Element(name, kind, 0.0, forms, first, last)


def _filled(form: tuple[NumberPart, ...], numbers: Sequence[int]) -> str:
    """Write a form with these numbers in its ranges; others are passed over."""
    pairs = zip(form, numbers, strict=True)
    return "".join(part.text or f"{number:0{part.width}d}" for part, number in pairs)


def _elements() -> Iterator[Element]:
    sections = language_data.sections("number_elements")
    rows = [(heading.split(), specs) for heading, specs in sections]
    total = sum(int(share) for (_, share), _ in rows)
    for (kind, share), specs in rows:
        every = [_element(kind, spec) for spec in specs]
        weights = [1.0] * len(every)
        if kind in _COUNTING:
            weights = [math.log((e.last + 1) / max(e.first, 0.5)) for e in every]
        for element, weight in zip(every, weights, strict=True):
            yield replace(element, share=int(share) / total * weight / sum(weights))


# NUMBER comes first.
ELEMENTS = tuple(_elements())
NAMES = tuple(element.name for element in ELEMENTS)
# Those before which "an" stands: an 8, an 80, an 850, an 1850.
WITH_AN = frozenset(
    e.name
    for e in ELEMENTS
    if (str(e.first)[0] == str(e.last)[0] == "8" and e.first * 10 > e.last)
    or 1800 <= e.first <= e.last < 1900
)
_INDEX = {name: position for position, name in enumerate(NAMES)}
_LAST_OF = {element.kind: position for position, element in enumerate(ELEMENTS)}


# Languages that write 3,5 and 1.000 for 3.5 and 1,000.
_COMMA = frozenset(
    "bg ca cs da de el es et fi fr hr hu id it lt lv nb nl nn no pl pt ro ru sk sl sr "
    "sv tr uk".split()
)
_BY_COMMA = re.compile(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?|\d+,\d+")
_DIGIT = re.compile(r"\d")
_FIRST_ZERO = re.compile(r"^( ?)0")
_SWAPPED = str.maketrans(".,", ",.")


_ORDINAL = re.compile(r"( ?)(\d+)(?:st|nd|rd|th)", re.IGNORECASE)
_YEAR = re.compile(r"( ?)(\d{4})(s?)")
_FIRST_YEAR, _YEARS = 1950, 75
_DAYS = 31


def as_people_write(drawn: str) -> str:
    """Return a number of random digits as people write numbers of its length.

    Four digits are a year, no number begins with 0, an ordinal of two digits is a day
    of a month, and its ending is that of its digits. What it says of the number that
    stood there is its length alone.
    """
    if found := _YEAR.fullmatch(drawn):
        year = _FIRST_YEAR + int(found[2]) % _YEARS
        return f"{found[1]}{year // 10 * 10 if found[3] else year}{found[3]}"
    if found := _ORDINAL.fullmatch(drawn):
        number, width = int(found[2]), len(found[2])
        least = 10 ** (width - 1)
        number = least + number % ((_DAYS + 1 if width == 2 else 10 * least) - least)
        last = number % 10 if number // 10 % 10 != 1 else 0
        return f"{found[1]}{number}{('th', 'st', 'nd', 'rd')[last if last < 4 else 0]}"
    if found := _FIRST_ZERO.match(drawn):
        first = 1 + sum(map(int, _DIGIT.findall(drawn))) % 9
        return f"{found[1]}{first}{drawn[found.end() :]}"
    return drawn


def names(language: str) -> tuple[str, ...]:
    """Return the elements for a language: ordinals and decades are English ones."""
    english = language == ENGLISH
    return tuple(e.name for e in ELEMENTS if english or e.kind not in _IN_LETTERS)


def example(word: str) -> str:
    """Return the first number of an element; NUMBER and any other word as it is."""
    if not _INDEX.get(word):
        return word
    form = ELEMENTS[_INDEX[word]].forms[0]
    return _filled(form, [part.first for part in form])


def rows_in(words: Sequence[str]) -> dict[int, int]:
    """Return the rows of words that are elements, with their indexes in ELEMENTS."""
    return {row: _INDEX[word] for row, word in enumerate(words) if word in _INDEX}


@lru_cache(maxsize=2)
def elements_of(lexicon: Lexicon) -> dict[int, int]:
    """Return the same of the words of a lexicon, made once for it."""
    return rows_in(lexicon.words)


def rows(lexicon: Lexicon) -> Ids:
    """Return the rows of a lexicon that are elements for numbers: (m,) int32."""
    return np.array(list(elements_of(lexicon)), np.int32)


def element_of(text: str) -> int:
    """Return the index in ELEMENTS of a number as the splitter yields it."""
    text = text.lower()
    for pattern, ranges, position in _by_shape().get(_shape(text), ()):
        match = pattern.fullmatch(text)
        if match and all(map(NumberPart.holds, ranges, match.groups())):
            return position
    return _LAST_OF.get(_kind(text), 0)


def _shape(text: str) -> str:
    """Write the length of each run of digits in its place."""
    return _DIGITS.sub(lambda run: f"{len(run[0])}_", text)


def _kind(text: str) -> str:
    """Tell the kind of a number of no listed form by what stands in it."""
    marks = _DIGITS.sub("", text)
    if not marks:
        return "padded" if int(text[0]) == 0 else "integer"
    if marks[-1].isalpha():
        return "decade" if marks[-1] == "s" else "ordinal"
    if "." in marks and set(marks) == {"."}:
        return "decimal" if marks == "." else "dotted"
    kinds = {",": "thousands", ":": "time", "/": "slashed", "-": "dashed"}
    first = "".join(sorted(set(marks) - {"."}))
    return kinds.get(first, "any")


@cache
def _by_shape() -> dict[str, list[tuple[re.Pattern[str], list[NumberPart], int]]]:
    """Return by shape the forms of that shape, their ranges, and their elements."""
    shapes: dict[str, list[tuple[re.Pattern[str], list[NumberPart], int]]] = {}
    for position, element in enumerate(ELEMENTS):
        # What NUMBER is written as has elements of its own.
        for form in element.forms if position else ():
            ranges = [part for part in form if not part.text]
            parts = (re.escape(part.text) if part.text else r"(\d+)" for part in form)
            entry = (re.compile("".join(parts)), ranges, position)
            for widths in product(*(part.widths for part in ranges)):
                wide = iter(widths)
                text = "".join(part.text or "0" * next(wide) for part in form)
                shapes.setdefault(_shape(text), []).append(entry)
    return shapes


class Numbers:
    """The elements that one lexicon has: look numbers up, and write drawn ones."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._index = elements_of(lexicon)
        known = {index: row for row, index in self._index.items()}
        self._rows = [known.get(index, known[0]) for index in range(len(ELEMENTS))]
        self._is_number = np.zeros(len(lexicon.words), bool)
        self._is_number[list(self._index)] = True
        self._comma = lexicon.language in _COMMA

    def row(self, text: str) -> int:
        """Return the row of a number as the splitter yields it."""
        if self._comma and _BY_COMMA.fullmatch(text):
            text = text.translate(_SWAPPED)
        return self._rows[element_of(text)]

    def drawn(self, ids: Ids) -> Ints:
        """Return which of the drawn words (n,) are numbers: (m,) int64."""
        return np.flatnonzero(self._is_number[ids])

    def read(self, ids: Ids, texts: Sequence[str]) -> Ids:
        """Return the rows of elements (m,) as their written numbers are read.

        They are the same except for NUMBER: its numbers may have elements of their own.
        """
        rows = ids.copy()
        for index in np.flatnonzero(ids == self._rows[0]).tolist():
            rows[index] = self.row(texts[index])
        return rows

    def written(self, ids: Ids, bits: RandomBits) -> list[str]:
        """Write drawn elements (m,) as random numbers of their forms."""
        out = [""] * len(ids)
        integers = bits.integers(NUMBER_LANE, _LANES)
        for row in np.unique(ids).tolist():
            element = ELEMENTS[self._index[row]]
            forms = element.forms
            swapped = self._comma and element.kind in _MARKED
            where = np.flatnonzero(ids == row)
            which = bits.below(integers[where, 0], len(forms))
            for number, form in enumerate(forms):
                some = where[which == number]
                fill = iter(range(1, integers.shape[1]))
                # All numbers of a form are equally likely.
                columns = [[0] * len(some)] * len(form)
                for at, part in enumerate(form):
                    if not part.text:
                        wide = part.last - part.first + 1
                        drawn = bits.below(integers[some, next(fill)], wide)
                        columns[at] = (part.first + drawn).tolist()
                for position, *numbers in zip(some.tolist(), *columns, strict=True):
                    text = _filled(form, numbers)
                    out[position] = text.translate(_SWAPPED) if swapped else text
        return out


# Fewer words than this have NUMBER alone: a floor over them would mostly write numbers.
FEWEST = 2_000
# How far an element lies from the middle, as a part of its length: by position, and in
# a direction of its own, so that no two lie nearly at one point.
_SPREAD, _ALONE = 0.08, 0.14
_BY_KIND, _BY_DIGIT = 4.0, 0.5
_DECADE = 40.0  # years between two years that are as unlike as 10 and 100
_SEED = 97


def counts(total: float, names: Sequence[str] = NAMES) -> dict[str, float]:
    """Divide the count of all numbers among elements by their public shares."""
    shares = {e.name: e.share for e in ELEMENTS if e.name in names}
    every = sum(shares.values())
    return {name: total * share / every for name, share in shares.items()}


def positions() -> Floats:
    """Return where each of ELEMENTS lies, (97, q): near ones may stand for each other.

    Kinds are equally far from one another, NUMBER less far from all; within a kind the
    number of digits and the logarithm decide, of years the year.
    """
    kinds = sorted({element.kind for element in ELEMENTS[1:]})
    rows = np.zeros((len(ELEMENTS), len(kinds) + 3))
    for row, element in zip(rows, ELEMENTS, strict=True):
        middle = max((element.first + element.last) / 2.0, 0.5)
        if element.name != NUMBER:
            row[kinds.index(element.kind)] = _BY_KIND
        row[-3] = _BY_DIGIT * len(str(element.last))
        row[-2] = np.log10(middle)
        if element.kind == "year":
            row[-1] = (middle - 1970.0) / _DECADE
    return rows


def orders() -> NDArray[np.intp]:
    """Return for each of ELEMENTS all of them, itself first, then the nearest."""
    where = positions()
    gaps = np.linalg.norm(where[:, None, :] - where[None, :, :], axis=2)
    gaps[np.arange(len(where)), np.arange(len(where))] = -1.0
    # Rounded, so that the last bits decide nothing.
    return np.argsort(np.rint(gaps * 2.0**20), axis=1, kind="stable")


def vectors(middle: Floats) -> Floats:
    """Return a vector for each of ELEMENTS around middle (d,), NUMBER at it: (97, d).

    All have the length of middle.
    """
    width = len(middle)
    where = positions()[1:]
    where -= where.mean(axis=0)
    where /= np.sqrt((where**2).sum(axis=1).mean())
    rng = np.random.default_rng(_SEED)
    near = where @ rng.normal(size=(where.shape[1], width))
    alone = rng.normal(size=(len(where), width))
    length = float(np.linalg.norm(middle)) or 1.0
    offsets = (_SPREAD * near + _ALONE * alone) * length / np.sqrt(width)
    rows = middle + offsets
    if middle.any():
        rows *= length / np.linalg.norm(rows, axis=1)[:, None]
    return np.vstack((middle, rows))


def barred(words: Sequence[str]) -> list[int]:
    """Return the rows that no other word's order lists: all elements but NUMBER."""
    return [row for row, index in rows_in(words).items() if index]


def list_first(listing: Rows, words: Sequence[str]) -> list[int]:
    """Put numbers first in the orders (V + 1, k) of numbers; return their rows.

    What their orders listed follows, as far as there is room.
    """
    row_of = {index: row for row, index in rows_in(words).items()}
    order, elements = orders(), set(row_of.values())
    for index, row in row_of.items():
        first = [row_of[other] for other in order[index].tolist() if other in row_of]
        rest = [other for other in listing[row].tolist() if other not in elements]
        listing[row] = (first + rest)[: listing.shape[1]]
    return list(row_of.values())
