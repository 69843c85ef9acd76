"""A reader with a causal language model: who each drawn word may have been.

One search for two uses: the decoder writes by it, and the attack guesses by it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dptext.readers.causal import network, reading
from dptext.readers.causal.reading import Job
from dptext.readers.causal.search import Step, search
from dptext.readers.causal.spelling import Speller
from dptext.readers.causal.texts import Drawn, Known, Text, is_clitic, texts_of
from dptext.readers.channel import Candidates, Channel
from dptext.readers.reader import Reader
from dptext.types import Ids, Released

# Words that beams may have unlike each other before one of them goes on alone.
_APART = 4
_LEAST, _MOST = 128, 512
# Known tokens between two drawn words, of which the last are read.
_KNOWN = 64
_TABLES = 64


@dataclass(frozen=True, slots=True)
class Source:
    """Where a model is: its path, the digest of its content, the device it runs on."""

    path: str
    digest: str
    device: str = "cpu"


@dataclass(frozen=True, slots=True)
class Settings:
    """beam, texts that are followed; candidates of each word, and of each channel.

    weight, the power of the language model; writable, whether only words that may be
    drawn are candidates.
    """

    beam: int = 5
    candidates: int = 24
    weight: float = 1.0
    writable: bool = True


class Reading(NamedTuple):
    """The candidates of n drawn words: rows (c, n), likely (c, n) columns sum to 1.

    best (n,), that of the likeliest text.
    """

    rows: Ids
    likely: NDArray[np.float64]
    best: Ids


class CausalReader:
    """Reads what is released through a channel; with n-grams, by both models."""

    def __init__(
        self,
        channel: Channel,
        source: Source,
        settings: Settings,
        ngrams: Reader | None = None,
    ) -> None:
        channel.check()
        self.channel, self._source, self._settings = channel, source, settings
        self._ngrams = ngrams
        words = channel.lexicon.words
        self._clitic = np.array([*map(is_clitic, words)])
        self._table = lru_cache(maxsize=_TABLES)(self._candidates_at)
        self._speller: Speller | None = None

    def read(self, released: Released) -> Reading:
        """Return what is found for each drawn word of a batch."""
        rows, evidence = self._evidence(released)
        likely = np.zeros(rows.shape)
        likely[0] = 1.0
        best = np.array(released.drawn)
        jobs, texts = [], list(texts_of(released, self.speller))
        sure = np.isfinite(evidence).any(axis=0)
        evidence[0, ~sure], rows[0, ~sure] = 0.0, released.drawn[~sure]
        for text in texts:
            jobs.append(self._job(text, rows, evidence))
        loaded = network.load(
            self._source.path, self._source.digest, self._source.device
        )
        for text, found in zip(texts, reading.read(loaded, jobs), strict=True):
            for drawn, word, posterior in zip(
                text.drawn, found.best, found.posterior, strict=True
            ):
                order = _order(evidence[:, drawn.index])
                best[drawn.index] = rows[order[word], drawn.index]
                likely[:, drawn.index] = 0.0
                likely[order, drawn.index] = posterior
        return Reading(rows, likely, best)

    @property
    def speller(self) -> Speller:
        """Return the tokens of words; loads a tokenizer."""
        if self._speller is None:
            split = network.tokenizer(self._source.path, self._source.digest)
            lexicon = self.channel.lexicon
            self._speller = Speller(split, lexicon.words, np.array(lexicon.prior))
        return self._speller

    def _job(
        self, text: Text, rows: Ids, evidence: NDArray[np.float64]
    ) -> Job:
        settings = self._settings
        start = [Known(self.speller.start, counts=False), *_last(text.before)]
        steps = [
            self._step(drawn, rows[:, drawn.index], evidence[:, drawn.index])
            for drawn in text.drawn
        ]
        capacity = capacity_of(start, steps, settings.beam)
        found = search(start, steps, settings.beam, settings.weight, capacity)
        return Job(found, capacity, len(rows))

    def _step(
        self, drawn: Drawn, rows: Ids, evidence: NDArray[np.float64]
    ) -> Step:
        order = _order(evidence)
        spelled, ahead = [], []
        for row in rows[order].tolist():
            spaced = drawn.spaced and not self._clitic[row]
            spelled.append(self.speller.word(row, spaced, drawn.capital))
            ahead.append(self.speller.ahead(spaced, drawn.capital)[row])
        return Step(spelled, evidence[order], np.array(ahead), _last(drawn.after))

    def _evidence(self, released: Released) -> tuple[Ids, NDArray[np.float64]]:
        """Return candidates and the evidence for each, -inf where there is none."""
        if self._ngrams is not None:
            rows, likely = self._ngrams.posterior(released)
            with np.errstate(divide="ignore"):
                evidence = np.log(likely.astype(np.float64))
        else:
            shape = (self._settings.candidates, len(released.drawn))
            rows, evidence = np.zeros(shape, np.int32), np.full(shape, -np.inf)
            for epsilon, positions in self.channel.groups(released.eps):
                table, drawn = self._table(epsilon), released.drawn[positions]
                width = table.rows.shape[1]
                rows[:width, positions] = table.rows[drawn].T
                evidence[:width, positions] = table.log_probs[drawn].T
        evidence[~self._allowed(released, rows)] = -np.inf
        return rows, evidence

    def _allowed(self, released: Released, rows: Ids) -> NDArray[np.bool_]:
        """Tell which candidates (c, n) are words, and such as may be drawn."""
        allowed = rows < len(self.channel.prior)
        if self._settings.writable:
            for epsilon, positions in self.channel.groups(released.eps):
                logs = self._table(epsilon).log_probs
                drawn = np.zeros(len(self.channel.inputs), bool)
                drawn[: len(logs)] = np.isfinite(logs[:, 0])
                allowed[:, positions] &= drawn[rows[:, positions]]
        return allowed

    def _candidates_at(self, epsilon: float) -> Candidates:
        return self.channel.candidates(epsilon, self._settings.candidates)


def _order(evidence: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the candidates that are possible, in their order."""
    return np.flatnonzero(np.isfinite(evidence))


def _last(known: list[Known]) -> list[Known]:
    """Return the last known pieces, of about _KNOWN tokens."""
    kept: list[Known] = []
    for part in reversed(known):
        if kept and sum(len(each.tokens) for each in kept) + len(part.tokens) > _KNOWN:
            break
        kept.append(Known(part.tokens[-_KNOWN:], part.counts))
    return kept[::-1]


def capacity_of(start: list[Known], steps: list[Step], beam: int) -> int:
    """Return the entries for a text: a power of two that follows from it alone."""
    sizes = [
        float(np.mean([len(tokens) for tokens in step.spelled]))
        + sum(len(known.tokens) for known in step.after)
        for step in steps
    ]
    longest = max(
        max(map(len, step.spelled)) + sum(len(known.tokens) for known in step.after)
        for step in steps
    )
    line = sum(len(known.tokens) for known in start) + sum(sizes)
    recent = beam * (longest + sum(sorted(sizes)[-_APART:]))
    needed = min(line, _MOST) + recent + 2
    return max(_LEAST, 1 << int(np.ceil(np.log2(needed))))
