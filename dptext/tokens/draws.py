"""Random integers for what is written anew, from 64 bits each."""

from __future__ import annotations

from collections.abc import Iterator


class Draws:
    """Integers one after the other, from an iterator of 64-bit integers."""

    def __init__(self, integers: Iterator[int]) -> None:
        self._integers = integers

    def below(self, bound: int) -> int:
        """Return an integer from 0 to bound - 1, each within bound / 2^64."""
        return next(self._integers) * bound >> 64

    def between(self, first: int, last: int) -> int:
        """Return an integer from first to last."""
        return first + self.below(last - first + 1)

    def of(self, choices: str, count: int = 1) -> str:
        """Return some characters of these."""
        return "".join(choices[self.below(len(choices))] for _ in range(count))
