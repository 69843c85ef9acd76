"""The elements for numbers in a lexicon: public counts, vectors and orders.

What stands for a number are other numbers, those of similar form and size first. For
this every element has a position: its kind, its digits, its size. Vectors lie closely
around one vector: mechanisms that go by distance write numbers for numbers, too. In the
orders of all other words NUMBER alone is listed. All of it follows from
dptext.tokens.numbers and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dptext.tokens.numbers import ELEMENTS, NAMES
from dptext.tokens.numbers import names as names
from dptext.tokens.numbers import rows_in as rows_in
from dptext.types import NUMBER

# Fewer words than this have NUMBER alone: a floor over them would mostly write numbers.
FEWEST = 2_000
# How far an element lies from the middle, as a part of its length: by position, and in
# a direction of its own, so that no two lie nearly at one point.
_SPREAD, _ALONE = 0.08, 0.14
_KIND, _DIGIT = 4.0, 0.5
_DECADE = 40.0  # years between two years that are as unlike as 10 and 100
_SEED = 97


def counts(total: float, names: Sequence[str] = NAMES) -> dict[str, float]:
    """Divide the count of all numbers among elements by their public shares."""
    shares = {e.name: e.share for e in ELEMENTS if e.name in names}
    return {
        name: total * share / sum(shares.values()) for name, share in shares.items()
    }


def positions() -> NDArray[np.float64]:
    """Return where each of ELEMENTS lies, (97, q): near ones may stand for each other.

    Kinds are equally far from one another, NUMBER less far from all; within a kind the
    number of digits and the logarithm decide, of years the year.
    """
    kinds = sorted({element.kind for element in ELEMENTS[1:]})
    rows = np.zeros((len(ELEMENTS), len(kinds) + 3))
    for row, element in zip(rows, ELEMENTS, strict=True):
        middle = max((element.first + element.last) / 2.0, 0.5)
        if element.name != NUMBER:
            row[kinds.index(element.kind)] = _KIND
        row[-3] = _DIGIT * len(str(element.last))
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


def vectors(middle: NDArray[np.float64]) -> NDArray[np.float64]:
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


def list_first(listing: NDArray[np.integer], words: Sequence[str]) -> list[int]:
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
