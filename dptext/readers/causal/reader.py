"""The reader with a causal language model: the posterior of each drawn word.

One search for two uses: the decoder writes by it, and the attack guesses by it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dptext import progress
from dptext.readers.causal import network
from dptext.readers.causal.network import Known, Search
from dptext.readers.causal.search import (
    DrawnWord,
    SearchResult,
    Speller,
    Step,
    Text,
    search,
    texts_of,
)
from dptext.readers.channel import Channel, ChannelReader
from dptext.readers.layout import is_clitic
from dptext.readers.pairs import PairReader
from dptext.types import Ids, Released

# Known tokens between two drawn words, of which the last are read.
_KNOWN = 64


@dataclass(frozen=True, slots=True)
class CausalModel:
    """Where a model is: its path, the digest of its content, the device it runs on."""

    path: str
    digest: str
    device: str = "cpu"


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """beam, texts that are followed; candidates of each word.

    weight, the power of the language model; writable, whether only words that may be
    drawn are candidates.
    """

    beam: int
    candidates: int
    weight: float = 1.0
    writable: bool = False


# Those of an attacker, who has time.
_ATTACKER = SearchSettings(beam=8, candidates=40)


class CausalReading(NamedTuple):
    """The candidates of n drawn words: rows (c, n), likely (c, n) columns sum to 1.

    best (n,), that of the likeliest text.
    """

    rows: Ids
    likely: NDArray[np.float64]
    best: Ids


class CausalReader:
    """Reads what is released through a channel; with pairs, by both models.

    What a model of pairs finds by all around a word then is the evidence for each of
    its candidates, in place of the channel alone.
    """

    name = "causal-lm"
    assumes = (
        "knows mechanism and epsilon; reads all that is released of a text with a "
        "public causal language model"
    )

    def __init__(
        self,
        channel: Channel,
        source: CausalModel,
        settings: SearchSettings,
        pairs: PairReader | None = None,
    ) -> None:
        channel.check()
        self.channel, self._source, self._settings = channel, source, settings
        self.pairs = pairs
        self.inputs = ChannelReader(channel, settings.candidates)
        self._clitic = np.array([*map(is_clitic, channel.lexicon.words)])

    def attacker(self) -> CausalReader:
        """Return the reader with the same models who guesses as well as it can."""
        return CausalReader(self.channel, self._source, _ATTACKER, self.pairs)

    def guess(self, released: Released) -> Ids:
        """Return the most probable word of each drawn one, unknown ones left out."""
        reading = self.read(released)
        best = reading.likely.argmax(axis=0)
        return np.asarray(reading.rows[best, np.arange(len(best))])

    def read(self, released: Released) -> CausalReading:
        """Return what is found for each drawn word of a batch."""
        rows, evidence = self._evidence(released)
        # A word without any candidate stays as it was drawn.
        none = ~np.isfinite(evidence).any(axis=0)
        rows[0, none], evidence[0, none] = released.drawn[none], 0.0
        source, best = self._source, np.array(released.drawn)
        likely = np.zeros(rows.shape)
        what = f"reading {len(best):,} words with {Path(source.path).name}"
        with progress.step(what):
            texts = list(texts_of(released, self.speller))
            # Tokenizers cannot be used by several threads.
            texts.sort(key=lambda text: len(text.drawn))
            searches = [self._search(text, rows, evidence) for text in texts]
            model = network.load(source.path, source.digest, source.device)
            results = model.read(searches)
        for text, result in zip(texts, results, strict=True):
            for drawn, word, posterior in zip(
                text.drawn, result.best, result.posterior, strict=True
            ):
                possible = np.flatnonzero(np.isfinite(evidence[:, drawn.index]))
                best[drawn.index] = rows[possible[word], drawn.index]
                likely[possible, drawn.index] = posterior
        return CausalReading(rows, likely, best)

    @cached_property
    def speller(self) -> Speller:
        """Return the tokens of words; loads a tokenizer."""
        split = network.tokenizer(self._source.path, self._source.digest)
        lexicon = self.channel.lexicon
        return Speller(split, lexicon.words, lexicon.prior)

    def _search(
        self, text: Text, rows: Ids, evidence: NDArray[np.float64]
    ) -> Search[SearchResult]:
        before = (token for known in _last(text.before) for token in known.tokens)
        steps = [
            self._step(drawn, rows[:, drawn.index], evidence[:, drawn.index])
            for drawn in text.drawn
        ]
        start, settings = (*self.speller.start, *before), self._settings
        return search(start, steps, settings.beam, settings.weight)

    def _step(self, drawn: DrawnWord, rows: Ids, evidence: NDArray[np.float64]) -> Step:
        possible = np.isfinite(evidence)
        spelled, ahead = [], []
        for row in rows[possible].tolist():
            spaced = drawn.spaced and not self._clitic[row]
            spelled.append(self.speller.word(row, spaced, drawn.capital))
            ahead.append(self.speller.ahead(spaced, drawn.capital)[row])
        after = _last(drawn.after)
        return Step(spelled, evidence[possible], np.array(ahead), after)

    def _evidence(self, released: Released) -> tuple[Ids, NDArray[np.float64]]:
        """Return candidates and the evidence for each, -inf where there is none."""
        rows, evidence = self._weighed(released)
        evidence[rows == len(self.channel.prior)] = -np.inf
        if self._settings.writable:
            evidence[~self.inputs.writable(released, rows)] = -np.inf
        most = self._settings.candidates
        if len(rows) > most:
            order = np.argsort(-evidence, axis=0, kind="stable")[:most]
            rows = np.take_along_axis(rows, order, axis=0)
            evidence = np.take_along_axis(evidence, order, axis=0)
        return rows, evidence

    def _weighed(self, released: Released) -> tuple[Ids, NDArray[np.float64]]:
        """Return likely inputs of each word and the logarithms of their weights."""
        if self.pairs is not None:
            rows, likely = self.pairs.posterior(released)
            with np.errstate(divide="ignore"):
                return rows, np.log(likely.astype(np.float64))
        return self.inputs.evidence(released)


def _last(known: list[Known]) -> list[Known]:
    """Return the last known pieces, of about _KNOWN tokens."""
    kept: list[Known] = []
    for part in reversed(known):
        if kept and sum(len(each.tokens) for each in kept) + len(part.tokens) > _KNOWN:
            break
        kept.append(Known(part.tokens[-_KNOWN:], part.counts))
    return kept[::-1]
