"""Closed classes over the rows of a lexicon; their draws are written unchanged.

Names, the nouns that unknown words become, places, organisations, months, weekdays,
numbers in words, negation, words of a gender (dptext/data/words/closed_classes.txt).
A decoder that put another word in their place, or put them where another word was
drawn, would guess at an identity, lose a negation or turn a gender.
"""

from __future__ import annotations

from functools import cache, lru_cache

import numpy as np

from dptext.lexicons.word_classes import language_of_lists
from dptext.settings import digest_of_data
from dptext.tokens.language_data import closed_classes
from dptext.tokens.regex import key_of, keys_of_words
from dptext.types import Lexicon, Mask

# Lists of the file that affect reading, not writing.
_READING = ("peoples",)
# The nouns that unknown words become are other words' replacements, too.
_OPEN = ("unknown",)


def written_as_drawn(lexicon: Lexicon) -> Mask:
    """Tell which words are written where they were drawn and nowhere else: (V,)."""
    return _rows(lexicon.words, language_of_lists(lexicon), _READING)


def sealed_words(lexicon: Lexicon) -> Mask:
    """Tell which words occur only in orders of the same class: (V,)."""
    return _rows(lexicon.words, language_of_lists(lexicon), (*_READING, *_OPEN))


@lru_cache(maxsize=8)
def _rows(words: tuple[str, ...], language: str, but: tuple[str, ...]) -> Mask:
    listed = {
        key_of(word)
        for name, group in closed_classes(language).items()
        if name not in but
        for word in group
    }
    rows = np.array([key in listed for key in keys_of_words(words)], bool)
    rows.setflags(write=False)
    return rows


@cache
def digest(language: str) -> str:
    """Return the digest of the lists of a language: outputs depend on them."""
    return digest_of_data([*closed_classes(language).items()])
