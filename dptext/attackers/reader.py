"""The attackers who read whole texts: candidates from the draw and from the context.

For a drawn word y the weight of a candidate x is

    P(y|x) p(x, capital) topic(x) near(x)^a triples(x)^b

for words x of the shown form (dptext.tokens.grammar), and pairs of words weigh the
candidates of neighbours together (dptext.attackers.posterior). P is the exact law of
the draw. p, near and triples come from public text of the kind
(dptext.attackers.contexts); without such text p is that of the pairs, and near and
triples are 1. The topic is that of dptext.attackers.pairs.

Candidates are the likeliest inputs of the draw, and the likeliest words by each of the
others: where common words are copied the draw tells next to nothing, and the words
around it nearly all. A second reading takes words of the first for known.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dptext.attackers import posterior
from dptext.attackers.channel import Channel, Observation
from dptext.attackers.contexts import Contexts, Kind, WordSequence, expand
from dptext.attackers.ngrams import Ngrams, WholeGains, decode_gains
from dptext.attackers.pairs import POWER, Topic
from dptext.attackers.posterior import Chains, WordCandidates
from dptext.types import Floats, Ids, Ints, Mask, Released, Singles

# Candidates of the draw, of each pair and triple, of the passages, of frequency alone.
_DRAWN, _LISTED, _NEAR, _FREQUENT = 40, 300, 400, 30
# Candidates of a word that are weighed with those of its neighbours.
_KEPT = 64
# Drawn words that are read together, about, to limit memory.
_BLOCK = 1000
# Powers of near and of the three triples, and the share of a word without near texts;
# chosen on training rows of AG News (docs/results/attackers.md).
_PASSAGE, _FAR = 1.0, 0.3
_TRIPLES = (0.5, 0.4, 0.5)
# A word of the first reading that is at least as likely is known in the second.
_SURE = 0.5
# The weight of a possible candidate is at least this share of that of the best one.
_LEAST = 1e-12

class Candidates(NamedTuple):
    """Candidates of some drawn words, word by word."""

    #: (m,) the number of the word.
    words: Ints
    #: (m,) rows of the lexicon, V for the unknown word.
    rows: Ints


class Reader:
    """Reads releases through a channel with a model of pairs, or with text of a kind."""

    name = "ngram"
    assumes = (
        "knows mechanism and epsilon; reads all that is released of a text with a "
        "public model of pairs of words, and what it is about"
    )

    def __init__(self, channel: Channel, pairs: Ngrams, kind: Kind | None = None) -> None:
        channel.check()
        self.channel, self._pairs, self._kind = channel, pairs, kind
        self._size = pairs.size
        self._gains = WholeGains(pairs)
        size = self._size + 1
        self._backoff = np.exp(pairs.backoff.astype(np.float64))
        self._alone = np.exp(pairs.alone[:size].astype(np.float64))
        self._topic = Topic(channel.lexicon, POWER)
        self._look = lru_cache(maxsize=64)(self._prior)
        self._lists = lru_cache(maxsize=4)(self._listed_pairs)
        self.settings = dict(far=_FAR, passage=_PASSAGE, triples=_TRIPLES, sure=_SURE, rounds=2, kept=_KEPT)

    def guess(self, released: Released) -> Ids:
        """Return the likeliest known word for each drawn one: (n,)."""
        rows, likely = self.posterior(released)
        likely[rows == self._size] = -1.0
        best = likely.argmax(axis=0)
        return np.asarray(rows[best, np.arange(rows.shape[1])])

    def posterior(self, released: Released) -> tuple[Ids, Singles]:
        """Return candidates of each drawn word and their probabilities: (k, n)."""
        sequence = WordSequence.from_released(released, self.channel.lexicon)
        chains = posterior.find_chains(released, self.channel.lexicon)
        guessed, sure = np.full(len(released.drawn), -1), np.zeros(len(released.drawn))
        for _ in range(self.settings['rounds']):
            rows, words = self._weighed(released, sequence, guessed, sure)
            likely = posterior.marginals(chains, words, self._gains)
            best = likely.argmax(axis=0)
            numbers = np.arange(rows.shape[1])
            guessed, sure = rows[best, numbers].astype(np.int64), likely[best, numbers]
        return rows, likely

    def _weighed(
        self, released: Released, sequence: WordSequence, guessed: Ints, sure: Floats
    ) -> tuple[Ids, WordCandidates]:
        """Return the likeliest candidates of each drawn word, as columns."""
        count, kept = len(released.drawn), self.settings['kept']
        rows = np.zeros((kept, count), np.int32)
        weights = np.zeros((kept, count), np.float32)
        places = np.flatnonzero(sequence.drawn >= 0)
        known = np.array(sequence.rows)
        known[places] = np.where(sure >= self.settings['sure'], guessed, -1)
        around = np.stack([known[places + step] for step in (-2, -1, 1, 2)])
        looks = [(shown, at) for shown, at in self.channel.groups(released)]
        look_of = np.zeros(count, np.int64)
        for number, (_, at) in enumerate(looks):
            look_of[at] = number
        topics = self._topic._topics(released.drawn, released.texts, *self._topic._sums(released))
        near = self._near(released, sequence, guessed, sure)
        for begin in range(0, count, _BLOCK):
            part = np.arange(begin, min(begin + _BLOCK, count))
            self._read(part, released, around, [shown for shown, _ in looks], look_of, topics, near, rows, weights)
        slots = self._gains.slot_of[rows]
        backoff = self._backoff[rows].astype(np.float32)
        return rows, WordCandidates(slots, weights, backoff)

    def _read(self, part, released, around, looks, look_of, topics, near, rows, weights) -> None:
        width = self._size + 1
        before2, before, after, after2 = around[:, part]
        drawn = released.drawn[part]
        numbers = np.arange(len(part))
        look = look_of[part]
        proposed: list[Ints] = []
        def propose(words, found): proposed.append(words * width + found)
        for n in np.unique(look).tolist():
            shown = looks[n]
            at = np.flatnonzero(look == n)
            prior, order, table = self._look(shown)
            propose(np.repeat(at, table.shape[1]), table[drawn[at]].reshape(-1))
            propose(np.repeat(at, len(order)), np.tile(order, len(at)))
            left, right = self._lists(shown.capital)
            for side, lists in ((before, left), (after, right)):
                has = at[side[at] >= 0]
                begins = lists[0][side[has]]
                lengths = np.minimum(lists[0][side[has] + 1] - begins, _LISTED)
                propose(*expand(has, begins, lengths, lists[1]))
        triples = self._triples(before2, before, after, after2)
        for table, contexts in triples:
            propose(*table.words(contexts, _LISTED))
        if near is not None:
            bounds, found, shares = near
            text = released.texts[part]
            propose(*expand(numbers, bounds[text], bounds[text + 1] - bounds[text], found))
        keys = np.unique(np.concatenate(proposed))
        words, found = keys // width, keys % width
        priors = np.stack([self._look(each)[0] for each in looks])
        prior = priors[look[words], found]
        keep = prior > 0
        words, found, prior = words[keep], found[keep], prior[keep]
        logs = np.log(prior)
        eps = np.array([each.epsilon for each in looks])[look[words]]
        if self.channel.row_eps is not None:
            eps = self.channel.row_eps[found]
        inputs = np.where(found < self._size, found, -1).astype(np.int32)
        logs += self.channel.mechanism.log_probs_of_pairs(inputs, drawn[words], eps)
        # topic
        near_rows = self._topic.directions[found].astype(np.float32)
        cosines = np.einsum("md,md->m", near_rows, topics[part][words])
        logs += cosines * (POWER / 1e6)
        if near is not None:
            place = np.searchsorted(self._near_keys, text[words] * width + found)
            place = np.minimum(place, len(self._near_keys) - 1)
            share = np.where(self._near_keys[place] == text[words] * width + found, shares[place], 0.0)
            total = np.array([p.sum() for p in priors])[look[words]]
            logs += self.settings['passage'] * np.log1p(share * total / (self.settings['far'] * prior))
        # trimming context: pairs with known neighbours
        sides = np.array(logs)
        for side, left in ((before, True), (after, False)):
            has = side[words] >= 0
            a, b = (side[words[has]], found[has]) if left else (found[has], side[words[has]])
            codes = self._gains.lookup(a, b)
            sides[has] += np.log(decode_gains(codes).astype(np.float64))
            if not left:
                sides[has] += np.log(self._backoff[found[has]])
        if triples:
            top = np.full(len(part), -np.inf); np.maximum.at(top, words, sides)
            base = np.exp(sides - top[words])
            base /= np.bincount(words, base, len(part))[words]
            extra = np.zeros(len(words))
            for power, (table, contexts) in zip(self.settings['triples'], triples):
                extra += power * np.log(table.gains(contexts[words], found, np.maximum(base, 1e-9)))
            logs += extra; sides += extra
        order = np.lexsort((-sides, words))
        words, found, logs = words[order], found[order], logs[order]
        begins = np.searchsorted(words, numbers)
        rank = np.arange(len(words)) - begins[words]
        keep = rank < self.settings['kept']
        words, found, logs, rank = words[keep], found[keep], logs[keep], rank[keep]
        top = np.full(len(part), -np.inf); np.maximum.at(top, words, logs)
        value = np.exp(logs - np.where(np.isfinite(top), top, 0.0)[words])
        value = np.where(np.isfinite(logs), np.maximum(value, _LEAST), 0.0)
        rows[rank, part[words]] = found
        weights[rank, part[words]] = value

    def _triples(self, before2, before, after, after2):
        if self._kind is None: return []
        width = self._size + 2
        def code(a, b): return np.where((a >= 0) & (b >= 0), a * width + b, -1)
        codes = code(before2, before), code(before, after), code(after, after2)
        return list(zip(self._kind.triples, codes))

    def _near(self, released, sequence, guessed, sure):
        if self._kind is None: return None
        rows = np.array(sequence.rows)
        places = np.flatnonzero(sequence.drawn >= 0)
        shares = np.ones(len(rows))
        rows[places], shares[places] = guessed, sure
        inside = (rows >= 0) & (rows < self._size)
        bounds, found, values = [0], [], []
        ends = np.searchsorted(sequence.texts, np.arange(len(released.ends) + 1))
        for text in range(len(released.ends)):
            part = np.arange(ends[text], ends[text + 1])
            part = part[inside[part]]
            words, share = self._kind.passages.near(rows[part], shares[part])
            found.append(words); values.append(share); bounds.append(bounds[-1] + len(words))
        bounds = np.array(bounds)
        found = np.concatenate(found); values = np.concatenate(values)
        self._near_keys = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds)) * (self._size + 1) + found
        return bounds, found, values

    def _prior(self, shown: Observation) -> tuple[Floats, Ints, Ids]:
        """Return the prior (V + 1,) of an observation, its first words, and the table of inputs."""
        alone = self._alone
        if self._kind is not None:
            counts = self._kind.shown[int(shown.capital)] if self.channel.policy.common else self._kind.shown.sum(axis=0)
            from dptext.attackers.training import absolute_discount as discount
            less = discount(counts[counts > 0])
            general = self.channel.restrict_prior(shown._replace(form=-1), alone)
            general = general / general.sum()
            alone = np.maximum(counts - less, 0.0) + less * max((counts > 0).sum(), 1) * general
            alone /= alone.sum()
        prior = self.channel.restrict_prior(shown, alone)
        order = np.argsort(-prior, kind="stable")[:_FREQUENT]
        order = np.append(order, self._size)
        table = self.channel.candidates(shown.epsilon, _DRAWN, prior)
        return prior, order, table.rows

    def _listed_pairs(self, capital: bool):
        """Return for each context the likeliest words after and before it."""
        shown = Observation(1.0, capital)
        possible = self.channel.restrict_prior(shown, np.ones(self._size + 1)) > 0
        model = self._pairs
        contexts, following = model.contexts, np.asarray(model.following, np.int64)
        gains = decode_gains(np.asarray(model.gains)).astype(np.float64)
        lists = []
        for side, words, worth in (
            (contexts, following, gains),
            (following, contexts, gains * self._backoff[contexts]),
        ):
            keep = words <= self._size
            keep[keep] = possible[words[keep]]
            s, w = side[keep], words[keep]
            value = worth[keep] * self._alone[w]
            order = np.lexsort((-value, s))
            lists.append((np.searchsorted(s[order], np.arange(self._size + 3)), w[order]))
        return lists


class SameKindAttacker(Reader):
    """Reads with public text of the same kind."""

    name = "same-kind"
    assumes = (
        "knows mechanism and epsilon; reads all that is released of a text with the "
        "pairs of words of other public texts of the same kind, and what it is about"
    )

    def __init__(self, channel: Channel, kind: Kind) -> None:
        super().__init__(channel, kind.pairs, kind)
