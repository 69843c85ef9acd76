"""English vectors with the orders of the built-in lexicon.

Words, their vectors and their counts come from a file. For words that it knows, the
built-in lexicon says how they are written, which of them may be outputs, and in which
order outputs stand best for them: by meaning and grammar, without opposites. Other
words are ordered by cosine less hubness and frequency in the vectors of the file
(dptext.lexicons.orders), which also fills orders that are too short.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dptext.errors import LexiconError, UsageError
from dptext.lexicons import numbers, store
from dptext.lexicons.importing import Scheme
from dptext.lexicons.orders import orders_by_cosine
from dptext.lexicons.search import Progress, silent
from dptext.lexicons.store import packaged_folder
from dptext.tokens.regex import keys_of
from dptext.types import ENGLISH, PARTS, Lexicon

_META = {
    "language": ENGLISH,
    "licence": "words and vectors: unknown (that of the source); orders, synonyms, "
    "parts, information content: those of the built-in lexicon, LICENSE.* beside the "
    "data",
    "orders": "the word itself, then the outputs of its order in the built-in lexicon, "
    "then others by cosine less hubness, frequency",
}


def licences() -> list[Path]:
    """Return the files that go beside data made of the built-in lexicon."""
    return sorted(packaged_folder().glob("LICENSE.*"))


class AsBuiltIn(Scheme):
    """The rules above; as many outputs as the built-in lexicon has if not fewer."""

    prior_note = "; words that are no outputs count no more than the last output"
    language = ENGLISH

    def __init__(self, outputs: int | None = None) -> None:
        if outputs == 0:
            msg = "orders of the built-in lexicon are not by distance: not outputs 0"
            raise UsageError(msg)
        self._builtin = store.load(packaged_folder(), verify=False)
        self._most = int(self._builtin.meta["outputs"])
        super().__init__(min(outputs or self._most, self._most))
        keys = keys_of(self._builtin.words)
        self._row_of = {key: row for row, key in enumerate(keys)}

    def _rows(self, words: Sequence[str]) -> NDArray[np.int64]:
        """Return the rows of words in the built-in lexicon, -1 where it has none."""
        rows = (self._row_of.get(key, -1) for key in keys_of(words))
        return np.fromiter(rows, np.int64, len(words))

    def arrange(
        self, words: Sequence[str], counts: NDArray[np.float64]
    ) -> tuple[Sequence[str], NDArray[np.float64], NDArray[np.intp]]:
        """Put words in order of descending count (> 0).

        But words that are no outputs count at most as much as the last output and stand
        behind it.
        """
        rows, named = self._rows(words), self._builtin.words
        written = [
            named[row] if row >= 0 else word
            for word, row in zip(words, rows.tolist(), strict=True)
        ]
        may = (rows >= 0) & (rows < self._most)
        order, capped = outputs_first(counts, may, self.outputs)
        return written, capped, order

    def ordered(
        self, lexicon: Lexicon, listed: int, progress: Progress = silent
    ) -> Lexicon:
        """List the built-in lexicon's outputs for each word, then those by cosine."""
        words, vectors, counts = lexicon.words, lexicon.vectors, lexicon.counts
        rows = self._rows(words)
        may = int(((rows >= 0) & (rows < self._most)).sum())
        outputs = min(self.outputs or may, may)
        barred = numbers.barred(words)
        listed = min(listed, outputs - len(barred))
        if listed <= 1:
            raise LexiconError(
                "too few words of the file are outputs of the built-in lexicon; import "
                "it without --english"
            )
        orders = orders_by_cosine(vectors, counts, outputs, listed, barred, progress)
        known = np.flatnonzero(rows >= 0)
        here = np.full(len(self._builtin.words), -1)
        here[rows[known]] = known
        for row in known.tolist():
            theirs = here[self._builtin.orders[rows[row]]]
            # A word is first in its own order, be it an output or not.
            orders[row] = _followed([row], theirs, orders[row], outputs)
        theirs = here[self._builtin.orders[-1]]
        orders[-1] = _followed([], theirs, orders[-1], outputs)
        numbers.list_first(orders, words)
        meta = {
            **lexicon.meta,
            **_META,
            "built_in": self._builtin.digest,
            "outputs": outputs,
        }
        arrays = self._arrays(rows, here, counts)
        return replace(lexicon, orders=orders, meta=meta, **arrays)

    def _arrays(
        self,
        rows: NDArray[np.int64],
        here: NDArray[np.int64],
        counts: NDArray[np.float64],
    ) -> dict[str, Any]:
        """Return what else the built-in lexicon says of the words that it has.

        rows are theirs in it, and here is where its words stand in the file, -1: not.
        """
        builtin, known = self._builtin, rows >= 0
        assert builtin.parts is not None
        assert builtin.information_content is not None
        assert builtin.synonyms is not None
        assert builtin.synonym_ends is not None
        parts = np.where(known, builtin.parts[rows], PARTS.index("other"))
        surprisal = -np.log(counts / counts.sum())
        content = np.where(known, builtin.information_content[rows], surprisal)
        # One more set of synonyms, an empty one, for words that are not known.
        sets = [*np.split(builtin.synonyms, builtin.synonym_ends[:-1]), []]
        alike = [here[sets[row]] for row in rows.tolist()]
        synonyms = [others[others >= 0] for others in alike]
        return {
            "parts": parts.astype(np.uint8),
            "information_content": content.astype(np.float32),
            "synonym_ends": np.cumsum([*map(len, synonyms)]).astype(np.int32),
            "synonyms": np.concatenate(synonyms).astype(np.int32),
        }


def _followed(
    first: list[int],
    theirs: NDArray[np.int64],
    others: NDArray[np.integer],
    outputs: int,
) -> list[int]:
    """Return an order as long as others: first, outputs among theirs, then others."""
    inside = theirs[(theirs >= 0) & (theirs < outputs)]
    distinct = dict.fromkeys([*first, *inside.tolist(), *others.tolist()])
    return [*distinct][: len(others)]


def outputs_first(
    counts: NDArray[np.float64],
    may: NDArray[np.bool_],
    outputs: int | None,
    always: int | None = None,
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the order in which words stand, and their counts: (V,), (V,).

    By descending count, outputs first. Words that are no outputs count no more than
    the last output; the words from `always` on are outputs and count no less.
    """
    forced = np.arange(len(counts)) >= (len(counts) if always is None else always)
    first = np.lexsort((-counts, ~forced))
    chosen = first[may[first]][:outputs]
    inside = np.zeros(len(counts), np.bool_)
    inside[chosen] = True
    least = counts[chosen][~forced[chosen]].min()
    capped = np.where(inside, np.maximum(counts, least), np.minimum(counts, least))
    return np.lexsort((~inside, -capped)), capped
