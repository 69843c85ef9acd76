"""A model of pairs of words reads the draws and writes the words that fit them best.

mbr: of the likely inputs of drawn words the text with the largest expected closeness
(cosine) to what the words were, and with it the fluency of the model; posterior: the
most probable input of each; viterbi: the likeliest text. Exact for the candidates of
each word and for the gains of pairs as their table rounds them
(dptext.attackers.ngrams).
Source: forward-backward and Viterbi algorithms (Rabiner 1989); decoding by least
expected loss (Kumar and Byrne 2004), here with a prior for what is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated, Literal

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dptext import decoders
from dptext.attackers import kernel, ngrams
from dptext.attackers import pairs as topics
from dptext.attackers.channel import Channel
from dptext.attackers.pairs import FLUENCY, PairAttacker, Weighed
from dptext.attackers.posterior import by_word, summed
from dptext.noise import unit
from dptext.types import Ids, Lexicon, Released, Rows, Singles, Vectors

# Words that are weighed at once.
_BLOCK = 512
# Tables of closeness that are held at once: one for all that may be shown of a draw.
_TABLES = 32
# Steps of a closeness of 1.
_STEPS = 127
# Of the candidates of a word so many are read with their neighbours: those that weigh
# most by the draw and by what the text is about.
_READ = 16
# A drawn word of news that is less near (cosine) to what the rest of its text is about
# is written as a neutral word (docs/presentable.md).
_STRAY = 0.05
# Where common words are copied: what one weighs beside a word that may have been
# replaced, among those that may be written.
_COMMON = 0.3


@dataclass(frozen=True, slots=True)
class Params(decoders.Params):
    """mode; model, a name that ships or `dptext lexicon ngrams` made, or a folder.

    candidates, the inputs that are weighed for each drawn word; weight, the power of
    the language model beside the channel; topic, that of what the text is about (0:
    left out); fluency, what a nat of the language model counts beside a closeness of 1
    in what is written by mbr (0: each word is chosen by itself); optional, whether to
    write the draws where the model that ships is of another language than the lexicon,
    or the mechanism has no output distribution.
    """

    mode: Literal["mbr", "posterior", "viterbi"] = "mbr"
    model: str = ngrams.ENGLISH
    candidates: Annotated[int, Meta(ge=2, le=256)] = 32
    weight: Annotated[float, Meta(gt=0, le=10)] = 0.8
    fluency: Annotated[float, Meta(ge=0, le=10)] = FLUENCY
    topic: Annotated[float, Meta(ge=0, le=20)] = topics.POWER
    optional: bool = False

    def of_lexicon(self, lexicon: Lexicon) -> Params:
        """Take the pairs of an adapted lexicon in place of those that ship."""
        pairs = lexicon.meta.get("pairs")
        if pairs is None or self.model != ngrams.ENGLISH:
            return self
        return replace(self, model=str(pairs))

    def fits(self, channel: Channel) -> bool:
        """Tell whether to decode: always, unless optional.

        Raises LexiconError where the model is damaged, or another one than what ships
        and absent or of another lexicon.
        """
        if not self.optional:
            return True
        if self.brings_model:
            ngrams.find_model(self.model, channel)
        elif ngrams.shipped(channel) is None:
            return False
        return channel.mechanism.has_log_probs

    @property
    def brings_model(self) -> bool:
        """Tell whether the model is another than the one that ships."""
        return self.model != ngrams.ENGLISH

    def prepare(self, channel: Channel) -> Ngram:
        """Open the model; raises LexiconError and UsageError where it does not fit."""
        model = ngrams.find_model(self.model, channel)
        weights = self.candidates, self.weight, self.topic
        common = _COMMON if channel.policy.common else 0.0
        attacker = PairAttacker(channel, model, *weights, kept=_READ, common=common)
        return Ngram(self, attacker, model.digest)


class Ngram(decoders.Decoder):
    """An attacker of pairs, and how it chooses."""

    def __init__(self, params: Params, attacker: PairAttacker, digest: str) -> None:
        self._params, self._attacker, self._digest = params, attacker, digest
        vectors = attacker.channel.lexicon.vectors
        self._closeness = lru_cache(maxsize=_TABLES)(
            lambda shown: _Closeness(attacker.table(shown).rows, vectors)
        )

    @property
    def content(self) -> Mapping[str, str]:
        """Return the digests of the model and of the lists of delicate words."""
        return {"model": self._digest, **self._attacker.channel.lists}

    @property
    def attacker(self) -> PairAttacker:
        """Return the attacker with the same model."""
        return self._attacker.at_full_strength()

    def decode(self, released: Released) -> Ids:
        """Return the words to write: (n,)."""
        written = self._chosen(released)
        return self._without_strays(released, written)

    def _without_strays(self, released: Released, written: Ids) -> Ids:
        """Write neutral words for words of news that stand alone in their texts.

        A text about other things has them from the floor: words that were drawn
        whatever stood there. A function of the draws, so that it is post-processing.
        """
        neutral = self._attacker.channel.neutral[written]
        positions = np.flatnonzero(neutral != written)
        near = self._attacker.nearness(released, positions)
        if near is None:
            return written
        strays = np.zeros(len(written), bool)
        strays[positions] = near < _STRAY
        return np.where(strays, neutral, written)

    def _chosen(self, released: Released) -> Ids:
        mode, attacker = self._params.mode, self._attacker
        if mode == "viterbi":
            return attacker.best_path(released)
        weighed = attacker.weighed(released)
        mbr = mode == "mbr"
        values = self._expected(released, weighed) if mbr else attacker.likely(weighed)
        values = np.where(weighed.writable, values, np.float32(-np.inf))
        # A word without any candidate that may be written is written as it was drawn.
        possible = np.asarray(weighed.writable.any(axis=0))
        rows, fluency = weighed.rows, self._params.fluency
        if mbr and fluency:
            chains = weighed.chains
            written = attacker.closest_text(released, rows, values, fluency, chains)
        else:
            written = rows[values.argmax(axis=0), np.arange(len(possible))]
        return np.where(possible, written, released.drawn)

    def _expected(self, released: Released, weighed: Weighed) -> Singles:
        """Return the expected closeness of each candidate: (k, n)."""
        likely = self._attacker.likely(weighed)
        if (library := kernel.library) is not None:
            columns, weights = by_word(weighed.columns), by_word(likely)
            sums = np.empty(weights.shape, np.float32)
            for shown, positions in self._attacker.channel.groups(released):
                closeness = self._closeness(shown)
                closeness.compute(released.drawn[positions])
                library.expected_closeness(
                    *(len(positions), positions, released.drawn),
                    *(closeness.width, columns.shape[1], columns, closeness.codes),
                    *(weights, float(_STEPS), sums),
                )
            return sums.T
        expected = np.empty_like(likely)
        for shown, positions in self._attacker.channel.groups(released):
            closeness = self._closeness(shown)
            for begin in range(0, len(positions), _BLOCK):
                part = positions[begin : begin + _BLOCK]
                near = closeness.of(released.drawn[part], weighed.columns[:, part])
                expected[:, part] = summed(near * likely[:, None, part])
        expected /= np.float32(_STEPS)
        return expected


class _Closeness:
    """Cosines of the candidates of outputs in _STEPS, computed once asked for."""

    def __init__(self, rows: Ids, vectors: Vectors) -> None:
        self._rows, self._vectors = rows, vectors
        self.width = rows.shape[1]
        self._known = np.zeros(len(rows), bool)
        self.codes = np.zeros(len(rows) * self.width**2, np.int8)

    def of(self, outputs: Ids, columns: Rows) -> NDArray[np.int8]:
        """Return those of some columns (k, n) of n outputs: (k, k, n)."""
        self.compute(outputs)
        first = outputs * np.int64(self.width**2) + columns * self.width
        at = first[:, None, :] + columns[None, :, :]
        closeness: NDArray[np.int8] = self.codes.take(at)
        return closeness

    def compute(self, outputs: Ids) -> None:
        """Make `codes` (O * width * width,) ready for some outputs."""
        wanted = np.zeros(len(self._known), bool)
        wanted[outputs] = True
        new = np.flatnonzero(wanted & ~self._known)
        closeness = self.codes.reshape(len(self._known), -1)
        for begin in range(0, len(new), _BLOCK):
            part = new[begin : begin + _BLOCK]
            near = self._vectors[self._rows[part]].astype(np.float32)
            near = unit(near.reshape(-1, near.shape[-1])).reshape(near.shape)
            cosines = np.clip(near @ near.transpose(0, 2, 1), -1.0, 1.0)
            codes = np.round(cosines * float(_STEPS)).reshape(len(near), -1)
            closeness[part] = codes
        self._known[new] = True
