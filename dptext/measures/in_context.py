"""Risk in context: how often readers guess words of texts, from new draws of them.

A reader knows the mechanism, a public language model and all that is released of a
text, and guesses each word. Words are drawn anew, and what is read are the draws: who
decodes them can find no more in what is written (docs/guarantees.md, 6). Words outside
the vocabulary are not attacked. A better reader finds more: a figure is a lower limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dptext.measures.bayes_risk import Share
from dptext.measures.sampled_risk import bands_of
from dptext.readers import Reader
from dptext.tokens.stop_words import STOP_WORDS
from dptext.types import Ids, Record

if TYPE_CHECKING:
    from dptext.pipeline import Pipeline
    from dptext.randomness import Randomness

Count = Annotated[int, Meta(ge=0)]
ALL, CONTENT = "all words", "content words"
_NAMES = ("100 most frequent words", "next 900 words", "all other words")
# Of a normal distribution, what holds 95% to both sides.
_WIDE = 1.959964


@dataclass(frozen=True, slots=True)
class Success:
    """Share of words of a class that are guessed; low to high holds it at 95%.

    The interval takes texts for drawn one by one, and words of a text for alike.
    """

    name: str
    words: Count
    success: Share
    low: Share
    high: Share


@dataclass(frozen=True, slots=True)
class Reading:
    """What one reader finds: of all words, of content words and by frequency band.

    Content words are those that are no stop words. assumes says what the reader has.
    """

    reader: str
    assumes: str
    texts: Count
    classes: tuple[Success, ...]

    @property
    def success(self) -> float:
        """Return the share of all words that are guessed."""
        return self.classes[0].success


class Attack:
    """Draws texts anew under a pipeline and lets readers guess, batch by batch."""

    def __init__(self, pipeline: Pipeline, readers: Sequence[Reader]) -> None:
        self._pipeline, self._readers = pipeline, readers
        words = pipeline.lexicon.words
        stop = np.array([word.lower() in STOP_WORDS for word in words])
        self._classes = [np.ones(len(words), bool), ~stop]
        for begin, end in bands_of(len(words)):
            band = np.zeros(len(words), bool)
            band[begin:end] = True
            self._classes.append(band)
        # Of each text the words of each class, and for each reader those guessed.
        self._words: list[NDArray[np.int64]] = []
        self._right: list[list[NDArray[np.int64]]] = [[] for _ in readers]

    def add(self, records: Sequence[Record], randomness: Randomness) -> None:
        """Attack the texts of a batch of records."""
        draws = self._pipeline.draws(records, randomness)
        words = draws.words
        self._count(self._words, words.ids, words.texts, len(words.ends), words.ids)
        if not len(words.ids):
            return
        released = self._pipeline.released(words, draws.drawn, draws.eps)
        for reader, right in zip(self._readers, self._right, strict=True):
            guess = reader.guess(released)
            self._count(right, words.ids, words.texts, len(words.ends), guess)

    def _count(
        self,
        sums: list[NDArray[np.int64]],
        ids: Ids,
        texts: NDArray[np.int64],
        count: int,
        guess: Ids,
    ) -> None:
        """Count in each text the known words that are guessed: (count, classes)."""
        right = (ids == guess) & (ids >= 0)
        columns = [
            np.bincount(texts[right & inside[ids]], minlength=count)
            for inside in self._classes
        ]
        sums.append(np.stack(columns, axis=1))

    def result(self) -> tuple[Reading, ...]:
        """Return what each reader finds; none without words."""
        words = np.concatenate(self._words) if self._words else np.zeros((0, 5), int)
        if not words[:, 0].any():
            return ()
        names = (ALL, CONTENT, *_NAMES)
        readings = []
        for reader, parts in zip(self._readers, self._right, strict=True):
            right = np.concatenate(parts)
            classes = [
                success(name, right[:, column], words[:, column])
                for column, name in enumerate(names[: words.shape[1]])
                if words[:, column].any()
            ]
            readings.append(
                Reading(reader.name, reader.assumes, len(words), tuple(classes))
            )
        return tuple(readings)


def success(
    name: str, right: NDArray[np.integer], words: NDArray[np.integer]
) -> Success:
    """Return the share that is right, with an interval over texts: (texts,) each."""
    total, count = int(words.sum()), int((words > 0).sum())
    share = float(right.sum()) / total
    if count < 2:
        return Success(name, total, share, 0.0, 1.0)
    off = right - share * words
    deviation = float(np.sqrt((off**2).sum() * count / (count - 1))) / total
    low, high = share - _WIDE * deviation, share + _WIDE * deviation
    return Success(name, total, share, max(low, 0.0), min(high, 1.0))


def measure(
    pipeline: Pipeline,
    readers: Sequence[Reader],
    texts: Iterable[Sequence[str]],
    randomness: Randomness,
) -> tuple[Reading, ...]:
    """Attack batches of texts, each text a record of its own."""
    attack, number = Attack(pipeline, readers), 0
    for batch in texts:
        records = [Record(number + n, (text,), None) for n, text in enumerate(batch)]
        attack.add(records, randomness)
        number += len(records)
    return attack.result()
