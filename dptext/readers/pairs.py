"""A reader with an n-gram model: who each drawn word may have been, by all around it.

By the words before and after, and by what the whole text is about.

One posterior for two uses: decoders write by it, and the attack guesses by it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dptext.lexicons import vulgar
from dptext.readers import posterior
from dptext.readers import topic as topics
from dptext.readers.channel import Channel
from dptext.readers.lattice import Lattice
from dptext.readers.ngrams import Ngrams
from dptext.readers.posterior import Floats, Words
from dptext.readers.transitions import Gains
from dptext.types import NUMBER, Ids, Released

# A candidate that is so much less likely than the best one is not told from it.
_LEAST = 1e-12
# Candidates of an attacker, who has time.
_MANY = 40
# Tables of epsilons that are held at once.
_TABLES = 64


class Table(NamedTuple):
    """The candidates of each output at one epsilon: rows (c, O), V the unknown word.

    weights, slots and backoff (c, O) as in `posterior.Words`; a padding weighs 0.
    writable (c, O) tells which candidates may be drawn themselves and are not vulgar.
    """

    rows: Ids
    writable: NDArray[np.bool_]
    slots: NDArray[np.int64]
    weights: Floats
    backoff: Floats


class PairReader:
    """Reads what is released through a channel, with a model over its lexicon.

    count, candidates of each word; weight, the power of the language model; topic, that
    of what the text is about, 0 to leave that out.
    """

    name = "ngram"
    assumes = (
        "knows mechanism and epsilon; reads all that is released of a text with a "
        "public model of pairs of words, and what it is about"
    )

    def __init__(
        self,
        channel: Channel,
        model: Ngrams,
        count: int = _MANY,
        weight: float = 1.0,
        topic: float = 0.0,
    ) -> None:
        channel.check()
        self.channel = channel
        lexicon = channel.lexicon
        self._lattice = Lattice(lexicon.row_of, lexicon.words.index(NUMBER))
        self._model, self._count, self._weight = model, count, weight
        self._gains = Gains(model, weight)
        self._vulgar = vulgar.rows(lexicon)
        self._topic = topics.Topic(channel.lexicon, topic) if topic else None
        self.table = lru_cache(maxsize=_TABLES)(self._table)

    def attacker(self) -> PairReader:
        """Return the reader with the same model who guesses as well as it can."""
        return PairReader.strongest(self.channel, self._model)

    @classmethod
    def strongest(cls, channel: Channel, model: Ngrams) -> PairReader:
        """Return the reader that finds most with a model."""
        return cls(channel, model, topic=topics.POWER)

    def posterior(self, released: Released) -> tuple[Ids, Floats]:
        """Return the candidates of each drawn word, and how likely each is: (c, n)."""
        rows, words = self._candidates(released)
        chains = self._lattice.chains(released)
        return rows, posterior.marginals(chains, words, self._gains)

    def guess(self, released: Released) -> Ids:
        """Return the most probable word of each drawn one, unknown ones left out."""
        rows, likely = self.posterior(released)
        likely[rows == len(self.channel.prior)] = -1.0
        best = likely.argmax(axis=0)
        return np.asarray(rows[best, np.arange(rows.shape[1])])

    def best_path(self, released: Released) -> Ids:
        """Return the likeliest text of words that may be drawn: (n,)."""
        rows, words = self._candidates(released)
        writable = self.writable(released)
        # A word without any such candidate is written as it was drawn.
        none = ~writable.any(axis=0)
        words.weights[~writable & ~none] = 0.0
        chains = self._lattice.chains(released)
        chosen = posterior.best_path(chains, words, self._gains)
        path = rows[chosen, np.arange(len(chosen))]
        return np.where(none, released.drawn, path)

    def writable(self, released: Released) -> NDArray[np.bool_]:
        """Tell which candidates of each word may be written: (c, n)."""
        writable = np.zeros((self._count, len(released.drawn)), bool)
        for epsilon, positions in self.channel.groups(released.eps):
            table = self.table(epsilon)
            drawn = released.drawn[positions]
            writable[: len(table.rows), positions] = table.writable[:, drawn]
        return writable

    def _candidates(self, released: Released) -> tuple[Ids, Words]:
        shape = (self._count, len(released.drawn))
        rows, slots = np.zeros(shape, np.int32), np.zeros(shape, np.int64)
        weights, backoff = np.zeros(shape, np.float32), np.ones(shape, np.float32)
        for epsilon, positions in self.channel.groups(released.eps):
            table, drawn = self.table(epsilon), released.drawn[positions]
            width = len(table.rows)
            rows[:width, positions] = table.rows[:, drawn]
            slots[:width, positions] = table.slots[:, drawn]
            weights[:width, positions] = table.weights[:, drawn]
            backoff[:width, positions] = table.backoff[:, drawn]
        if self._topic is not None and len(released.drawn):
            weights *= self._topic.factors(rows, released)
        return rows, Words(slots, weights, backoff)

    def _table(self, epsilon: float) -> Table:
        model, size = self._model, self._model.size
        alone = model.alone[: size + 1].astype(np.float64)
        inputs = np.where(self.channel.inputs > 0.0, np.exp(alone), 0.0)
        rows, log_probs = self.channel.candidates(epsilon, self._count, inputs)
        logs = log_probs + self._weight * alone[rows]
        top = logs.max(axis=1, keepdims=True)
        weights = np.exp(logs - np.where(np.isfinite(top), top, 0.0))
        weights = np.where(np.isfinite(logs), np.maximum(weights, _LEAST), 0.0)
        backoff = np.exp(self._weight * model.backoff.astype(np.float64))[rows]
        drawn = np.zeros(size + 1, bool)
        drawn[: len(rows)] = np.isfinite(log_probs[:, 0])
        drawn &= ~self._vulgar
        return Table(
            np.ascontiguousarray(rows.T),
            np.ascontiguousarray((drawn[rows] & np.isfinite(logs)).T),
            np.ascontiguousarray(self._gains.slot_of[rows].T),
            weights.T.astype(np.float32, order="C"),
            backoff.T.astype(np.float32, order="C"),
        )
