"""Characters and numbers from random integers, for forms and layouts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import numpy as np

from dptext.randomness import RandomBits

DIGITS = "0123456789"
# Without vowels there are no words, without K and S no symbols of the extreme right.
CONSONANTS = "BCDFGHJLMNPQRTVWXZ"
# Years that are written without a window.
YEARS = (1950, 2029)
# Lanes that are drawn at a time once a row is used up.
_MORE = 8


class Stream(Iterator[int]):
    """64-bit integers for a piece: a pre-drawn row, then further lanes."""

    def __init__(
        self, bits: RandomBits, number: int, row: Iterable[int], lane: int
    ) -> None:
        """Continue with lanes from `lane` on once the row is used up."""
        self._bits, self._number, self._lane = bits, number, lane
        self._row = iter(row)

    def __next__(self) -> int:
        for integer in self._row:
            return integer
        one = self._bits.take(np.array([self._number]))
        self._row = iter(one.integers(self._lane, _MORE)[0].tolist())
        self._lane += _MORE
        return next(self._row)


class Integers:
    """Draws bounded integers, characters etc. from 64-bit integers."""

    def __init__(
        self, integers: Iterator[int], years: tuple[int, int] | None = None
    ) -> None:
        self._integers = integers
        #: The first and the last year that may be written; None: any usual one.
        self.years = years

    def below(self, bound: int) -> int:
        """Return an integer below a bound, uniform up to bound / 2^64."""
        return next(self._integers) * bound >> 64

    def between(self, first: int, last: int) -> int:
        """Return an integer from first to last, inclusive."""
        return first + self.below(last - first + 1)

    def characters(self, choices: str, count: int = 1) -> str:
        """Return `count` random characters from the choices."""
        return "".join(choices[self.below(len(choices))] for _ in range(count))


def only_digits(text: str) -> str:
    """Return the digits of a text."""
    return "".join(filter(str.isdecimal, text))


def shape(text: str) -> str:
    """Replace each digit by 1 and each letter by A or a; others stay."""
    plain = re.sub("[0-9]", "1", text)
    return re.sub("[a-z]", "a", re.sub("[A-Z]", "A", plain))


def put(layout: str, characters: str) -> str:
    """Replace a shape's letters and digits by characters, in order."""
    fill = iter(characters)
    return re.sub("[Aa01]", lambda _: next(fill), layout)


def numeric_shape(text: str) -> str:
    """Replace digits by 1, and a leading zero of the first number by 0."""
    first = re.search("[0-9]", text)
    digits = re.sub("[0-9]", "1", text)
    if first is None or first[0] != "0":
        return digits
    return digits[: first.start()] + "0" + digits[first.end() :]


def draw_numbers(layout: str, draws: Integers, *, each: bool = False) -> str:
    """Draw the digits of a numeric shape; the first is 0 only if the shape has 0.

    With each, this also holds for every number of several digits.
    """
    out, start, first = [], True, True
    for position, character in enumerate(layout):
        if character not in "01":
            out.append(character)
            start = start or each
            continue
        several = layout[position + 1 : position + 2] in ("0", "1")
        if character == "0":
            out.append("0")
        elif first or (each and start and several):
            out.append(draws.characters(DIGITS[1:]))
        else:
            out.append(draws.characters(DIGITS))
        start = first = False
    return "".join(out)


def draw_digits(body: str, draws: Integers) -> str:
    """Replace each digit of a number randomly, in chunks of nine."""
    digits: Iterator[str] = iter(())

    def fill(match: re.Match[str]) -> str:
        nonlocal digits
        for digit in digits:
            return digit
        digits = iter(f"{draws.below(10**9):09d}")
        return next(digits)

    return re.sub(r"\d", fill, body)
