"""What pairs of texts keep: PP, LOW, CS and the share of English words.

By the meters of a run (dptext.metrics), from the words that stand for one another; only
what no run measures is measured here. Memory does not grow with the number of texts but
by 8 bytes for each text where an encoder is given.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dptext import models
from dptext.measures.alignment import Aligned, Aligner
from dptext.measures.all_metrics import AllMetrics
from dptext.measures.english import EnglishShare
from dptext.metrics import Batch, Figure, perturbation, rare_words, similarity
from dptext.tokens.policy import Policy
from dptext.types import Lexicon


@dataclass(frozen=True, slots=True)
class Kept:
    """Figures of pairs of texts.

    compared counts the texts with equally many words before and after; of these are
    metrics, the figures of each metric by its heading, as in the report of a run.
    perturbed is PP, low LOW, words how many words these are of. similarity is CS by
    encoder: that of metrics, or by a sentence encoder the mean over all texts. english
    is the share of words that the lexicon holds, before and after. null: no word.
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
    metrics: dict[str, dict[str, Figure]] = field(default_factory=dict)

    def others(self) -> Iterator[tuple[str, Figure]]:
        """Yield the metrics that other packages bring, each with its first figure."""
        for name, figures in self.metrics.items():
            if name not in (perturbation.NAME, rare_words.NAME, similarity.NAME):
                yield name, next(iter(figures.values()), None)


class Meter:
    """Take pairs of texts in, batch by batch; policy is that of the run, if known."""

    def __init__(
        self, lexicon: Lexicon, encoder: str | None = None, policy: Policy | None = None
    ) -> None:
        self._aligner = Aligner(lexicon, policy)
        self._metrics = AllMetrics(lexicon)
        self._counted = self._metrics.observe(Batch.empty())
        self._english = (EnglishShare(), EnglishShare())
        self._texts = self._compared = self._words = 0
        self._encoder = encoder
        self._cosines: list[float] = []

    def add(self, before: Sequence[str], after: Sequence[str]) -> Aligned:
        """Take a batch in and return its words in pairs."""
        aligned = self._aligner(before, after)
        counted = self._metrics.observe(aligned.batch(self._texts))
        self._counted = self._metrics.merge(self._counted, counted)
        self._texts += len(before)
        self._compared += aligned.compared
        self._words += len(aligned.rows_before)
        self._english[0].add(aligned.before)
        self._english[1].add(aligned.after)
        if self._encoder is not None:
            one, other = (_encoded(self._encoder, texts) for texts in (before, after))
            self._cosines += similarity.cosines(one, other).tolist()
        return aligned

    def result(self) -> Kept:
        """Return the figures so far."""
        metrics = self._metrics.results(self._counted)
        meaning = _number(metrics[similarity.NAME]["mean_cosine"])
        if self._encoder is not None:
            meaning = similarity.mean(self._cosines)
        return Kept(
            texts=self._texts,
            compared=self._compared,
            words=self._words,
            perturbed=_number(metrics[perturbation.NAME]["share_changed"]),
            low=_number(metrics[rare_words.NAME]["share_present"]),
            similarity=meaning,
            encoder=self._encoder or similarity.ENCODER,
            english_before=self._english[0].result(),
            english=self._english[1].result(),
            metrics=metrics,
        )


def _number(figure: Figure) -> float | None:
    assert not isinstance(figure, str)
    return figure


def _encoded(encoder: str, texts: Sequence[str]) -> NDArray[np.float64]:
    folder = models.need_sentence_model(encoder, "CS")
    encode = models.sentence_model(folder, "cpu").encode
    return np.asarray(encode(list(texts), show_progress_bar=False), np.float64)
