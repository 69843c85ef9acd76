"""A pair model chooses the words that fit the draws best.

Modes: mbr writes the text of likely inputs with the
largest sum of expected closeness (cosine) to the inputs and fluency by the model;
posterior the most probable input of each word; viterbi the most likely text. Exact for
the candidates of each word and the rounded gains of pairs (dptext.attackers.ngrams).
Source: forward-backward and Viterbi algorithms (Rabiner 1989); decoding by least
expected loss (Kumar and Byrne 2004), here with a prior of written texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Literal

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dptext import decoders
from dptext.attackers import kernel, ngrams
from dptext.attackers.channel import Channel
from dptext.attackers.ngrams import Ngrams
from dptext.attackers.pairs import (
    FLUENCY,
    POWER,
    BatchPart,
    PairAttacker,
    WeighedCandidates,
)
from dptext.attackers.posterior import sum_in_order, word_major
from dptext.attackers.reader import Reader
from dptext.decoders._pairs import PairParams
from dptext.noise import unit
from dptext.types import Ids, Released, Rows, Singles, Vectors, blocks

# Numbers of words to look up closeness for at once, to limit memory, and to compute it
# for, to stay in the cache of the processor.
_BLOCK, _FEW = 512, 64
# Tables of closeness in memory at once, one for each observation of draws.
_TABLES = 32
# Steps of a closeness of 1: cosines are stored in one byte.
_STEPS = 127
# Candidates of a word that are weighed with their neighbours: the likeliest ones by
# draw and topic.
_READ = 16
# A drawn word of news is written as a neutral word (docs/results/presentable.md) if its
# cosine with the topic of its text is smaller than this.
_STRAY = 0.05
# Weight of a common word relative to words that may have been replaced, if common words
# are copied.
_COMMON = 0.3


@dataclass(frozen=True, slots=True)
class Params(PairParams):
    """Settings of the decoder."""

    mode: Literal["mbr", "posterior", "viterbi"] = "mbr"
    #: Inputs that are weighed for each drawn word.
    candidates: Annotated[int, Meta(ge=2, le=256)] = 32
    #: Power of the language model relative to the channel.
    weight: Annotated[float, Meta(gt=0, le=10)] = 0.8
    #: What a nat of the language model counts against a closeness of 1 in texts of mbr.
    #: With 0 each word is chosen alone.
    fluency: Annotated[float, Meta(ge=0, le=10)] = FLUENCY
    #: Power of the topic of the text, 0 for none.
    topic: Annotated[float, Meta(ge=0, le=20)] = POWER

    def prepare(self, channel: Channel) -> Ngram:
        """Open the model. Raises LexiconError and UsageError if it does not fit."""
        model = ngrams.find_model(self.model, channel)
        attacker = PairAttacker(
            channel,
            model,
            count=self.candidates,
            weight=self.weight,
            topic=self.topic,
            kept=_READ,
            common=_COMMON if channel.policy.common else 0.0,
        )
        return Ngram(self, attacker, model)


class Ngram(decoders.Decoder):
    """Chooses words by the posterior of an attacker with a pair model."""

    def __init__(self, params: Params, attacker: PairAttacker, model: Ngrams) -> None:
        self._params, self._attacker, self._model = params, attacker, model
        vectors = attacker.channel.lexicon.vectors
        self._closeness = lru_cache(maxsize=_TABLES)(
            lambda shown: _Closeness(attacker.table(shown).rows, vectors)
        )

    @property
    def content(self) -> Mapping[str, str]:
        """Return the digests of the model and the lists of sensitive words."""
        return {"model": self._model.digest, **self._attacker.channel.lists}

    @property
    def attacker(self) -> Reader:
        """Return the strongest attacker with the same model."""
        return Reader(self._attacker.channel, self._model)

    def decode(self, released: Released) -> Ids:
        """Return the words to write: (n,)."""
        written = [released.drawn[:0]]
        for part in self._attacker.parts(released):
            written.append(self._without_strays(part, self._chosen(part)))
        return np.concatenate(written)

    def _without_strays(self, part: BatchPart, written: Ids) -> Ids:
        """Replace news words by neutral ones if they do not fit the topic.

        In a text about other subjects they come from the mechanism's floor, which
        draws any word for any input. This is a function of the draws alone, so it is
        post-processing.
        """
        neutral = self._attacker.channel.neutral[written]
        positions = np.flatnonzero(neutral != written)
        near = self._attacker.nearness(part, positions)
        if near is None:
            return written
        strays = np.zeros(len(written), bool)
        strays[positions] = near < _STRAY
        return np.where(strays, neutral, written)

    def _chosen(self, part: BatchPart) -> Ids:
        mode, attacker, released = self._params.mode, self._attacker, part.released
        weighed = attacker.weigh(part)
        if mode == "viterbi":
            return attacker.likeliest_text(released, weighed)
        mbr = mode == "mbr"
        values = self._expected(released, weighed) if mbr else attacker.likely(weighed)
        values = np.where(weighed.writable, values, np.float32(-np.inf))
        # A word without candidates that may be written is written as drawn.
        possible = np.asarray(weighed.writable.any(axis=0))
        rows, fluency = weighed.rows, self._params.fluency
        if mbr and fluency:
            written = attacker.closest_text(
                released, rows, values, fluency, chains=weighed.chains
            )
        else:
            written = rows[values.argmax(axis=0), np.arange(len(possible))]
        return np.where(possible, written, released.drawn)

    def _expected(self, released: Released, weighed: WeighedCandidates) -> Singles:
        """Return the expected closeness of each candidate to the input: (k, n)."""
        likely = self._attacker.likely(weighed)
        if (library := kernel.library) is not None:
            columns, weights = word_major(weighed.columns), word_major(likely)
            sums = np.empty(weights.shape, np.float32)
            for shown, positions in self._attacker.channel.groups(released):
                closeness = self._closeness(shown)
                closeness.compute(released.drawn[positions])
                words = len(positions), positions, released.drawn
                candidates = closeness.width, columns.shape[1], columns
                library.expected_closeness(
                    *words, *candidates, closeness.codes, weights, float(_STEPS), sums
                )
            return sums.T
        expected = np.empty_like(likely)
        for shown, positions in self._attacker.channel.groups(released):
            closeness = self._closeness(shown)
            for part in (positions[each] for each in blocks(len(positions), _BLOCK)):
                near = closeness.lookup(released.drawn[part], weighed.columns[:, part])
                expected[:, part] = sum_in_order(near * likely[:, None, part])
        expected /= np.float32(_STEPS)
        return expected


class _Closeness:
    """Cosines between an output's candidates, computed on demand."""

    #: Candidates of an output.
    width: int
    #: (O * width * width,) int8, cosines times _STEPS.
    codes: NDArray[np.int8]

    def __init__(self, rows: Ids, vectors: Vectors) -> None:
        self._rows, self._vectors = rows, vectors
        self.width = rows.shape[1]
        self._known = np.zeros(len(rows), bool)
        self.codes = np.zeros(len(rows) * self.width**2, np.int8)

    def lookup(self, outputs: Ids, columns: Rows) -> NDArray[np.int8]:
        """Return the cosines between columns (k, n) of n outputs: (k, k, n)."""
        self.compute(outputs)
        first = outputs * np.int64(self.width**2) + columns * self.width
        at = first[:, None, :] + columns[None, :, :]
        return self.codes.take(at)

    def compute(self, outputs: Ids) -> None:
        """Compute the missing cosines of outputs."""
        wanted = np.zeros(len(self._known), bool)
        wanted[outputs] = True
        new = np.flatnonzero(wanted & ~self._known)
        closeness = self.codes.reshape(len(self._known), -1)
        for part in (new[each] for each in blocks(len(new), _FEW)):
            near = self._vectors[self._rows[part]].astype(np.float32)
            near = unit(near.reshape(-1, near.shape[-1])).reshape(near.shape)
            cosines = np.clip(near @ near.transpose(0, 2, 1), -1.0, 1.0)
            cosines *= np.float32(_STEPS)
            closeness[part] = np.rint(cosines, out=cosines).reshape(len(part), -1)
        self._known[new] = True
