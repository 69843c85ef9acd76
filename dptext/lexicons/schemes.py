"""How the words of an imported lexicon are arranged and ordered: one class each.

By distance; with a number of outputs by cosine less hubness and frequency
(dptext.lexicons.cosine); with WordNet as in the built-in lexicon
(dptext.lexicons.english).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dptext.lexicons import cosine, numbers
from dptext.lexicons.orders import build_orders, far_of
from dptext.lexicons.search import Progress, silent

_BY_COSINE = (
    "the word itself, then the outputs that stand best for it: cosine less hubness, "
    "frequency"
)


class Arrangement(NamedTuple):
    """Words as written and their counts; the order in which they stand; |outputs|."""

    written: list[str]
    counts: NDArray[np.float64]
    order: NDArray[np.intp]
    outputs: int


class Entries(NamedTuple):
    """Words (V,), vectors (V + 1, d), counts (V,); outputs, how many, come first."""

    words: tuple[str, ...]
    vectors: NDArray[np.floating]
    counts: NDArray[np.float64]
    outputs: int


class Ordered(NamedTuple):
    """What a scheme adds to words and vectors: see dptext.types.Lexicon.

    far is None where orders are not by distance: what they lack may be at any distance.
    meta is laid over that of the source; arrays are the optional ones, by name.
    """

    orders: NDArray[np.integer]
    far: NDArray[np.float32] | None = None
    meta: Mapping[str, object] = {}
    arrays: Mapping[str, NDArray[Any]] = {}


class Scheme(ABC):
    """How words are arranged and ordered; outputs: how many are wanted, None: all.

    PRIOR_NOTE is what the arrangement changes in the counts, for meta.
    """

    PRIOR_NOTE: ClassVar[str] = ""
    outputs: int | None

    def arrange(self, words: Sequence[str], counts: NDArray[np.float64]) -> Arrangement:
        """Put words in order of descending count (> 0); outputs stand first."""
        order = np.argsort(-counts, kind="stable")
        return Arrangement(list(words), counts, order, len(words))

    @abstractmethod
    def ordered(
        self, entries: Entries, listed: int, progress: Progress = silent
    ) -> Ordered:
        """Return orders of at most listed words; the last row of vectors may be set."""


@dataclass(frozen=True)
class ByDistance(Scheme):
    """Orders of all words by distance."""

    outputs: None = field(default=None, init=False)

    def ordered(
        self, entries: Entries, listed: int, progress: Progress = silent
    ) -> Ordered:
        """List the nearest words."""
        words, vectors, _, _ = entries
        barred, listed = numbers.barred(words), min(listed, len(words))
        orders, far = build_orders(vectors, listed, barred=barred, progress=progress)
        for row in numbers.list_first(orders, words):
            far[row] = far_of(vectors, row, orders[row])
        return Ordered(orders, far)


@dataclass(frozen=True)
class ByCosine(Scheme):
    """Orders of the first so many words by cosine less hubness and frequency."""

    outputs: int

    def ordered(
        self, entries: Entries, listed: int, progress: Progress = silent
    ) -> Ordered:
        """List the words that stand best for each."""
        words, vectors, counts, outputs = entries
        barred = numbers.barred(words)
        outputs = min(self.outputs, outputs)
        listed = min(listed, outputs - len(barred))
        orders = cosine.orders(vectors, counts, outputs, listed, barred, progress)
        numbers.list_first(orders, words)
        return Ordered(orders, meta={"outputs": outputs, "orders": _BY_COSINE})
