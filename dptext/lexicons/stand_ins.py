"""A neutral word in the place of each word of news that may be written.

It is the commonest of the first replacements that the word of news lists which are of
the same part of speech and no delicate words, of no closed class, not vulgar and no
function words.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from dptext import lexicons
from dptext.lexicons import closed_classes, word_classes
from dptext.tokens import language_data
from dptext.types import Ids, Lexicon

# Of so many replacements the commonest: one that is near, and says little.
_FIRST = 12


@lru_cache(maxsize=2)
def for_news(lexicon: Lexicon) -> Ids:
    """Return the word to write in the place of each word: (V,) int32.

    It is the word itself where it is no word of news, or lists no neutral word.
    """
    classes = word_classes.classes_of_lexicon(lexicon)
    neutral = ~(classes.delicate | closed_classes.written_as_drawn(lexicon))
    neutral &= ~lexicons.vulgar_rows(lexicon)[:-1]
    row_of = lexicon.row_of
    function_words = language_data.stop_words(lexicon.language) & row_of.keys()
    neutral[[row_of[word] for word in function_words]] = False
    neutral &= np.array(["<" not in word for word in lexicon.words])
    rows = np.arange(len(lexicon.words), dtype=np.int32)
    for row in np.flatnonzero(classes.news).tolist():
        listed = np.asarray(lexicon.orders[row], np.int64)
        fitting = neutral[listed] & (listed != row)
        if lexicon.parts is not None:
            fitting &= lexicon.parts[listed] == lexicon.parts[row]
        # Words stand by descending frequency.
        rows[row] = min(listed[fitting][:_FIRST].tolist(), default=row)
    rows.setflags(write=False)
    return rows
