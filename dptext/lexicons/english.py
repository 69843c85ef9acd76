"""Vectors of English words made a lexicon by the scoring of the built-in one.

Words, their vectors and their counts come from a file, everything else from WordNet and
the hand-written lists (dptext.lexicons.build): which words may be outputs, how names
are written, orders, synonyms, parts of speech, information content. Needs scipy.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dptext.errors import LexiconError
from dptext.lexicons import locations, numbers
from dptext.lexicons.build import figures, ordering, resources
from dptext.lexicons.build.assemble import ORDERS, OUTPUTS, SIZE
from dptext.lexicons.build.vocabulary import Vocabulary
from dptext.lexicons.orders import far_of_all, measure, unit
from dptext.types import Lexicon

# Raised when the same file and database would give another lexicon.
VERSION = 2
LICENCE = "LICENSE.wordnet"
_CAPPED = "; words that are no outputs count no more than the last output"
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
    return locations.packaged() / LICENCE


class Adopter:
    """What makes English lexicons: the database, the rules, the number of outputs."""

    def __init__(self, wordnet: Path, outputs: int | None = None) -> None:
        self._english = resources.load(wordnet, "dptext lexicon import --wordnet")
        self._vocabulary = Vocabulary(self._english, SIZE)
        self.most = OUTPUTS if outputs is None else outputs

    def arrange(
        self, words: Sequence[str], counts: NDArray[np.float64]
    ) -> tuple[list[str], NDArray[np.float64], NDArray[np.intp], int]:
        """Return words as written, counts, their order, and how many are outputs.

        The order is by descending count, but that words that are no outputs count at
        most as much as the last output and stand behind it. Counts are positive.
        """
        written = [self._vocabulary.written(word) for word in words]
        may = np.array([self._vocabulary.may_be_written(word) for word in written])
        first = np.argsort(-counts, kind="stable")
        chosen = first[may[first]][: self.most]
        if not len(chosen):
            msg = "no word of the file is an English one; import it without --wordnet"
            raise LexiconError(msg)
        inside = np.zeros(len(counts), np.bool_)
        inside[chosen] = True
        capped = np.where(may, counts, np.minimum(counts, counts[chosen[-1]]))
        # The last key decides first; equals stand as they stood in the file.
        order = np.lexsort((~inside, -capped))
        return written, capped, order, len(chosen)

    def lexicon(
        self,
        name: str,
        words: tuple[str, ...],
        vectors: NDArray[Any],
        counts: NDArray[np.float64],
        meta: dict[str, Any],
        outputs: int,
        listed: int,
    ) -> Lexicon:
        """Return the lexicon of words arranged so; the last row of vectors is set."""
        english, size = self._english, len(words)
        found = figures.only_names(english, words[:outputs])[:listed]
        if found:
            vectors[size] = _middle(vectors[found].astype(np.float64))
        told = figures.tell(english, words, unit(vectors), counts)
        barred = len(told.figures.barred)
        few = min(listed, outputs - barred - _opposites(told.figures, outputs))
        if few <= 1:
            msg = (
                f"{outputs} English words of the file and --listed {listed} make no "
                "orders; take more of both"
            )
            raise LexiconError(msg)
        listing = ordering.orders(told.figures, outputs, few - 1)
        numbers.list_first(listing, words)
        last = ordering.order_of_unknown(told.figures, outputs, few, first=found[:few])
        orders = np.vstack((listing, last.astype(listing.dtype)))
        return Lexicon(
            name=name,
            words=words,
            vectors=vectors,
            counts=counts,
            orders=orders,
            far=far_of_all(vectors, orders),
            digest="",
            meta={
                **meta,
                "language": "en",
                "licence": _LICENCES,
                "prior": f"{meta['prior']}{_CAPPED}",
                "unknown": _UNKNOWN,
                "english": VERSION,
                "wordnet_sha256": english.digest,
                "orders": ORDERS,
                "listed": few,
                "outputs": outputs,
                "geometry": measure(vectors),
            },
            synonym_ends=told.synonym_ends,
            synonyms=told.synonyms,
            information_content=told.information_content,
            parts=told.parts,
        )


def _middle(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean direction at the mean length, as the built-in lexicon has it."""
    lengths = np.linalg.norm(rows, axis=1)
    mean = (rows / np.maximum(lengths, np.finfo(float).tiny)[:, None]).mean(axis=0)
    whole = np.linalg.norm(mean)
    return np.asarray(mean * (lengths.mean() / whole) if whole else mean)


def _opposites(given: ordering.Figures, outputs: int) -> int:
    """Return how many outputs are opposites of one word at most: none is listed."""
    return max(sum(row < outputs for row in rows) for rows in given.antonyms)
