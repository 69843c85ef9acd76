"""Attackers who read whole texts, combining the draw and the context.

For a drawn word y the weight of a candidate x of the shown form
(dptext.tokens.grammar) is

    P(y|x) p(x, capital) topic(x) near(x)^a before(x)^b between(x)^c after(x)^d

and pairs of words weigh the candidates of neighbours together, from both sides
(dptext.attackers.posterior). P is the exact law of the draw, and the topic that of
dptext.attackers.pairs. Public text of the kind gives p, near, and the triples of the
word with two copied words before it, on either side and after it
(dptext.attackers.contexts). Without such text p is that of the pairs, and near and the
triples are 1.

Candidates are the likeliest inputs of the draw, and the likeliest words by each of the
other factors: where common words are copied the draw reveals almost nothing, and the
words around it almost everything. There, with text of the kind, a second reading takes
the likely words of the first as known.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from dptext.attackers import posterior
from dptext.attackers.channel import TABLES, Channel, Observation
from dptext.attackers.contexts import (
    Contexts,
    Near,
    Passages,
    TextKind,
    WordSequence,
    expand,
)
from dptext.attackers.ngrams import Ngrams, WholeGains, absolute_discount, decode_gains
from dptext.attackers.pairs import POWER, find_topic, largest
from dptext.attackers.posterior import WordCandidates
from dptext.types import Floats, Ids, Ints, Mask, Released, Singles, blocks

# Candidates of a word by its draw, by a pair or triple, and by frequency alone.
_DRAWN, _LISTED, _FREQUENT = 40, 150, 30
# Candidates by the context that are compared by all evidence.
_COMPARED = 100
# Candidates that are weighed with those of the neighbours.
_KEPT = 48
# Drawn words that are read together, to limit memory.
_BLOCK = 1000
# The powers of near and of the triples, and the weight of being far; chosen on training
# rows of AG News that were not counted (docs/results/attackers.md).
_NEAR, _FAR, _TRIPLES = 1.0, 0.3, (0.5, 0.4, 0.5)
# A word of the first reading that is at least as likely is known in the second.
_SURE = 0.5
_READINGS = 2


class Look(NamedTuple):
    """The words that may have produced an observation."""

    epsilon: float
    #: (V + 1,) p of each word with this capital, 0 for excluded ones.
    prior: Floats
    #: (V + 1,) the same whatever the capital.
    frequency: Floats
    #: The most frequent words, and the unknown word.
    first: Ints
    #: (O, c) the likeliest inputs of each output.
    inputs: Ids


class ContextLists(NamedTuple):
    """The most likely words in each context, concatenated."""

    ends: Ints
    rows: Ints

    def words(self, contexts: Ints, most: int) -> tuple[Ints, Ints]:
        """Return context positions and their most likely words: two arrays (m,).

        contexts (n,) are word rows, -1 if unknown.
        """
        numbers = np.flatnonzero(contexts >= 0)
        begins = self.ends[contexts[numbers]]
        lengths = np.minimum(self.ends[contexts[numbers] + 1] - begins, most)
        return expand(numbers, begins, lengths, self.rows)


class Knowledge(NamedTuple):
    """What one reading knows about n drawn words."""

    drawn: Ids
    #: (n,) the number of each word's half of its text.
    halves: Ints
    looks: list[Look]
    #: (n,) the number of each word's look; (n,) whether a capital is shown.
    look: Ints
    capital: Ints
    #: (4, n) the rows of two words before and two after, -1 for unknown.
    around: Ints
    #: (n, d) mean directions of the texts.
    means: Singles
    near: Near | None

    def part(self, at: slice) -> Knowledge:
        """Return the knowledge about the words at given positions."""
        return self._replace(
            drawn=self.drawn[at],
            halves=self.halves[at],
            look=self.look[at],
            capital=self.capital[at],
            around=self.around[:, at],
            means=self.means[at],
        )


class Reader:
    """Reads releases with the channel and a pair model, or with text of a kind."""

    name = "ngram"
    assumes = (
        "knows mechanism and epsilon; reads all that is released of a text with a "
        "public model of pairs of words, from both sides, and what it is about"
    )

    def __init__(
        self, channel: Channel, pairs: Ngrams, kind: TextKind | None = None
    ) -> None:
        channel.check()
        self.channel, self._pairs, self._kind = channel, pairs, kind
        self._size = pairs.size
        self._gains = WholeGains(pairs)
        self._alone = np.exp(pairs.alone[: self._size + 1].astype(np.float64))
        self._backoff = pairs.backoff.astype(np.float64)
        self._topic = find_topic(channel.lexicon, POWER)
        # Among drawn words alone first guesses mislead as often as they help.
        reads_again = kind is not None and channel.policy.common > 0
        self._readings = _READINGS if reads_again else 1
        self._looks = lru_cache(maxsize=TABLES)(self._look)

    def guess(self, released: Released) -> Ids:
        """Return the most likely known word for each drawn word: (n,)."""
        rows, likely = self.posterior(released)
        likely[rows == self._size] = -1.0
        return np.asarray(rows[likely.argmax(axis=0), np.arange(rows.shape[1])])

    def posterior(self, released: Released) -> tuple[Ids, Singles]:
        """Return the candidates of each drawn word and their probabilities: (k, n)."""
        sequence = WordSequence.from_released(released, self.channel.lexicon)
        chains = posterior.find_chains(released, self.channel.lexicon)
        count = len(released.drawn)
        guess, sure = np.full(count, -1), np.zeros(count)
        for _ in range(self._readings):
            rows, weights = self._weigh(self._view(released, sequence, guess, sure))
            slots, backoff = self._gains.slot_of[rows], np.exp(self._backoff[rows])
            words = WordCandidates(slots, weights, backoff.astype(np.float32))
            likely = posterior.marginals(chains, words, self._gains)
            best = likely.argmax(axis=0), np.arange(count)
            guess, sure = rows[best].astype(np.int64), likely[best].astype(np.float64)
        return rows, likely

    def _view(
        self, released: Released, sequence: WordSequence, guess: Ints, sure: Floats
    ) -> Knowledge:
        """Return what a second reading knows from guesses and their certainty."""
        places = np.flatnonzero(sequence.drawn >= 0)
        known = np.array(sequence.rows)
        near = None
        if self._kind is not None:
            near = self._near(
                passages=self._kind.passages,
                sequence=sequence,
                places=places,
                guess=guess,
                sure=sure,
            )
        known[places] = np.where(sure >= _SURE, guess, -1)
        looks, look = [], np.zeros(len(guess), np.int64)
        capital = np.zeros(len(guess), np.int64)
        for number, (shown, at) in enumerate(self.channel.groups(released)):
            looks.append(self._looks(shown))
            look[at], capital[at] = number, shown.capital
        return Knowledge(
            drawn=released.drawn,
            halves=2 * released.texts + np.arange(len(guess)) % 2,
            looks=looks,
            look=look,
            capital=capital,
            around=np.stack([known[places + step] for step in (-2, -1, 1, 2)]),
            means=self._topic.means(released),
            near=near,
        )

    @staticmethod
    def _near(
        passages: Passages,
        sequence: WordSequence,
        places: Ints,
        guess: Ints,
        sure: Floats,
    ) -> Near:
        """Return words of passages similar to each half of the drawn words.

        Copied words and the guesses of the other half are the query, so that no guess
        supports itself.
        """
        parts = []
        for half in (0, 1):
            rows, shares = np.array(sequence.rows), np.ones(len(sequence.rows))
            rows[places] = np.where(np.arange(len(guess)) % 2 == half, -1, guess)
            shares[places] = sure
            parts.append((rows, shares))
        rows, shares = (np.concatenate(each) for each in zip(*parts, strict=True))
        texts = np.concatenate((2 * sequence.texts, 2 * sequence.texts + 1))
        order = np.argsort(texts, kind="stable")
        return passages.near_all(rows[order], shares[order], texts[order])

    def _weigh(self, view: Knowledge) -> tuple[Ids, Singles]:
        """Return the most likely candidates of each word and their weights: (k, n)."""
        count = len(view.drawn)
        rows = np.zeros((_KEPT, count), np.int32)
        weights = np.zeros((_KEPT, count), np.float32)
        for part in blocks(count, _BLOCK):
            weighed = self._weigh_part(view.part(part))
            rows[:, part], weights[:, part] = (each.T for each in weighed)
        return rows, weights

    def _weigh_part(self, view: Knowledge) -> tuple[Ids, Singles]:
        """Return the most likely candidates of a part's words, with weights: (n, k)."""
        rows, own, sides = self._compared(view)
        inputs = np.where(rows < self._size, rows, -1).astype(np.int32)
        eps = np.array([each.epsilon for each in view.looks])[view.look]
        eps = np.repeat(eps[:, None], rows.shape[1], axis=1)
        if self.channel.row_eps is not None:
            eps = self.channel.row_eps[rows]
        drawn = np.repeat(view.drawn, rows.shape[1])
        law = self.channel.mechanism.log_probs_of_pairs(
            inputs.reshape(-1), drawn, eps.reshape(-1)
        )
        own += law.reshape(rows.shape)
        own += np.log(self._topic.factors_by(rows, view.means))
        # Of equal weight are those that no evidence speaks for.
        chosen = largest(_relative(own + sides), _KEPT)
        rows = np.take_along_axis(rows, chosen, axis=1)
        return rows, _relative(np.take_along_axis(own, chosen, axis=1))

    def _compared(self, view: Knowledge) -> tuple[Ids, Floats, Floats]:
        """Return each word's candidates and two log weights: (n, c).

        The first excludes neighbour pairs, draw and topic; the second is
        for pairs with known neighbours. Padding is -inf.
        """
        words, rows, from_draw = self._proposed(view)
        look = view.look[words]
        prior = np.stack([each.prior for each in view.looks])[look, rows]
        possible = prior > 0.0
        words, rows, look = words[possible], rows[possible], look[possible]
        prior, from_draw = prior[possible], from_draw[possible]
        # Without the capital, which the counts of contexts do not tell.
        frequency = np.stack([each.frequency for each in view.looks])[look, rows]
        context = np.zeros(len(words))
        if view.near is not None:
            shares = view.near.shares_of(view.halves[words], rows, self._size)
            context += _NEAR * np.log1p(shares / (_FAR * frequency))
        sides = self._of_pairs(view, words, rows)
        if self._kind is not None:
            logs = np.log(frequency) + sides
            before = np.exp(logs - _largest(logs, words, len(view.drawn)))
            before /= np.bincount(words, before, len(view.drawn))[words]
            for power, contexts, triples in self._triples(view):
                known = contexts[words] >= 0
                triple = contexts[words[known]], rows[known], before[known]
                context[known] += power * np.log(triples.raised(*triple))
        own = np.log(prior) + context
        # All candidates of the draw stay, of the others the likeliest ones.
        order = np.lexsort((-(own + sides), ~from_draw, words))
        begins = np.searchsorted(words[order], np.arange(len(view.drawn)))
        column = np.arange(len(words)) - begins[words[order]]
        order, column = (each[column < _DRAWN + _COMPARED] for each in (order, column))
        shape = len(view.drawn), _DRAWN + _COMPARED
        chosen, compared = np.zeros(shape, np.int32), np.full((2, *shape), -np.inf)
        at = words[order], column
        chosen[at], compared[0][at], compared[1][at] = (
            each[order] for each in (rows, own, sides)
        )
        return chosen, compared[0], np.where(np.isfinite(compared[1]), compared[1], 0.0)

    def _proposed(self, view: Knowledge) -> tuple[Ints, Ints, Mask]:
        """Return words, their candidates, and a mask of those from the draw: (m,)."""
        width, proposed = self._size + 1, []
        numbers = np.arange(len(view.drawn))
        for number, look in enumerate(view.looks):
            at = numbers[view.look == number]
            inputs = look.inputs[view.drawn[at]]
            proposed.append((np.repeat(at, inputs.shape[1]), inputs.reshape(-1)))
        drawn = np.concatenate([words * width + rows for words, rows in proposed])
        for number, look in enumerate(view.looks):
            at = numbers[view.look == number]
            first = np.repeat(at, len(look.first)), np.tile(look.first, len(at))
            proposed.append(first)
        for capital in (False, True):
            at = numbers[view.capital == capital]
            if len(at):
                for lists, side in zip(self._lists(capital), (1, 2), strict=True):
                    which, rows = lists.words(view.around[side, at], _LISTED)
                    proposed.append((at[which], rows))
        for _, contexts, triples in self._triples(view):
            proposed.append(triples.words(contexts, _LISTED))
        if view.near is not None:
            proposed.append(view.near.words(view.halves))
        keys = np.concatenate([words * width + rows for words, rows in proposed])
        keys.sort()
        keys = keys[np.append(True, np.diff(keys) > 0)[: len(keys)]]
        return keys // width, keys % width, np.isin(keys, drawn)

    def _triples(self, view: Knowledge) -> Iterator[tuple[float, Ints, Contexts]]:
        """Yield each kind of triple: its exponent, contexts (n,) and counts."""
        if self._kind is None:
            return
        width, around = self._size + 2, view.around
        pairs = (0, 1), (1, 2), (2, 3)
        for power, (first, second), triples in zip(
            _TRIPLES, pairs, self._kind.triples, strict=True
        ):
            known = (around[first] >= 0) & (around[second] >= 0)
            contexts = np.where(known, around[first] * width + around[second], -1)
            yield power, contexts, triples

    def _of_pairs(self, view: Knowledge, words: Ints, rows: Ints) -> Floats:
        """Return ln of the pair gains of candidates with known neighbours: (m,)."""
        logs = np.zeros(len(words))
        for side in (1, 2):
            beside = view.around[side, words]
            known = np.flatnonzero(beside >= 0)
            first, second = beside[known], rows[known]
            if side == 2:
                first, second = second, first
                logs[known] += self._backoff[first]
            gains = decode_gains(self._gains.lookup(first, second))
            logs[known] += np.log(gains.astype(np.float64))
        return logs

    def _look(self, shown: Observation) -> Look:
        """Return the words that may have produced an observation."""
        capital = any_capital = self._alone
        if self._kind is not None:
            counts = self._kind.shown
            capital = self._smoothed(counts[int(shown.capital)], shown)
            any_capital = self._smoothed(counts.sum(axis=0), shown)
        prior = self.channel.restrict_prior(shown, capital)
        prior /= prior.sum()
        frequency = self.channel.restrict_prior(shown, any_capital)
        frequency /= frequency.sum()
        first = np.append(np.argsort(-prior, kind="stable")[:_FREQUENT], self._size)
        table = self.channel.candidates(shown.epsilon, _DRAWN, prior)
        return Look(
            epsilon=shown.epsilon,
            prior=prior,
            frequency=frequency,
            first=first,
            inputs=table.rows,
        )

    def _smoothed(self, counts: Floats, shown: Observation) -> Floats:
        """Return discounted counts; the discount is spread over all words: (V + 1,)."""
        general = self.channel.restrict_prior(shown._replace(form=-1), self._alone)
        discount = absolute_discount(counts[counts > 0])
        freed = discount * max(int((counts > 0).sum()), 1)
        smoothed: Floats = np.maximum(counts - discount, 0.0)
        smoothed += freed * general / general.sum()
        return smoothed

    def _lists(self, capital: bool) -> tuple[ContextLists, ContextLists]:
        """Return the most likely replaced words after and before each context."""
        shown = Observation(1.0, capital)
        possible = self.channel.restrict_prior(shown, self._alone) > 0.0
        return _find_lists(self._pairs, possible.tobytes())


class SameKindAttacker(Reader):
    """Guesses words with the help of public text of the same kind."""

    name = "same-kind"
    assumes = (
        "knows mechanism and epsilon; reads all that is released of a text with the "
        "pairs and triples of words and the topics of other public texts of the same "
        "kind"
    )

    def __init__(self, channel: Channel, kind: TextKind) -> None:
        super().__init__(channel, kind.pairs, kind)


# A search reads at ten epsilons, with other channels and the same pairs.
@lru_cache(maxsize=2)
def _find_lists(pairs: Ngrams, possible: bytes) -> tuple[ContextLists, ContextLists]:
    """Return the most likely possible words after and before each context.

    possible is a mask (V + 1,). Contexts with too many words keep the best.
    """
    size = pairs.size
    alone = np.exp(pairs.alone[: size + 1].astype(np.float64))
    first, second = pairs.contexts, np.asarray(pairs.following, np.int64)
    logs = np.log(decode_gains(np.asarray(pairs.gains)).astype(np.float64))
    mask = np.append(np.frombuffer(possible, bool), False)
    lists = []
    for contexts, words, worth in (
        (first, second, logs),
        (second, first, logs + pairs.backoff.astype(np.float64)[first]),
    ):
        kept = mask[words]
        of_context, rows = contexts[kept], words[kept]
        worse = -worth[kept] - np.log(alone[rows])
        order = np.argsort(of_context, kind="stable")
        ends = np.searchsorted(of_context[order], np.arange(size + 3))
        for context in np.flatnonzero(np.diff(ends) > _LISTED):
            part = order[ends[context] : ends[context + 1]]
            part[:] = part[np.argsort(worse[part], kind="stable")]
        lists.append(ContextLists(ends, rows[order]))
    return lists[0], lists[1]


def _largest(values: Floats, words: Ints, count: int) -> Floats:
    """Return for each value (m,) the maximum among its word's values."""
    largest_of = np.full(count, -np.inf)
    np.maximum.at(largest_of, words, values)
    return largest_of[words]


def _relative(logs: Floats) -> Singles:
    """Exponentiate relative to the maximum; equal weights if all are -inf."""
    is_explained = np.isfinite(logs.max(axis=1, keepdims=True))
    return np.where(is_explained, posterior.relative(logs), np.float32(1.0))
