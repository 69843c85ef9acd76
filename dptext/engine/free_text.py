"""Short free text: subjects of messages, comments and reasons of a few words.

Unlike codes, states and names, such values are phrases: several words, and a later one
in small letters. A field that is named after free text may repeat its values.
"""

from __future__ import annotations

import re

_WORD = re.compile(r"[^\W\d_]\S*")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\W_]+")
# Small words in the names of people and places.
_PARTICLES = frozenset(
    "de da do dos del della di du la le van von der den bin al y".split()
)
# What fields of free text are called, as the last word of a name.
_NAMES = frozenset(
    "answer answers body comment comments complaint content description detail details "
    "explanation feedback issue memo message note notes opinion query question reason "
    "remark remarks request review story subject summary symptom symptoms text "
    "title".split()
)
_SHARE = 0.3  # of the values must be phrases
_OF_NAMED = 0.2  # of those of a field that is named after free text
_FEW = 3  # different phrases; a field of states, such as "open", has no more
_REMEMBERED = 100


class Phrases:
    """Counts the values of a field that are phrases."""

    def __init__(self) -> None:
        self._texts = self._phrases = 0
        self._different: set[int] = set()

    def add(self, text: str) -> None:
        """Count a value, "" for one of no text."""
        if not text.strip():
            return
        self._texts += 1
        later = _WORD.findall(text[:1000])[1:]
        if any(word[0].islower() and word not in _PARTICLES for word in later):
            self._phrases += 1
            if len(self._different) < _REMEMBERED:
                self._different.add(hash(text))

    def are_text(self, name: str, *, repeated: bool) -> bool:
        """Tell whether the field of a name holds free text.

        repeated: few of its values differ.
        """
        words = [word.lower() for word in _HUMP.split(name) if word]
        is_named = bool(words) and words[-1] in _NAMES
        if is_named and len(self._different) >= _FEW:
            return self._phrases >= _OF_NAMED * self._texts
        return not repeated and 0 < _SHARE * self._texts <= self._phrases
