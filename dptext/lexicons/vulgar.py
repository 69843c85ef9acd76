"""Words that are not written in the place of others: vulgar ones, and insults.

The built-in lexicon, and imports with English orders, know them and never draw them; a
decoder does not write them. They remain candidates of what a word was.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dptext.tokens.word_lists import vulgar_words
from dptext.types import ENGLISH, Lexicon


def rows(lexicon: Lexicon) -> NDArray[np.bool_]:
    """Tell which words of a lexicon, and the unknown word, are such: (V + 1,)."""
    vulgar = np.zeros(len(lexicon.words) + 1, bool)
    row_of = lexicon.row_of
    vulgar[[row_of[word] for word in vulgar_words(ENGLISH) & row_of.keys()]] = True
    return vulgar
