"""Vectors of English words made a lexicon by the scoring of the built-in one.

Words, their vectors and their counts come from a file, everything else from WordNet and
lists written by hand: which words may be outputs, how names are written, orders,
synonyms, parts of speech, information content.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dptext.errors import LexiconError, UsageError
from dptext.lexicons import numbers, store
from dptext.lexicons.english import orders
from dptext.lexicons.english.words import Vocabulary, arranged, load, only_names
from dptext.lexicons.importing import Arrangement, Entries, Ordered, Scheme
from dptext.lexicons.orders import unit
from dptext.lexicons.search import Progress, silent
from dptext.lexicons.store import packaged_folder
from dptext.tokens.regex import key_of
from dptext.types import ENGLISH

# Raised when the same file and database would give another lexicon.
VERSION = 2
LICENCE = "LICENSE.wordnet"
OUTPUTS = 8_000  # of the built-in lexicon
ORDERS = (
    "the word itself, then the outputs that stand best for it: closeness of meaning, "
    "synonyms, grammar, subject, polarity and frequency; no antonyms"
)
_UNKNOWN = (
    "row V stands for every unknown word: the mean direction of the commonest outputs "
    "that only name a person or a place, at their mean length; these come first in its "
    "order, by descending count"
)
_LICENCES = (
    "words and vectors: unknown (that of the source); orders, synonyms, parts, "
    f"information content: WordNet 3.0 licence, {LICENCE} beside the data"
)


def licence() -> Path:
    """Return the file that goes beside data made of WordNet."""
    return packaged_folder() / LICENCE


class ByWordNet(Scheme):
    """WordNet and the rules; as many outputs as the built-in lexicon if not given."""

    PRIOR_NOTE = "; words that are no outputs count no more than the last output"
    language = ENGLISH

    def __init__(self, wordnet: Path, outputs: int | None = None) -> None:
        if outputs == 0:
            msg = "orders by WordNet are not by distance; give other outputs than 0"
            raise UsageError(msg)
        self._english = load(wordnet)
        builtin = store.words_of(packaged_folder())
        self._written = {key_of(word): word for word in builtin}
        self._vocabulary = Vocabulary(self._english, frozenset(builtin[:OUTPUTS]))
        self.outputs: int = OUTPUTS if outputs is None else outputs

    def arrange(self, words: Sequence[str], counts: NDArray[np.float64]) -> Arrangement:
        """Put words in order of descending count (> 0).

        But words that are no outputs count at most as much as the last output and stand
        behind it.
        """
        written = [self._written.get(key_of(word), word) for word in words]
        may = np.array([self._vocabulary.may_be_written(word) for word in written])
        if not may.any():
            msg = "no word of the file is an English one; import it without --wordnet"
            raise LexiconError(msg)
        order, capped = arranged(counts, may, self.outputs)
        return Arrangement(written, capped, order, min(self.outputs, int(may.sum())))

    def ordered(
        self, entries: Entries, listed: int, progress: Progress = silent
    ) -> Ordered:
        """List the words that stand best for each by WordNet; set the unknown row."""
        words, vectors, counts, outputs = entries
        english, size = self._english, len(words)
        names = only_names(english, words[:outputs])[:listed]
        if names:
            vectors[size] = _middle(vectors[names].astype(np.float64))
        figures, arrays = orders.figures_of(english, words, unit(vectors), counts)
        # No word lists its opposites.
        opposites = max(sum(y < outputs for y in rows) for rows in figures.antonyms)
        few = min(listed, outputs - len(figures.barred) - opposites)
        if few <= 1:
            raise LexiconError(
                f"{outputs} English words of the file and --listed {listed} make no "
                "orders; take more of both"
            )
        listing = orders.orders(figures, outputs, few - 1, progress=progress)
        numbers.list_first(listing, words)
        last = orders.order_of_unknown(figures, outputs, few, first=names[:few])
        meta = {
            "language": ENGLISH,
            "licence": _LICENCES,
            "unknown": _UNKNOWN,
            "english": VERSION,
            "wordnet_sha256": english.digest,
            "orders": ORDERS,
            "outputs": outputs,
        }
        return Ordered(
            np.vstack((listing, last.astype(listing.dtype))), None, meta, arrays
        )


def _middle(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean direction at the mean length, as the built-in lexicon has it."""
    lengths = np.linalg.norm(rows, axis=1)
    mean = (rows / np.maximum(lengths, np.finfo(float).tiny)[:, None]).mean(axis=0)
    length = np.linalg.norm(mean)
    return np.asarray(mean * (lengths.mean() / length) if length else mean)
