"""What pairs of texts keep, word by word: PP, LOW, CS and the share of English words.

Texts are split as dptext splits them; memory does not grow with their number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dptext import models
from dptext.measures.alignment import Aligned, Aligner, spelled
from dptext.measures.english import EnglishShare
from dptext.metrics import rare_words
from dptext.metrics.similarity import ENCODER, cosines, text_vectors, weighted
from dptext.tokens import numbers
from dptext.tokens.policy import Policy
from dptext.types import Ids, Lexicon, Words


@dataclass(frozen=True, slots=True)
class Kept:
    """Figures of pairs of texts.

    perturbed PP, of the words to be replaced (numbers and identifiers among them) the
    share that is spelled otherwise, capitals apart, in the texts with equally many
    words before and after (compared); low, of the 1000 least frequent vocabulary words
    of the originals the share that still occurs (dptext.metrics.rare_words); similarity
    CS, the mean cosine of texts before and after by encoder; english, the share of
    words that the lexicon holds, before and after. null: no word.
    """

    texts: int
    compared: int
    words: int
    perturbed: float | None
    low: float | None
    similarity: float | None
    encoder: str
    english_before: float | None
    english: float | None


class Meter:
    """Take pairs of texts in, batch by batch; policy is that of the run, if known."""

    def __init__(
        self,
        lexicon: Lexicon,
        encoder: str | None = None,
        policy: Policy | None = None,
    ) -> None:
        self._aligner = Aligner(lexicon, policy)
        self._numbers = numbers.rows(lexicon)
        self._encoder = encoder
        self._table = weighted(lexicon) if encoder is None else None
        self._rare = rare_words.Meter(lexicon)
        nothing = np.empty(0, np.int32)
        self._rare_counts = self._rare.count(nothing, nothing)
        self._english = (EnglishShare(), EnglishShare())
        self._texts = self._compared = self._words = self._same = 0
        self._cosines, self._measured = 0.0, 0

    def add(self, before: Sequence[str], after: Sequence[str]) -> Aligned:
        """Take a batch in and return its words in pairs."""
        found = self._aligner(before, after)
        self._texts += len(before)
        self._compared += found.compared
        self._words += len(found.mine)
        self._same += self._unchanged(found)
        after_ids = found.after.ids[found.after.ids >= 0]
        self._rare_counts = self._rare.merge(
            self._rare_counts, self._rare.count(found.before.ids, after_ids)
        )
        for count, words in zip(
            self._english, (found.before, found.after), strict=True
        ):
            count.add(words)
        of_texts = cosines(
            self._meanings(before, found.before), self._meanings(after, found.after)
        )
        self._cosines += float(of_texts.sum())
        self._measured += len(of_texts)
        return found

    def result(self) -> Kept:
        """Return the figures so far."""
        return Kept(
            texts=self._texts,
            compared=self._compared,
            words=self._words,
            perturbed=1.0 - self._same / self._words if self._words else None,
            low=self._rare.share(self._rare_counts),
            similarity=self._cosines / self._measured if self._measured else None,
            encoder=self._encoder or ENCODER,
            english_before=self._english[0].result(),
            english=self._english[1].result(),
        )

    def _unchanged(self, found: Aligned) -> int:
        x: Ids = found.before.ids[found.mine]
        y: Ids = found.after.ids[found.other]
        named = (x >= 0) & ~np.isin(x, self._numbers)
        # The rest has no row of its own; only its letters tell.
        rest = np.flatnonzero(~named & (x == y))
        letters = zip(
            spelled(found.before, found.mine[rest]),
            spelled(found.after, found.other[rest]),
            strict=True,
        )
        return int(np.count_nonzero(named & (x == y))) + sum(a == b for a, b in letters)

    def _meanings(self, texts: Sequence[str], words: Words) -> NDArray[np.float64]:
        if self._table is not None:
            return text_vectors(self._table, words.texts, words.ids, len(texts))
        assert self._encoder is not None
        folder = models.need_sentence_model(self._encoder, "CS")
        encode = models.sentence_model(folder, "cpu").encode
        found: NDArray[np.float64] = np.asarray(
            encode(list(texts), show_progress_bar=False), np.float64
        )
        return found
