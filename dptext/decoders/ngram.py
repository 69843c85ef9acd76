"""A model of pairs of words reads the draws and writes the words that fit them best.

mbr: of the likely inputs of a drawn word the one with the largest expected closeness
(cosine) to what the word was; posterior: the most probable one; viterbi: that of the
likeliest text. Exact for the model and the candidates of each word.
Source: forward-backward and Viterbi algorithms (Rabiner 1989); decoding by least
expected loss (Kumar and Byrne 2004).
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
from dptext.errors import LexiconError
from dptext.readers import locations
from dptext.readers import topic as topics
from dptext.readers.channel import Channel
from dptext.readers.pairs import PairReader
from dptext.types import Ids, Released

# Words that are weighed at once.
_BLOCK = 512


@dataclass(frozen=True, slots=True)
class Params(decoders.Params):
    """mode; model, a name that `dptext lexicon ngrams` made, or a folder.

    candidates, the inputs that are weighed for each drawn word; weight, the power of
    the language model beside the channel; topic, that of what the text is about (0:
    left out); optional, whether to write the draws where there is no such model for the
    lexicon.
    """

    mode: Literal["mbr", "posterior", "viterbi"] = "mbr"
    model: str = locations.ENGLISH
    candidates: Annotated[int, Meta(ge=2, le=256)] = 16
    weight: Annotated[float, Meta(gt=0, le=10)] = 0.8
    topic: Annotated[float, Meta(ge=0, le=20)] = topics.POWER
    optional: bool = False

    def fits(self, channel: Channel) -> bool:
        """Tell whether to decode: always, or where there is a model if optional."""
        if not self.optional:
            return True
        try:
            locations.find(self.model, channel)
        except LexiconError:
            return False
        return channel.mechanism.has_log_probs

    @property
    def brings_model(self) -> bool:
        """Tell whether the model is another than the one that ships."""
        return self.model != locations.ENGLISH

    def prepare(self, channel: Channel) -> Ngram:
        """Open the model; raises LexiconError and UsageError where it does not fit."""
        model = locations.find(self.model, channel)
        reader = PairReader(channel, model, self.candidates, self.weight, self.topic)
        return Ngram(self, reader, model.digest)


class Ngram(decoders.Decoder):
    """A reader of pairs, and how it chooses."""

    def __init__(self, params: Params, reader: PairReader, digest: str) -> None:
        self._params, self._reader, self._digest = params, reader, digest
        vectors = np.asarray(reader.channel.lexicon.vectors, np.float32)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit = vectors / np.where(lengths > 0.0, lengths, np.float32(1.0))
        directions = unit.astype(np.float32, copy=False)
        self._closeness = lru_cache(maxsize=8)(
            lambda epsilon: _Closeness(reader.table(epsilon).rows, directions)
        )

    @property
    def content(self) -> Mapping[str, str]:
        """Return the digest of the model."""
        return {"model": self._digest}

    @property
    def reader(self) -> PairReader:
        """Return the reader with the same model."""
        return self._reader.attacker()

    def decode(self, released: Released) -> Ids:
        """Return the words to write: (n,)."""
        if self._params.mode == "viterbi":
            return self._reader.best_path(released)
        rows, likely = self._reader.posterior(released)
        written = np.array(released.drawn)
        for epsilon, positions in self._reader.channel.groups(released.eps):
            table = self._reader.table(epsilon)
            for begin in range(0, len(positions), _BLOCK):
                part = positions[begin : begin + _BLOCK]
                drawn, values = released.drawn[part], likely[: len(table.rows), part]
                if self._params.mode == "mbr":
                    closeness = self._closeness(epsilon).of(drawn).T
                    count = len(values)
                    values = closeness.reshape(count, count, -1) * values[:, None, :]
                    values = values.sum(axis=0)
                values = np.where(table.writable[:, drawn], values, -np.inf)
                best, each = values.argmax(axis=0), np.arange(len(part))
                sure = np.isfinite(values[best, each])
                written[part[sure]] = rows[best, part][sure]
        return written


class _Closeness:
    """127 times the cosines of the candidates of outputs, computed once asked for."""

    def __init__(self, rows: Ids, directions: NDArray[np.float32]) -> None:
        self._rows, self._directions = rows.T, directions
        shape = len(self._rows), self._rows.shape[1] ** 2
        self._known = np.zeros(len(self._rows), bool)
        self._closeness = np.zeros(shape, np.int8)

    def of(self, outputs: Ids) -> NDArray[np.int8]:
        """Return them for each of some outputs: (n, c * c)."""
        wanted = np.zeros(len(self._known), bool)
        wanted[outputs] = True
        new = np.flatnonzero(wanted & ~self._known)
        for begin in range(0, len(new), _BLOCK):
            part = new[begin : begin + _BLOCK]
            near = self._directions[self._rows[part]]
            cosines = np.clip(near @ near.transpose(0, 2, 1), -1.0, 1.0)
            codes = np.round(cosines * 127.0).reshape(len(near), -1)
            self._closeness[part] = codes
        self._known[new] = True
        return self._closeness[outputs]
