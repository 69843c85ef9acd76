"""Which words may be outputs: written in the place of another.

A word may be an output if
- it is a function word, number word, interjection or abbreviation of the hand-written
  lists; letters and the particles of foreign names there ("von") may not; or
- it is a common name of the hand-written lists; or
- it is a lemma of WordNet or a form or derivation of one, without digits; one of up to
  three letters, or written with several capitals ("HTTP"), only if it is used in two
  glosses; or
- it is one of the words that are known from elsewhere to be English.
All else (markup, misspellings, other languages), however frequent in a file, is known
and is replaced, but never written; so are vulgar words, of whichever list.
"""

from __future__ import annotations

from collections.abc import Container

from dptext.lexicons import vulgar
from dptext.lexicons.build import closed, names, selection
from dptext.lexicons.build.resources import English
from dptext.tokens.numbers import NAMES
from dptext.tokens.regex import key_of

_SHORT = 3
_USED = 2.0  # a definition counts 1, an example 2
_LETTERS = frozenset({"a", "i"})


class Vocabulary:
    """The rules, with what they look up. also: words, as written, that are English."""

    def __init__(self, english: English, also: Container[str] = frozenset()) -> None:
        self._english = english
        self._also = also
        self._listed = {key_of(word) for word in closed.frequencies()} | set(NAMES)
        letters = {key for key in self._listed if len(key) == 1} - _LETTERS
        self._never = letters | _only_particles() | vulgar.WORDS
        self._listed |= {key_of(name) for group in names.names() for name in group}

    def may_be_written(self, word: str) -> bool:
        """Tell whether a word, as it is written, may be an output."""
        key = key_of(word)
        if key in self._never:
            return False
        if key in self._listed:
            return True
        if not selection.fits(key):
            return False
        if len(key) >= _SHORT and word in self._also:
            return True
        if key not in self._english.links:
            return False
        plain = len(key) > _SHORT and sum(map(str.isupper, word)) < 2
        return plain or self._english.evidence.used[key] >= _USED


def _only_particles() -> set[str]:
    classes = {
        name: set(map(key_of, pairs)) for name, pairs in closed.classes().items()
    }
    particles = classes.pop("particle")
    return particles.difference(*classes.values())
