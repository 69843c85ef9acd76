"""Numbers as vocabulary elements: which element a number is, and how to write one.

A lexicon contains elements such as `<number 40-49>`: numbers of one form and size. A
number in a text is read as the element with its form. A drawn element is written as a
random number of its form, from bits that are independent of the original number. NUMBER
itself represents every number without an element in the lexicon. Both rules are public.

A form consists of literal characters and ranges {first-last}; numbers have at least as
many digits as `first`. A "|" separates the forms of one element. The elements are
listed in dptext/data/words/number_elements.txt. The share of a row there is divided
evenly among its elements, or, for kinds that count things, by the distribution of first
digits (Newcomb 1881, Benford).

In a lexicon the replacements of a number are numbers, those of similar form and size
first. So every element has a position: its kind, its digits, its size. Vectors lie
closely around one vector, so that mechanisms with distances replace numbers by numbers,
too. The orders of other words list only NUMBER.
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

# Lanes of 128 bits for a number: one half chooses the form, the others up to 5 ranges.
_LANES = 3
_RANGE = re.compile(r"\{(\d+)-(\d+)\}")
_DIGITS = re.compile(r"\d+")

# Kinds with a decimal point or commas, which other languages write differently.
_MARKED = ("decimal", "thousands")
# Kinds with English endings.
_IN_LETTERS = ("ordinal", "decade")
# Kinds that count things; their first digits are distributed by Benford's law.
_COUNTING = ("integer", "decimal", "thousands")
# Languages that write 3,5 and 1.000 for 3.5 and 1,000.
_COMMA = frozenset(
    "bg ca cs da de el es et fi fr hr hu id it lt lv nb nl nn no pl pt ro ru sk sl sr "
    "sv tr uk".split()
)
_BY_COMMA = re.compile(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?|\d+,\d+")
_SWAPPED = str.maketrans(".,", ",.")
# Lexicons with fewer words have only NUMBER: a floor over all elements would mostly
# write numbers.
FEWEST = 2_000
# Distance of elements from the middle, relative to its length: by position, and in a
# random direction, so that no two elements nearly coincide.
_SPREAD, _ALONE = 0.08, 0.14
# Distances between kinds, and for each digit.
_BY_KIND, _BY_DIGIT = 4.0, 0.5
# Years between two years that are as different as 10 and 100.
_DECADE = 40.0
_SEED = 97


@dataclass(frozen=True, slots=True)
class NumberPart:
    """Literal characters or, if text is empty, a range of numbers."""

    text: str
    first: int = 0
    last: int = 0
    #: Least number of digits.
    width: int = 0

    @property
    def widths(self) -> range:
        """Return the possible digit counts of numbers in the range."""
        return range(self.width, max(self.width, len(str(self.last))) + 1)

    def holds(self, digits: str) -> bool:
        """Return whether digits are a number in the range, with its digit count."""
        value = int(digits)
        wide = max(self.width, len(str(value)))
        return self.first <= value <= self.last and len(digits) == wide


@dataclass(frozen=True, slots=True)
class Element:
    """A vocabulary element for numbers."""

    #: Its word in vocabularies.
    name: str
    kind: str
    #: Its public share of all numbers.
    share: float
    forms: tuple[tuple[NumberPart, ...], ...]
    #: The smallest number at the beginning of its first form.
    first: int
    #: The largest one.
    last: int


def _parts(form: str) -> tuple[NumberPart, ...]:
    parts, end = [], 0
    for match in _RANGE.finditer(form):
        if match.start() > end:
            parts.append(NumberPart(form[end : match.start()]))
        low, high = match.groups()
        parts.append(NumberPart("", int(low), int(high), len(low)))
        end = match.end()
    if end < len(form):
        parts.append(NumberPart(form[end:]))
    return tuple(parts)


def _element(kind: str, spec: str) -> Element:
    forms = tuple(_parts(form) for form in spec.split("|"))
    first, last = (
        int(_DIGITS.findall(_fill(forms[0], ends))[0])
        for ends in zip(*((part.first, part.last) for part in forms[0]), strict=True)
    )
    label = spec.partition("|")[0]
    label = label[1:-1] if _RANGE.fullmatch(label) else label
    name = NUMBER if kind == "any" else f"<number {label}>"
    return Element(name=name, kind=kind, share=0.0, forms=forms, first=first, last=last)


def _fill(form: tuple[NumberPart, ...], numbers: Sequence[int]) -> str:
    """Write a form with numbers for its parts, ignoring those of literal parts."""
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
_INDEX = {name: position for position, name in enumerate(NAMES)}
# For numbers without an element: the last one of their kind.
_LAST_BY_KIND = {element.kind: position for position, element in enumerate(ELEMENTS)}


def names(language: str) -> tuple[str, ...]:
    """Return a language's elements: only English has ordinals and decades."""
    english = language == ENGLISH
    return tuple(e.name for e in ELEMENTS if english or e.kind not in _IN_LETTERS)


def example(word: str) -> str:
    """Return an element's first number; other words and NUMBER stay unchanged."""
    if not _INDEX.get(word):
        return word
    form = ELEMENTS[_INDEX[word]].forms[0]
    return _fill(form, [part.first for part in form])


def rows_in(words: Sequence[str]) -> dict[int, int]:
    """Map the row of each element among words to its index in ELEMENTS."""
    return {row: _INDEX[word] for row, word in enumerate(words) if word in _INDEX}


@lru_cache(maxsize=2)
def element_rows(lexicon: Lexicon) -> dict[int, int]:
    """Map the row of each element of a lexicon to its index in ELEMENTS."""
    return rows_in(lexicon.words)


def rows(lexicon: Lexicon) -> Ids:
    """Return the rows of a lexicon's elements: (m,) int32."""
    return np.array(list(element_rows(lexicon)), np.int32)


def find_element(text: str) -> int:
    """Return the index in ELEMENTS for a number from the splitter."""
    text = text.lower()
    for pattern, ranges, position in _by_shape().get(_shape(text), ()):
        match = pattern.fullmatch(text)
        if match and all(map(NumberPart.holds, ranges, match.groups())):
            return position
    return _LAST_BY_KIND.get(_kind(text), 0)


def _shape(text: str) -> str:
    """Replace each run of digits by its length."""
    return _DIGITS.sub(lambda run: f"{len(run[0])}_", text)


def _kind(text: str) -> str:
    """Return the kind of a number that matches no listed form, by its marks."""
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
    """Return the patterns, ranges and elements for each shape of a number."""
    shapes: dict[str, list[tuple[re.Pattern[str], list[NumberPart], int]]] = {}
    for position, element in enumerate(ELEMENTS):
        # Not NUMBER, the first one: the numbers that it writes have other elements.
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
    """A lexicon's number elements: looks up numbers, and writes drawn elements."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._index = element_rows(lexicon)
        known = {index: row for row, index in self._index.items()}
        self._rows = [known.get(index, known[0]) for index in range(len(ELEMENTS))]
        self._is_number = np.zeros(len(lexicon.words), bool)
        self._is_number[list(self._index)] = True
        self._comma = lexicon.language in _COMMA

    def row(self, text: str) -> int:
        """Return the row for a number from the splitter."""
        if self._comma and _BY_COMMA.fullmatch(text):
            text = text.translate(_SWAPPED)
        return self._rows[find_element(text)]

    def positions(self, ids: Ids) -> Ints:
        """Return the positions of numbers among words (n,): (m,) int64."""
        return np.flatnonzero(self._is_number[ids])

    def read(self, ids: Ids, texts: Sequence[str]) -> Ids:
        """Return the row as which each written number is read: (m,).

        Numbers written for NUMBER may be read as other elements.
        """
        rows = ids.copy()
        for index in np.flatnonzero(ids == self._rows[0]).tolist():
            rows[index] = self.row(texts[index])
        return rows

    def write(self, ids: Ids, bits: RandomBits) -> list[str]:
        """Write drawn elements (m,) as random numbers with their forms."""
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
                    text = _fill(form, numbers)
                    out[position] = text.translate(_SWAPPED) if swapped else text
        return out


def counts(total: float, names: Sequence[str] = NAMES) -> dict[str, float]:
    """Divide the count of all numbers among elements by public shares."""
    shares = {e.name: e.share for e in ELEMENTS if e.name in names}
    every = sum(shares.values())
    return {name: total * share / every for name, share in shares.items()}


def positions() -> Floats:
    """Return each element's position, (97, q): near ones replace each other.

    Kinds are equally far apart, with NUMBER between them. Within a kind, the number of
    digits and the logarithm decide; for years the year.
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
    """Return for each element all elements, itself first, then by distance."""
    points = positions()
    gaps = np.linalg.norm(points[:, None, :] - points[None, :, :], axis=2)
    gaps[np.arange(len(points)), np.arange(len(points))] = -1.0
    # Rounded, so that the order is the same on every machine.
    return np.argsort(np.rint(gaps * 2.0**20), axis=1, kind="stable")


def vectors(middle: Floats) -> Floats:
    """Return a vector for each element around middle (d,): (97, d).

    NUMBER's vector is middle itself, and all have its length.
    """
    width = len(middle)
    points = positions()[1:]
    points -= points.mean(axis=0)
    points /= np.sqrt((points**2).sum(axis=1).mean())
    rng = np.random.default_rng(_SEED)
    # A random projection of positions to d dimensions nearly keeps distances.
    near = points @ rng.normal(size=(points.shape[1], width))
    alone = rng.normal(size=(len(points), width))
    length = float(np.linalg.norm(middle)) or 1.0
    offsets = (_SPREAD * near + _ALONE * alone) * length / np.sqrt(width)
    rows = middle + offsets
    if middle.any():
        rows *= length / np.linalg.norm(rows, axis=1)[:, None]
    return np.vstack((middle, rows))


def unlisted_rows(words: Sequence[str]) -> list[int]:
    """Return rows that other words' orders must not list: all except NUMBER."""
    return [row for row, index in rows_in(words).items() if index]


def list_first(listing: Rows, words: Sequence[str]) -> list[int]:
    """Put numbers first in the orders (V + 1, k) of numbers; return their rows.

    Previously listed words follow, as far as there is room.
    """
    rows = {index: row for row, index in rows_in(words).items()}
    order, elements = orders(), set(rows.values())
    for index, row in rows.items():
        first = [rows[other] for other in order[index].tolist() if other in rows]
        rest = [other for other in listing[row].tolist() if other not in elements]
        listing[row] = (first + rest)[: listing.shape[1]]
    return list(rows.values())
