"""Which copied fields repeat what stands in the private ones: a look at a sample.

A field is named when the words of it stand in the private text of the same record far
more often than in that of the record before.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

SAMPLE = 200  # records that are looked at
_CHARACTERS = 20_000  # of each text
_FIELDS = 200  # of each record
_SHARE = 0.25  # of its words that a field must share to be named
_LEAST = 5  # words that it must share in all
_WORD = re.compile(r"\w{4,}")


class Copies:
    """Counts, for each copied field, words that the private texts hold too."""

    def __init__(self) -> None:
        self.records = 0
        self._words: Counter[str] = Counter()
        self._shared: Counter[str] = Counter()
        self._by_chance: Counter[str] = Counter()
        self._before: set[str] = set()

    def add(self, texts: Sequence[str], others: Iterable[tuple[str, str]]) -> None:
        """Take in a record: its private texts, and the fields that are copied."""
        private = set().union(*map(_words, texts)) if texts else set()
        for number, (name, text) in enumerate(others):
            if number >= _FIELDS:
                break
            words = _words(text)
            self._words[name] += len(words)
            self._shared[name] += len(words & private)
            self._by_chance[name] += len(words & self._before)
        self._before = private
        self.records += 1

    def names(self) -> list[str]:
        """Return the names of the fields that repeat private text."""
        return [
            name
            for name, shared in self._shared.items()
            if shared >= max(_LEAST, _SHARE * self._words[name])
            and shared >= 2 * self._by_chance[name]
        ]


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text[:_CHARACTERS].lower()))
