"""Attacker with an n-gram model and a topic: the posterior of each drawn word.

Evidence for a word: its draw, the words before and after it, the topic of its text.
Decoders choose words by the posterior, and attackers guess by it.

The topic: p(x) of a candidate x of word i becomes p(x) e^(power cos(x, t_i)). t_i is
the mean direction of all other drawn words of the text, in which rare words weigh more;
it is shorter if there are few of them. Function words, in languages with a list of
them, have no direction. The topic is a function of the draws. Directions are whole
numbers: their sums are exact in any order and on any machine.
Source: language models with a latent semantic part (Bellegarda 2000, Exploiting latent
semantic information in statistical language modeling).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dptext.attackers import kernel, posterior
from dptext.attackers.channel import TABLES, Channel, Observation
from dptext.attackers.ngrams import Gains, Ngrams
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
    blocks,
)

# The power of the topic; chosen on training rows of AG News and SST-2
# (docs/results/decoding.md).
POWER = 4.0
# What a nat of the language model counts against a closeness of 1 in written words.
# Chosen on training rows of AG News, SST-2 and IMDb (docs/results/decoding.md).
FLUENCY = 0.02
# The length of a direction: sums of products stay below 2^24, exact in 32 bits.
_LENGTH = 1000.0
# The mean direction of so many frequent words belongs to no topic: it is subtracted.
_FREQUENT = 8000
# Vectors that stay in the cache of the processor.
_AT_ONCE = 1024
# A word counts for the topic by how much its -ln p exceeds _COMMON, at most _RARE.
_COMMON, _RARE = 5.0, 7.0
# With so many other words the mean direction is half as long as with very many.
_FEW = 3.0
# Steps of a nat in the logarithm of a factor.
STEPS = 16
# Number of words to compute factors for at once, to limit memory.
_BLOCK = 256
# Most words of a part of a batch: their candidates take about 1 KB each.
_PART = 2 * posterior.LONGEST
# The arrays of a batch with one entry for each drawn word.
_OF_WORDS = ("positions", "texts", "drawn", "eps")
# Dimensions are padded with zeros to a multiple of this: loops of the kernel have no
# remainder.
_ALIGNED = 32
# So many function words stand for a name inside a sentence where they have a capital;
# they are never written there.
_FUNCTION = 0.02
# Candidates of an attacker, who has time.
_MANY = 40
# Candidates of a word that may be written: the closest ones.
_WRITTEN = 8


class TopicSums(NamedTuple):
    """Sums of the d-dimensional word directions of r texts."""

    #: (r, d) the sum of the directions of each text.
    sums: Vectors
    #: (r,) how many words they are of.
    counts: Ints


class Topic:
    """Weights candidates by the topic of their text, raised to a power above 0."""

    #: (V + 1, d) int16, the direction of each row.
    directions: NDArray[np.int16]
    #: (V + 1,), the weight of each row in the mean of a text.
    worth: Singles
    #: The factors, by the rounded product of cosine and scale; 1 in the middle.
    values: Singles
    scale: float

    def __init__(self, lexicon: Lexicon, power: float) -> None:
        rows = lexicon.vectors
        if "glove_sha256" in lexicon.meta:
            # In lexicons that dptext builds, GloVe's own dimensions come first; those
            # fitted to synonyms, and polarity, follow (tools.english.vectors).
            rows = rows[:, : (rows.shape[1] - 1) // 2]
        row_of = lexicon.row_of
        function = language_data.stop_words(lexicon.language)
        function_rows = [row_of[word] for word in function & row_of.keys()]
        mean = unit(rows[:_FREQUENT].astype(np.float64)).mean(axis=0)
        padded = -(-rows.shape[1] // _ALIGNED) * _ALIGNED
        self.directions = np.zeros((len(rows), padded), np.int16)
        for part in blocks(len(rows), _AT_ONCE):  # for less memory
            moved = unit(unit(rows[part].astype(np.float64)) - mean)
            self.directions[part, : rows.shape[1]] = np.rint(moved * _LENGTH)
        self.directions[function_rows] = 0
        rare = np.clip(-np.log(lexicon.prior) - _COMMON, 0.0, _RARE)
        # Quarters of a nat, so that sums of products are whole numbers.
        self.worth = np.rint(4.0 * rare).astype(np.float32)
        self.worth[function_rows] = 0.0
        # A cosine of rounded directions may be a little above 1.
        largest = int(np.ceil(power * STEPS * 1.1))
        codes = np.arange(-largest, largest + 1)
        self.values = np.exp(codes / STEPS).astype(np.float32)
        self.scale = power * STEPS / _LENGTH**2

    def factors(
        self, rows: Ids, released: Released, sums: TopicSums | None = None
    ) -> Singles:
        """Return topic factors of candidate rows (n, c); row V is the unknown word."""
        topics = self.means(released, sums)
        factors = np.empty(rows.shape, np.float32)
        for part in blocks(len(rows), _BLOCK):
            factors[part] = self.factors_by(rows[part], topics[part])
        return factors

    def means(self, released: Released, sums: TopicSums | None = None) -> Singles:
        """Return the mean direction of the other words of each word's text: (n, d)."""
        sums = sums or self.sums(released)
        return self._topics(released.drawn, released.texts, sums)

    def factors_by(self, rows: Ids, means: Singles) -> Singles:
        """Return topic factors of candidates (n, c) from mean directions (n, d)."""
        codes = self.steps_by(rows, means) + len(self.values) // 2
        return np.asarray(self.values.take(codes))

    def steps_by(self, rows: Ids | Ints, means: Singles) -> Ints:
        """Return log factors in whole steps of 1 / STEPS: (n, c)."""
        near = self.directions[rows].astype(np.float32)
        cosines = np.einsum("ncd,nd->nc", near, means)
        most = len(self.values) // 2
        steps = np.rint(cosines * self.scale).astype(np.int64)
        return np.asarray(np.clip(steps, -most, most))

    def nearness(
        self, released: Released, positions: Ints, sums: TopicSums | None = None
    ) -> Singles:
        """Return the cosine between drawn words and the topics of their texts: (m,).

        Values shrink towards 0 if few other words of the text have a direction.
        """
        drawn, texts = released.drawn[positions], released.texts[positions]
        topics = self._topics(drawn, texts, sums or self.sums(released))
        near = self.directions[drawn].astype(np.float32)
        cosines = np.einsum("nd,nd->n", near, topics) / np.float32(_LENGTH**2)
        return np.asarray(cosines)

    def sums(self, released: Released) -> TopicSums:
        """Return the summed word directions of each text."""
        rows, row_texts = _rows_and_texts(released)
        texts, dimensions = len(released.ends), self.directions.shape[1]
        sums, counts = np.zeros((texts, dimensions)), np.zeros(texts, np.int64)
        if kernel.library is not None:
            words = len(rows), dimensions, rows, row_texts
            vectors = self.directions, self.worth
            kernel.library.topic_sums(*words, *vectors, sums, counts)
            return TopicSums(sums, counts)
        worth = self.worth[rows]
        np.add.at(sums, row_texts, self.directions[rows] * worth[:, None])
        counts = np.bincount(row_texts[worth > 0.0], minlength=texts)
        return TopicSums(sums, counts)

    def _topics(self, drawn: Ids, texts: Ints, of_texts: TopicSums) -> Singles:
        """Return the mean direction of the other words of each word's text: (n, d)."""
        sums, counts = of_texts
        worth = self.worth[drawn]
        each = self.directions[drawn] * worth[:, None]
        others = (counts[texts] - (worth > 0.0)).astype(np.float32)
        # A sixteenth of the mean: the square of its length is exact in 32 bits.
        shares = np.float32(1.0 / 16.0) / np.maximum(others, np.float32(1.0))
        mean = np.rint((sums.astype(np.float32)[texts] - each) * shares[:, None])
        length = np.sqrt(np.einsum("nd,nd->n", mean, mean))
        weight = _LENGTH * others / ((others + _FEW) * np.maximum(length, 1.0))
        return np.asarray(np.rint(mean * weight[:, None]), np.float32)

    def kernel_arguments(self, sums: TopicSums) -> tuple[object, ...]:
        """Return the topics of texts as arguments of the kernel function `weigh`."""
        dimensions = self.directions.shape[1]
        scratch = np.empty(dimensions, np.float32), np.empty(dimensions, np.int16)
        factors = self.values, len(self.values), self.scale
        return dimensions, self.directions, self.worth, *sums, *factors, *scratch


def no_topic() -> tuple[object, ...]:
    """Return the arguments of the kernel function `weigh` without a topic."""
    singles, shorts = np.empty(0, np.float32), np.empty((1, 0), np.int16)
    sums = np.empty((1, 0)), np.empty(0, np.int64)
    return 0, shorts, singles, *sums, singles, 0, 0.0, singles, shorts


def _rows_and_texts(released: Released) -> tuple[Ids, Ints]:
    """Return the rows of drawn and of copied common words, and their text numbers."""
    drawn, texts = released.drawn, released.texts
    if released.copied is None:
        return drawn, texts
    places = np.flatnonzero(released.copied >= 0)
    place_texts = np.searchsorted(released.ends, places, side="right")
    rows = np.concatenate((drawn, released.copied[places])).astype(np.int32)
    return rows, np.concatenate((texts, place_texts))


class CandidateTable(NamedTuple):
    """The c candidates of each of O outputs at a given epsilon."""

    #: (O, c), V for the unknown word.
    rows: Ids
    #: (O, c), which may be written (dptext.attackers.channel.InputCandidates).
    writable: Mask
    #: (O, c) as in `posterior.WordCandidates`; 0 for padding.
    weights: Singles


class WeighedCandidates(NamedTuple):
    """The k best candidates of n drawn words, by draw and topic."""

    #: (k, n), V for the unknown word.
    rows: Ids
    #: (k, n) the columns of the candidates in the tables.
    columns: Rows
    #: (k, n) which may be written.
    writable: Mask
    #: The candidates as arguments of the posterior.
    words: WordCandidates
    chains: Chains


class BatchPart(NamedTuple):
    """A slice of a batch's drawn words: whole chains, possibly part of a text."""

    #: With the pieces of the whole batch.
    released: Released
    chains: Chains
    #: Of the texts of the whole batch; None without a topic.
    topics: TopicSums | None


# The tables of a model and a lexicon are large, and pipelines share them.
_gains = lru_cache(maxsize=2)(Gains)
find_topic = lru_cache(maxsize=2)(Topic)


class PairAttacker:
    """Guesses words from the channel, a pair model of the lexicon, and the topic.

    - count: candidates per word, chosen by its draw and the topic.
    - kept: the most likely candidates, weighed with the words around them; all
      if None.
    - weight: exponent of the language model; topic: exponent of the topic, 0 for none.
    - common: weight of a common word relative to words that may have been replaced. No
      replaced word was common, but decoders may write such a word: people read these
      best.
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
        *,
        count: int = _MANY,
        weight: float = 1.0,
        topic: float = 0.0,
        kept: int | None = None,
        common: float = 0.0,
    ) -> None:
        channel.check()
        self._common = common
        self.channel = channel
        function = language_data.stop_words(channel.lexicon.language)
        keys = [*channel.lexicon.row_of]
        self._function = np.array([*(key in function for key in keys), False])
        # All inputs are the words and the unknown word.
        self._model, self._count = model, min(count, model.size + 1)
        self._kept, self._weight = min(kept or self._count, self._count), weight
        self._gains = _gains(model, weight)
        size = model.size + 1
        backoff = weight * model.backoff[:size].astype(np.float64)
        self._backoff = np.exp(backoff).astype(np.float32)
        self._backoff_scores = posterior.to_scores(backoff)
        alone = weight * model.alone[:size].astype(np.float64)
        self._alone_scores = posterior.to_scores(alone)
        self._topic = find_topic(channel.lexicon, topic) if topic else None
        self.table = lru_cache(maxsize=TABLES)(self._table)

    def posterior(self, released: Released) -> tuple[Ids, Singles]:
        """Return the candidates of each drawn word and their probabilities: (k, n)."""
        weighed = self.weighed(released)
        return weighed.rows, self.likely(weighed)

    def likely(self, weighed: WeighedCandidates) -> Singles:
        """Return the posterior probability of each candidate: (k, n)."""
        return posterior.marginals(weighed.chains, weighed.words, self._gains)

    def parts(self, released: Released) -> Iterator[BatchPart]:
        """Split a batch into parts, to limit memory.

        Splitting does not change the results.
        """
        chains = posterior.find_chains(released, self.channel.lexicon)
        topics = None if self._topic is None else self._topic.sums(released)
        for part in chains.parts(_PART):
            words = {name: getattr(released, name)[part] for name in _OF_WORDS}
            if released.grammar is not None:
                words["grammar"] = released.grammar[part]
            yield BatchPart(replace(released, **words), chains.take(part), topics)

    def nearness(self, part: BatchPart, positions: Ints) -> Singles | None:
        """Return the cosines of drawn words with the topics of their texts: (m,).

        None if topics are not used.
        """
        if self._topic is None or not len(positions):
            return None
        return self._topic.nearness(part.released, positions, part.topics)

    def evidence(self, released: Released) -> tuple[Ids, Floats, Mask]:
        """Return candidates (k, n), their log probabilities, and a writable mask."""
        weighed = self.weighed(released)
        with np.errstate(divide="ignore"):
            logs = np.log(self.likely(weighed).astype(np.float64))
        return weighed.rows, logs, weighed.writable

    def guess(self, released: Released) -> Ids:
        """Return the most likely known word for each drawn word: (n,)."""
        rows, likely = self.posterior(released)
        likely[rows == len(self.channel.prior)] = -1.0
        return np.asarray(rows[likely.argmax(axis=0), np.arange(rows.shape[1])])

    def best_path(self, released: Released) -> Ids:
        """Return the most likely sequence of words that may be drawn: (n,)."""
        return self.likeliest_text(released, self.weighed(released))

    def likeliest_text(self, released: Released, weighed: WeighedCandidates) -> Ids:
        """Return the most likely sequence of the weighed candidates: (n,)."""
        # A word without such a candidate is written as it was drawn.
        none = ~weighed.writable.any(axis=0)
        possible = weighed.writable | none
        with np.errstate(divide="ignore"):
            logs = np.log(weighed.words.weights.astype(np.float64))
        scores = posterior.to_scores(np.where(possible, logs, -np.inf))
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
        *,
        chains: Chains | None = None,
    ) -> Ids:
        """Return the words z that maximise the sum of closeness + fluency * ln L(z).

        Chosen among rows (k, n) with closeness (k, n) from -1 to 1, -inf for
        words that may not be written. L is the weighted language model. Chains are
        computed if not given.
        """
        # Above 0, as `largest` needs them.
        worth = np.where(np.isfinite(closeness), closeness + 2.0, 0.0)
        rows, candidates = self._closest(rows, worth.astype(np.float32), fluency)
        if chains is None:
            chains = posterior.find_chains(released, self.channel.lexicon)
        return self._path(chains, rows, candidates)

    def _closest(
        self, rows: Ids, worth: Singles, fluency: float
    ) -> tuple[Ids, PathCandidates]:
        """Return the rows of largest worth (k, n), and path weights of candidates."""
        if kernel.library is None:
            best = largest(worth.T, _WRITTEN).T
            rows = np.take_along_axis(rows, best, axis=0)
            worth = np.take_along_axis(worth, best, axis=0)
            nats = np.where(worth > 0.0, worth.astype(np.float64) / fluency, -np.inf)
            scores = posterior.to_scores(nats) + self._alone_scores[rows]
            slots, backoff = self._gains.slot_of[rows], self._backoff_scores[rows]
            return rows, PathCandidates(slots, scores, backoff)
        worth, rows = posterior.word_major(worth), posterior.word_major(rows)
        count, width = worth.shape
        kept = min(_WRITTEN, width)
        closest, *scored = (np.empty((count, kept), np.int32) for _ in range(4))
        words = count, width, kept, worth, rows, fluency, posterior.NAT
        model = self._gains.slot_of, self._alone_scores, self._backoff_scores
        kernel.library.closest(*words, *model, closest, *scored)
        return closest.T, PathCandidates(*(each.T for each in scored))

    def _path(self, chains: Chains, rows: Ids, candidates: PathCandidates) -> Ids:
        chosen = posterior.viterbi(chains, candidates, self._gains)
        return np.asarray(rows[chosen, np.arange(len(chosen))])

    def weighed(self, released: Released) -> WeighedCandidates:
        """Return the most likely candidates of each drawn word."""
        chains = posterior.find_chains(released, self.channel.lexicon)
        topics = None if self._topic is None else self._topic.sums(released)
        return self.weigh(BatchPart(released, chains, topics))

    def weigh(self, part: BatchPart) -> WeighedCandidates:
        """Return the most likely candidates of each drawn word in a part."""
        if kernel.library is None:
            return self._weigh(part)
        released = part.released
        shape = len(released.drawn), self._kept
        rows, columns, slots = (np.empty(shape, np.int32) for _ in range(3))
        weights, backoff = (np.empty(shape, np.float32) for _ in range(2))
        writable = np.empty(shape, np.bool_)
        model = self._gains.slot_of, self._backoff
        results = rows, columns, writable, slots, weights, backoff
        topic = no_topic()
        if self._topic is not None and part.topics is not None:
            topic = self._topic.kernel_arguments(part.topics)
        for shown, positions in self.channel.groups(released):
            table, drawn = self.table(shown), released.drawn[positions]
            if drawn.min() < 0 or drawn.max() >= len(table.rows):
                raise IndexError("a word that the mechanism does not draw")
            words = len(positions), positions, released.drawn, released.texts
            tables = self._count, self._kept, *table
            kernel.library.weigh(*words, *tables, *topic, *model, *results)
        return WeighedCandidates(
            rows=rows.T,
            columns=columns.T,
            writable=writable.T,
            words=WordCandidates(slots.T, weights.T, backoff.T),
            chains=part.chains,
        )

    def _weigh(self, part: BatchPart) -> WeighedCandidates:
        """Weigh the candidates in numpy, without the kernel."""
        released = part.released
        shape = len(released.drawn), self._count
        rows, writable = np.zeros(shape, np.int32), np.zeros(shape, bool)
        weights = np.zeros(shape, np.float32)
        for shown, positions in self.channel.groups(released):
            table, drawn = self.table(shown), released.drawn[positions]
            rows[positions] = table.rows[drawn]
            writable[positions] = table.writable[drawn]
            weights[positions] = table.weights[drawn]
        if self._topic is not None and len(rows):
            weights *= self._topic.factors(rows, released, part.topics)
        columns = largest(weights, self._kept)
        rows, writable, weights = (
            np.ascontiguousarray(np.take_along_axis(each, columns, axis=1).T)
            for each in (rows, writable, weights)
        )
        slots, backoff = self._gains.slot_of[rows], self._backoff[rows]
        return WeighedCandidates(
            rows=rows,
            columns=columns.T,
            writable=writable,
            words=WordCandidates(slots, weights, backoff),
            chains=part.chains,
        )

    def _table(self, shown: Observation) -> CandidateTable:
        model, channel = self._model, self.channel
        alone = model.alone[: model.size + 1].astype(np.float64)
        inputs = channel.restrict_prior(shown, np.exp(alone))
        weigh = np.zeros(len(inputs))
        if shown.capital:
            inputs[self._function] *= _FUNCTION
            weigh[self._function] = np.log(_FUNCTION)
        if self._common and not shown.capital:
            common = channel.common & channel.has_form(shown)
            inputs[common] = self._common * np.exp(alone[common])
            weigh[common] = np.log(self._common)
        rows, log_probs, writable = channel.candidates(
            shown.epsilon, self._count, inputs
        )
        logs = log_probs + self._weight * alone[rows] + weigh[rows]
        return CandidateTable(rows, writable, posterior.relative(logs))


def largest(weights: Singles, count: int) -> Ints:
    """Return the columns of the largest weights per row, ascending: (n, count).

    Weights (n, c) are not negative. Ties go to the first column, on every machine.
    """
    width = weights.shape[1]
    if count >= width:
        return np.broadcast_to(np.arange(width), weights.shape)
    # Bits of non-negative single-precision numbers have the order of the numbers. Their
    # column makes keys distinct, so that a partition has one result.
    keys = np.ascontiguousarray(weights, np.float32).view(np.int32).astype(np.int64)
    keys = keys * width + np.arange(width - 1, -1, -1)
    top = np.partition(keys, width - count, axis=1)[:, width - count :]
    return np.sort(width - 1 - top % width, axis=1)
