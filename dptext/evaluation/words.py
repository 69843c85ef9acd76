"""What pairs of texts keep, word by word: PP, LOW, CS and the share of English words.

Texts are split as dptext splits them. In constant memory but for the counts of words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dptext.metrics.similarity import text_vectors, weighted
from dptext.tokens import kinds
from dptext.tokens.policy import Policy
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import Lexicon

_RARE = 1000
_WORDS = (kinds.WORD, kinds.STOP_WORD, kinds.UNKNOWN)


@dataclass(frozen=True, slots=True)
class Kept:
    """Figures of pairs of texts.

    perturbed PP, the share of words (numbers and identifiers among them) that changed,
    of texts with equally many before and after (compared); low, of the 1000 least
    frequent words of the originals the share that still occurs; similarity CS, the mean
    cosine of texts before and after by encoder; english, the share of words, numbers
    and identifiers left out, that the lexicon holds, before and after. null: no word.
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
    """Take pairs of texts in, batch by batch."""

    def __init__(self, lexicon: Lexicon, encoder: str | None = None) -> None:
        self._lexicon = lexicon
        self._tokenizer = Tokenizer(lexicon, Policy())
        self._encoder = encoder
        self._vectors = weighted(lexicon) if encoder is None else None
        self._before: Counter[str] = Counter()
        self._after: set[str] = set()
        self._texts = self._compared = self._words = self._same = 0
        self._cosines, self._measured = 0.0, 0
        self._known = np.zeros((2, 2), np.int64)  # before and after; known, all

    def add(self, before: Sequence[str], after: Sequence[str]) -> None:
        """Take a batch in."""
        one, two = self._split(before, 0), self._split(after, 1)
        for mine, other in zip(one, two, strict=True):
            self._before.update(mine)
            self._after.update(other)
            self._texts += 1
            if len(mine) == len(other):
                self._compared += 1
                self._words += len(mine)
                self._same += sum(map(str.__eq__, mine, other))
        cosines = self._similarities(before, after)
        self._cosines += float(cosines.sum())
        self._measured += len(cosines)

    def result(self) -> Kept:
        """Return the figures so far."""
        rare = sorted(self._before, key=lambda word: (self._before[word], word))[:_RARE]
        english = [
            int(known) / int(count) if count else None for known, count in self._known
        ]
        return Kept(
            texts=self._texts,
            compared=self._compared,
            words=self._words,
            perturbed=1.0 - self._same / self._words if self._words else None,
            low=sum(word in self._after for word in rare) / len(rare) if rare else None,
            similarity=self._cosines / self._measured if self._measured else None,
            encoder=self._encoder or "frequency-weighted mean of the lexicon's vectors",
            english_before=english[0],
            english=english[1],
        )

    def _split(self, texts: Sequence[str], side: int) -> list[list[str]]:
        """Return the words of each text in lower case; count the known ones."""
        words = self._tokenizer.words(texts)
        kind = words.flags[words.places] & kinds.KIND
        counted = np.isin(kind, _WORDS)
        self._known[side] += int((words.ids[counted] >= 0).sum()), int(counted.sum())
        lower = [words.pieces[place].strip(" ").lower() for place in words.places]
        ends = np.searchsorted(
            words.texts, np.arange(len(texts)), side="right"
        ).tolist()
        return [lower[b:e] for b, e in zip([0, *ends[:-1]], ends, strict=True)]

    def _similarities(
        self, before: Sequence[str], after: Sequence[str]
    ) -> NDArray[np.float64]:
        if self._encoder is None:
            one, two = (
                text_vectors(
                    self._lexicon,
                    self._tokenizer.words(texts),
                    len(texts),
                    self._vectors,
                )
                for texts in (before, after)
            )
        else:
            from dptext import models

            folder = models.need_sentence_model(self._encoder, "CS")
            encode = models.sentence_model(folder, "cpu").encode
            one, two = (
                np.asarray(encode(list(texts), show_progress_bar=False), np.float64)
                for texts in (before, after)
            )
        lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(two, axis=1)
        both = lengths > 0
        products = np.einsum("rd,rd->r", one, two)[both]
        cosines: NDArray[np.float64] = products / lengths[both]
        return cosines
