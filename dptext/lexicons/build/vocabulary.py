"""Words of a file of vectors: how they are written, and which of them may be outputs.

A word may be an output if
- it is a function word, number word, interjection or abbreviation of the hand-written
  lists; letters and the particles of foreign names there ("von") may not; or
- it is a common name of the hand-written lists; or
- it is a lemma of WordNet or a form or derivation of one, without digits; one of up to
  three letters, or written with several capitals ("HTTP"), only if it is also among the
  words of the built-in lexicon and in two glosses; or
- it is used in glosses only ("women"), among the words of the built-in lexicon, and no
  name.
All else (markup, misspellings, other languages), however frequent in the file, is
known and is replaced, but never written.
"""

from __future__ import annotations

from dptext.lexicons.build import closed, names, selection
from dptext.lexicons.build.resources import English
from dptext.tokens.numbers import NAMES
from dptext.tokens.regex import key_of

_SHORT = 3
_USED = 2.0  # a definition counts 1, an example 2
_LETTERS = frozenset({"a", "i"})


class Vocabulary:
    """The rules, with what they look up. size: words of the built-in lexicon."""

    def __init__(self, english: English, size: int) -> None:
        self._english = english
        self._closed = {key_of(word): word for word in closed.frequencies()}
        self._closed |= {name: name for name in NAMES}
        letters = {key for key in self._closed if len(key) == 1} - _LETTERS
        self._never = letters | _only_particles()
        self._names = {key_of(name): name for group in names.names() for name in group}
        chosen = selection.select(
            english.wordnet, english.links, english.evidence, english.weights, size
        )
        self._chosen = frozenset(key_of(word) for word in chosen)

    def written(self, word: str) -> str:
        """Return a word of the file as the built-in lexicon would write it."""
        key = key_of(word)
        if key in self._closed:
            return self._closed[key]
        if key in self._names or key in self._english.evidence.written:
            return selection.shown(key, self._english.evidence, self._names)
        return word

    def may_be_written(self, word: str) -> bool:
        """Tell whether a word, as `written` returns it, may be an output."""
        key = key_of(word)
        if key in self._never:
            return False
        if key in self._closed or key in self._names:
            return True
        if not selection.fits(key):
            return False
        if key not in self._english.links:
            return key in self._chosen and word == key
        if len(key) > _SHORT and sum(map(str.isupper, word)) < 2:
            return True
        return key in self._chosen and self._english.evidence.used[key] >= _USED


def _only_particles() -> set[str]:
    found = {name: set(map(key_of, pairs)) for name, pairs in closed.classes().items()}
    particles = found.pop("particle")
    return particles.difference(*found.values())
