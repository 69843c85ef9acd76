"""The attacker with an n-gram model and a topic: the posterior of each drawn word.

A word is read by the words before and after it, and by what its whole text is about.
Decoders write by the posterior, and the attack guesses by it.

The topic: of a candidate x of word i, p(x) becomes p(x) e^(power cos(x, t_i)); t_i is
the mean direction of all other drawn words of the text, rare ones weighing more,
shorter where there are few of them. Function words, of languages of which they are
known, have no direction. It follows from the draws. Directions are whole numbers, so
that sums are exact in any order and on any machine.
Source: language models with a latent semantic part (Bellegarda 2000, Exploiting latent
semantic information in statistical language modeling).
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple, Self

import numpy as np

from dptext.attackers import kernel, posterior
from dptext.attackers.channel import TABLES, Channel, Shown
from dptext.attackers.ngrams import Gains, Ngrams, WholeGains
from dptext.attackers.posterior import Chains, PathCandidates, WordCandidates
from dptext.noise import unit
from dptext.tokens import language_data
from dptext.types import (
    Floats,
    Ids,
    Ints,
    Lexicon,
    Mask,
    Released,
    Rows,
    Singles,
    Vectors,
)

# Chosen on training rows of AG News and SST-2 (docs/decoding.md).
POWER = 4.0
# The length of a direction; sums of products stay below 2^24, exact in 32 bits.
_LENGTH = 1000.0
# The mean direction of so many frequent words says nothing of a topic.
_FREQUENT = 8000
# -ln p of a word that begins to count, and most of what counts beyond it.
_COMMON, _RARE = 5.0, 7.0
# Other words by which the mean direction is half as long as with very many.
_FEW = 3.0
# Steps of a factor's logarithm, and words that are looked at together.
_STEPS = 16
_BLOCK = 256
# Zeros fill up dimensions to a multiple of this, for loops without ends.
_ALIGNED = 32


class Topic:
    """The factors of candidates by what a text is about, to a power above 0.

    directions (V + 1, d) int16 of rows, worth (V + 1,) of each in a text's mean; the
    factor of a cosine is its scale-fold, rounded, in values (steps,), 1 in the middle.
    """

    def __init__(self, lexicon: Lexicon, power: float) -> None:
        rows = lexicon.vectors
        if "glove_sha256" in lexicon.meta:
            # Of a lexicon that dptext built: GloVe's part, without what was fitted to
            # synonyms and without polarity (tools.english.vectors).
            rows = rows[:, : (rows.shape[1] - 1) // 2]
        row_of = lexicon.row_of
        function = language_data.stop_words(lexicon.language)
        grammar = [row_of[word] for word in function & row_of.keys()]
        mean = unit(rows[:_FREQUENT].astype(np.float64)).mean(axis=0)
        padded = -(-rows.shape[1] // _ALIGNED) * _ALIGNED
        self.directions = np.zeros((len(rows), padded), np.int16)
        for begin in range(0, len(rows), _FREQUENT):  # for less memory
            part = slice(begin, begin + _FREQUENT)
            moved = unit(unit(rows[part].astype(np.float64)) - mean)
            self.directions[part, : rows.shape[1]] = np.rint(moved * _LENGTH)
        self.directions[grammar] = 0
        rare = np.clip(-np.log(lexicon.prior) - _COMMON, 0.0, _RARE)
        self.worth = np.rint(4.0 * rare).astype(np.float32)
        self.worth[grammar] = 0.0
        largest = int(np.ceil(power * _STEPS * 1.1))
        codes = np.arange(-largest, largest + 1)
        self.values = np.exp(codes / _STEPS).astype(np.float32)
        self.scale = power * _STEPS / _LENGTH**2

    def factors(self, rows: Ids, released: Released) -> Singles:
        """Return the factor of each candidate of each drawn word: (n, c).

        rows (n, c) are candidates, V the unknown word.
        """
        topics = self._topics(released.drawn, released.texts, *self._sums(released))
        factors = np.empty(rows.shape, np.float32)
        for begin in range(0, len(rows), _BLOCK):
            part = slice(begin, begin + _BLOCK)
            near = self.directions[rows[part]].astype(np.float32)
            cosines = np.einsum("ncd,nd->nc", near, topics[part])
            codes = np.rint(cosines * self.scale).astype(np.int64)
            factors[part] = self.values.take(codes + len(self.values) // 2, mode="clip")
        return factors

    def nearness(self, released: Released, positions: Ints) -> Singles:
        """Return the cosines of some drawn words with the topics of their texts: (m,).

        Nearer to 0 where few other words of the text have a direction.
        """
        drawn, texts = released.drawn[positions], released.texts[positions]
        topics = self._topics(drawn, texts, *self._sums(released))
        near = self.directions[drawn].astype(np.float32)
        cosines: Singles = np.einsum("nd,nd->n", near, topics) / np.float32(_LENGTH**2)
        return cosines

    def _sums(self, released: Released) -> tuple[Vectors, Ints]:
        """Return the sums of the directions of each text (texts, d), of how many."""
        rows, of_rows = _rows_and_texts(released)
        texts, dimensions = len(released.ends), self.directions.shape[1]
        sums, counts = np.zeros((texts, dimensions)), np.zeros(texts, np.int64)
        if kernel.library is not None:
            kernel.library.topic_sums(
                *(len(rows), dimensions, rows, of_rows),
                *(self.directions, self.worth, sums, counts),
            )
            return sums, counts
        worth = self.worth[rows]
        np.add.at(sums, of_rows, self.directions[rows] * worth[:, None])
        return sums, np.bincount(of_rows[worth > 0.0], minlength=texts)

    def _topics(self, drawn: Ids, texts: Ints, sums: Vectors, counts: Ints) -> Singles:
        """Return the mean direction of the other draws of each word's text: (n, d)."""
        worth = self.worth[drawn]
        each = self.directions[drawn] * worth[:, None]
        others = (counts[texts] - (worth > 0.0)).astype(np.float32)
        # So much shorter that the square of its length is exact in 32 bits.
        shares = np.float32(1.0 / 16.0) / np.maximum(others, np.float32(1.0))
        mean = np.rint((sums.astype(np.float32)[texts] - each) * shares[:, None])
        length = np.sqrt(np.einsum("nd,nd->n", mean, mean))
        weight = _LENGTH * others / ((others + _FEW) * np.maximum(length, 1.0))
        topics: Singles = np.rint(mean * weight[:, None]).astype(np.float32)
        return topics

    def kernel_arguments(self, released: Released) -> tuple[object, ...]:
        """Return what the kernel takes to weigh words by the topics of a batch."""
        dimensions = self.directions.shape[1]
        scratch = np.empty(dimensions, np.float32), np.empty(dimensions, np.int16)
        factors = self.values, len(self.values), self.scale
        sums = self._sums(released)
        return dimensions, self.directions, self.worth, *sums, *factors, *scratch


_FLOAT, _SHORT = np.empty(0, np.float32), np.empty((1, 0), np.int16)
_SUMS = np.empty((1, 0)), np.empty(0, np.int64)
# The same without a topic.
_NO_TOPIC = 0, _SHORT, _FLOAT, *_SUMS, _FLOAT, 0, 0.0, _FLOAT, _SHORT


def _rows_and_texts(released: Released) -> tuple[Ids, Ints]:
    """Return the drawn words, then the copied common words, and their texts."""
    drawn, texts = released.drawn, released.texts
    if released.copied is None:
        return drawn, texts
    places = np.flatnonzero(released.copied >= 0)
    of_places = np.searchsorted(released.ends, places, side="right")
    rows = np.concatenate((drawn, released.copied[places])).astype(np.int32)
    return rows, np.concatenate((texts, of_places))


# A candidate that is so much less likely than the best one is not told from it.
_LEAST = 1e-12
# Of function words so many are names inside a sentence where they have a capital; they
# are never written there.
_FUNCTION = 0.02
# Candidates of an attacker, who has time.
_MANY = 40
# What a nat of the language model counts beside a closeness of 1 in what is written.
# Chosen on training rows of AG News, SST-2 and IMDb (docs/decoding.md).
FLUENCY = 0.02
# So many of the candidates of a word may be written, the closest ones.
_WRITTEN = 8


class CandidateTable(NamedTuple):
    """The candidates of each output at one epsilon: rows (O, c), V the unknown word.

    weights (O, c) as in `posterior.Words`; a padding weighs 0. writable (O, c) tells
    which candidates may be written (dptext.attackers.channel.Candidates).
    """

    rows: Ids
    writable: Mask
    weights: Singles


class Weighed(NamedTuple):
    """The k likeliest candidates of n drawn words, by each word and by the topic.

    rows (k, n), V the unknown word; columns (k, n), where they stand in the tables;
    writable (k, n); words, as the posterior takes them; chains, those of the words.
    """

    rows: Ids
    columns: Rows
    writable: Mask
    words: WordCandidates
    chains: Chains


# The tables of a model and a lexicon are large, and pipelines share them.
_gains = lru_cache(maxsize=2)(Gains)
_whole_gains = lru_cache(maxsize=2)(WholeGains)
_topic = lru_cache(maxsize=2)(Topic)


class PairAttacker:
    """Reads what is released through a channel, with a model over its lexicon.

    count, candidates of each word; kept, how many of them the words around it are
    asked about, all if not given: those that weigh most; weight, the power of the
    language model; topic, that of what the text is about, 0 to leave that out; whole,
    whether pairs of all words count: an attacker's way, for a power of 1, which chooses
    no path. common, what a common word weighs beside one that may have been replaced:
    no replaced word was one, but one may be written, since people read these best.
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
        kept: int | None = None,
        *,
        whole: bool = False,
        common: float = 0.0,
    ) -> None:
        channel.check()
        self._common = common
        self.channel = channel
        function = language_data.stop_words(channel.lexicon.language)
        keys = [*channel.lexicon.row_of]
        self._function = np.array([*(key in function for key in keys), False])
        # There are no more inputs than words and the unknown word.
        self._model, self._count = model, min(count, model.size + 1)
        self._kept, self._weight = min(kept or self._count, self._count), weight
        assert weight == 1.0 or not whole
        self._gains = _whole_gains(model) if whole else _gains(model, weight)
        size = model.size + 1
        backoff = weight * model.backoff[:size].astype(np.float64)
        self._backoff = np.exp(backoff).astype(np.float32)
        self._backoff_scores = posterior.scores_of(backoff)
        alone = weight * model.alone[:size].astype(np.float64)
        self._alone_scores = posterior.scores_of(alone)
        self._topic = _topic(channel.lexicon, topic) if topic else None
        self.table = lru_cache(maxsize=TABLES)(self._table)

    def at_full_strength(self) -> PairAttacker:
        """Return the attacker with the same model who guesses as well as it can."""
        return PairAttacker.strongest(self.channel, self._model)

    @classmethod
    def strongest(cls, channel: Channel, model: Ngrams, *, whole: bool = True) -> Self:
        """Return the attacker that finds most with a model of pairs alone.

        whole: with the pairs of all words, which takes several times as long.
        """
        return cls(channel, model, topic=POWER, whole=whole)

    def posterior(self, released: Released) -> tuple[Ids, Singles]:
        """Return the candidates of each drawn word, and how likely each is: (k, n)."""
        weighed = self.weighed(released)
        return weighed.rows, self.likely(weighed)

    def likely(self, weighed: Weighed) -> Singles:
        """Return the posterior probability of each candidate: (k, n)."""
        return posterior.marginals(weighed.chains, weighed.words, self._gains)

    def nearness(self, released: Released, positions: Ints) -> Singles | None:
        """Return how near drawn words are to what their texts are about: (m,).

        Cosines of their directions; None where topics are left out.
        """
        if self._topic is None or not len(positions):
            return None
        return self._topic.nearness(released, positions)

    def evidence(self, released: Released) -> tuple[Ids, Floats, Mask]:
        """Return candidates (k, n), ln of how likely each is, and which to write."""
        weighed = self.weighed(released)
        with np.errstate(divide="ignore"):
            logs = np.log(self.likely(weighed).astype(np.float64))
        return weighed.rows, logs, weighed.writable

    def guess(self, released: Released) -> Ids:
        """Return the most probable word of each drawn one, unknown ones left out."""
        rows, likely = self.posterior(released)
        likely[rows == len(self.channel.prior)] = -1.0
        best = likely.argmax(axis=0)
        return np.asarray(rows[best, np.arange(rows.shape[1])])

    def best_path(self, released: Released) -> Ids:
        """Return the likeliest text of words that may be drawn: (n,)."""
        weighed = self.weighed(released)
        # A word without any such candidate is written as it was drawn.
        none = ~weighed.writable.any(axis=0)
        possible = weighed.writable | none
        with np.errstate(divide="ignore"):
            logs = np.log(weighed.words.weights.astype(np.float64))
        scores = posterior.scores_of(np.where(possible, logs, -np.inf))
        backoff = self._backoff_scores[weighed.rows]
        candidates = PathCandidates(weighed.words.slots, scores, backoff)
        rows = self._path(weighed.chains, weighed.rows, candidates)
        return np.where(none, released.drawn, rows)

    def closest_text(
        self,
        released: Released,
        rows: Ids,
        closeness: Vectors,
        fluency: float,
        chains: Chains | None = None,
    ) -> Ids:
        """Return the words z of the largest sum of closeness + fluency * ln L(z): (n,).

        rows (k, n) to choose among, closeness (k, n) of each from -1 to 1, -inf where
        it may not be written; L is the language model to its weight; chains, those of
        the words where they are known.
        """
        # Numbers above 0, in whatever order candidates of equal closeness stand.
        worth = np.where(np.isfinite(closeness), closeness + 2.0, 0.0)
        rows, candidates = self._closest(rows, worth.astype(np.float32), fluency)
        if chains is None:
            chains = posterior.chains_of(released, self.channel.lexicon)
        return self._path(chains, rows, candidates)

    def _closest(
        self, rows: Ids, worth: Singles, fluency: float
    ) -> tuple[Ids, PathCandidates]:
        """Return the rows of largest worth (k, n), and how a path weighs them."""
        if kernel.library is None:
            best = largest(worth.T, _WRITTEN).T
            rows = np.take_along_axis(rows, best, axis=0)
            worth = np.take_along_axis(worth, best, axis=0)
            nats = np.where(worth > 0.0, worth.astype(np.float64) / fluency, -np.inf)
            scores = posterior.scores_of(nats) + self._alone_scores[rows]
            slots, backoff = self._gains.slot_of[rows], self._backoff_scores[rows]
            return rows, PathCandidates(slots, scores, backoff)
        worth, rows = posterior.by_word(worth), posterior.by_word(rows)
        count, width = worth.shape
        kept = min(_WRITTEN, width)
        closest, *scored = (np.empty((count, kept), np.int32) for _ in range(4))
        kernel.library.closest(
            *(count, width, kept, worth, rows, fluency, posterior.NAT),
            *(self._gains.slot_of, self._alone_scores, self._backoff_scores),
            *(closest, *scored),
        )
        return closest.T, PathCandidates(*(each.T for each in scored))

    def _path(self, chains: Chains, rows: Ids, candidates: PathCandidates) -> Ids:
        assert isinstance(self._gains, Gains)
        chosen = posterior.viterbi(chains, candidates, self._gains)
        return np.asarray(rows[chosen, np.arange(len(chosen))])

    def weighed(self, released: Released) -> Weighed:
        """Return the likeliest candidates of each drawn word."""
        if kernel.library is None:
            return self._weighed(released)
        shape = len(released.drawn), self._kept
        rows, columns, slots = (np.empty(shape, np.int32) for _ in range(3))
        weights, backoff = (np.empty(shape, np.float32) for _ in range(2))
        writable = np.empty(shape, np.bool_)
        topic = self._topic and self._topic.kernel_arguments(released)
        for shown, positions in self.channel.groups(released):
            table, drawn = self.table(shown), released.drawn[positions]
            if drawn.min() < 0 or drawn.max() >= len(table.rows):
                raise IndexError("a word that the mechanism does not draw")
            kernel.library.weigh(
                *(len(positions), positions, released.drawn, released.texts),
                *(self._count, self._kept, *table, *(topic or _NO_TOPIC)),
                *(self._gains.slot_of, self._backoff),
                *(rows, columns, writable, slots, weights, backoff),
            )
        words = WordCandidates(slots.T, weights.T, backoff.T)
        chains = posterior.chains_of(released, self.channel.lexicon)
        return Weighed(rows.T, columns.T, writable.T, words, chains)

    def _weighed(self, released: Released) -> Weighed:
        shape = len(released.drawn), self._count
        rows, writable = np.zeros(shape, np.int32), np.zeros(shape, bool)
        weights = np.zeros(shape, np.float32)
        for shown, positions in self.channel.groups(released):
            table, drawn = self.table(shown), released.drawn[positions]
            rows[positions] = table.rows[drawn]
            writable[positions] = table.writable[drawn]
            weights[positions] = table.weights[drawn]
        if self._topic is not None and len(rows):
            weights *= self._topic.factors(rows, released)
        columns = largest(weights, self._kept)
        rows, writable, weights = (
            np.ascontiguousarray(np.take_along_axis(each, columns, axis=1).T)
            for each in (rows, writable, weights)
        )
        words = WordCandidates(self._gains.slot_of[rows], weights, self._backoff[rows])
        chains = posterior.chains_of(released, self.channel.lexicon)
        return Weighed(rows, columns.T, writable, words, chains)

    def _table(self, shown: Shown) -> CandidateTable:
        model, channel = self._model, self.channel
        alone = model.alone[: model.size + 1].astype(np.float64)
        inputs = channel.inputs_of(shown, np.exp(alone))
        weigh = np.zeros(len(inputs))
        if shown.capital:
            inputs[self._function] *= _FUNCTION
            weigh[self._function] = np.log(_FUNCTION)
        if self._common and not shown.capital:
            common = channel.common & channel.has_form(shown)
            inputs[common] = self._common * np.exp(alone[common])
            weigh[common] = np.log(self._common)
        every = shown.epsilon, self._count, inputs
        rows, log_probs, writable = channel.candidates(*every)
        logs = log_probs + self._weight * alone[rows] + weigh[rows]
        top = logs.max(axis=1, keepdims=True)
        weights = np.exp(logs - np.where(np.isfinite(top), top, 0.0))
        weights = np.where(np.isfinite(logs), np.maximum(weights, _LEAST), 0.0)
        return CandidateTable(rows, writable, weights.astype(np.float32))


class SameKindAttacker(PairAttacker):
    """Reads with the pairs of public text of the same kind as what it reads."""

    name = "same-kind"
    assumes = (
        "knows mechanism and epsilon; reads all that is released of a text with the "
        "pairs of words of other public texts of the same kind, and what it is about"
    )


def largest(weights: Singles, count: int) -> Ints:
    """Return where the largest of each row stand, in order of place: (n, count).

    weights (n, c), none below 0. Of equal ones the first, on every machine.
    """
    width = weights.shape[1]
    if count >= width:
        return np.broadcast_to(np.arange(width), weights.shape)
    # Numbers of single precision above 0 are ordered as their bits are.
    keys = np.ascontiguousarray(weights, np.float32).view(np.int32).astype(np.int64)
    keys = keys * width + np.arange(width - 1, -1, -1)
    top = np.partition(keys, width - count, axis=1)[:, width - count :]
    columns: Ints = np.sort(width - 1 - top % width, axis=1)
    return columns
