"""SynTF: the exponential mechanism over the vocabulary, rated by synonymy.

P(y|x) ~ exp(eps rho(x, y) / 2) with rho 1 for the word itself, `synonym` for its
synonyms in the lexicon and 0 for all other words. Unknown words have no synonyms: they
become a uniform word.

Guarantee: epsilon-LDP over all of V and over unknown words: rho lies in [0, 1] whatever
x is, and every word can be written for every word. With published: true none: only the
word and its own synonyms are candidates, so that most words can never be written.
Instead: leave published out: the same ratings, with all of V as candidates.
Known as: SynTF.
Source: Weggenmann and Kerschbaum, SIGIR 2018, section 4, arXiv:1805.00904; in place,
word by word. published: the form of the comparative analysis of word-level mechanisms.
Known gaps: the published form as above; its scores come from the private corpus, which
are not offered. Words keep their places here; SynTF itself gives out only counts.
Example: dptext sanitize reviews.jsonl --field text --mechanism syntf --epsilon 20
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dptext import mechanisms
from dptext.arrays import log_normalised
from dptext.errors import UsageError
from dptext.mechanisms import Aim, Bands, WordMechanism
from dptext.randomness import RandomBits
from dptext.spaces import Space
from dptext.types import Eps, Floats, Guarantee, Ids, Ints, VaryingEpsilon


@dataclass(frozen=True, slots=True)
class Params(mechanisms.Params):
    """Settings of SynTF."""

    #: The rating of a synonym.
    synonym: Annotated[float, Meta(ge=0, le=1)] = 0.8
    #: Only the word and its synonyms are candidates.
    published: bool = False

    def prepare(self, space: Space, aim: Aim) -> SynTF:
        """Read the lexicon's synonyms. Raises UsageError if it has none."""
        lexicon = space.lexicon
        if lexicon.synonym_ends is None or lexicon.synonyms is None:
            raise UsageError(
                f"mechanism syntf: the lexicon {lexicon.name!r} has no synonyms; use "
                "one that has (the built-in English one) or another mechanism (rank, "
                "santext)"
            )
        ends = lexicon.synonym_ends.astype(np.int64)
        counts = np.append(np.diff(ends, prepend=0), 0)
        begins = np.append(ends, ends[-1]) - counts
        return SynTF(
            params=self,
            space=space,
            begins=begins,
            counts=counts,
            synonyms=lexicon.synonyms,
        )


@dataclass(frozen=True, eq=False)
class SynTF(WordMechanism):
    """The SynTF mechanism; row x has synonyms[begins[x] : begins[x] + counts[x]]."""

    params: Params
    #: (V + 1,)
    begins: Ints
    #: (V + 1,)
    counts: Ints
    #: Words, of all rows one after another.
    synonyms: NDArray[np.int32]

    def guarantee(self, epsilon: float) -> Guarantee:
        """Return the guarantee: epsilon-LDP, or none for the published form."""
        source = "Weggenmann and Kerschbaum 2018, section 4"
        if self.params.published:
            reason = (
                "only the word and its own synonyms are candidates, so an output "
                "rules out every word that is neither, and a word without synonyms "
                "is always itself. Leave published: true out instead."
            )
            return Guarantee.nothing(reason, source=source)
        return Guarantee.ldp(source, varying_epsilon=VaryingEpsilon.exponential(1.0))

    def published_loss(self, a: Ids, b: Ids, epsilon: float) -> Floats | None:
        """Return the published form's claim for any two words, epsilon."""
        published = mechanisms.known_words_bound(epsilon, a, b)
        return published if self.params.published else None

    def _weights(self, rows: Ints, eps: Eps) -> tuple[Floats, Floats, Floats]:
        """Return weights of word, synonym and any word, over exp(eps / 2): (n,) each.

        Every word has the third; the others are the excess over it, so that
        no small difference of large numbers is computed.
        """
        anyone = np.exp(-eps / 2.0)
        synonym = np.exp((self.params.synonym - 1.0) * eps / 2.0)
        itself = -np.expm1(-eps / 2.0)
        if self.params.published:
            # Unknown words have no candidates: any word.
            anyone = np.where(rows < self.space.size, 0.0, 1.0)
            itself = np.ones(len(rows))
        else:
            synonym = np.maximum(synonym - anyone, 0.0)
        return np.where(rows < self.space.size, itself, 0.0), synonym, anyone

    def sample(self, ids: Ids, eps: Eps, bits: RandomBits) -> Ids:
        """Draw an output for each word: ids (n,), eps (n,) nats -> (n,) ids.

        One uniform decides between the word itself, a synonym and any word; a second
        picks the synonym or the word.
        """
        size = self.space.size
        rows = ids.astype(np.int64) % (size + 1)
        itself, synonym, anyone = self._weights(rows, eps)
        counts = self.counts[rows]
        integers = bits.integers(0)
        uniform = RandomBits.unit(integers[:, 0])
        target = uniform * (itself + counts * synonym + size * anyone)
        drawn = bits.below(integers[:, 1], size).astype(np.int32)
        kept = target < itself
        drawn[kept] = ids[kept]
        some = np.flatnonzero(~kept & (target < itself + counts * synonym))
        second = (integers[some, 1] >> np.uint64(12)) * 2.0**-52
        positions = (second * counts[some]).astype(np.int64)
        drawn[some] = self.synonyms[self.begins[rows[some]] + positions]
        return drawn

    def log_probs(self, ids: Ids, eps: Eps) -> Floats:
        """Return ln P(y|x), -inf if y is not a candidate: (n, V) float64."""
        size = self.space.size
        rows = ids.astype(np.int64) % (size + 1)
        known = np.flatnonzero(rows < size)
        log_weights = np.repeat((eps / -2.0)[:, None], size, axis=1)
        if self.params.published:
            log_weights[known] = -np.inf
        counts = self.counts[rows]
        inputs = np.repeat(np.arange(len(rows)), counts)
        # The number of each synonym among those of all rows, less those before its row.
        number = np.arange(len(inputs)) - np.repeat(np.cumsum(counts) - counts, counts)
        words = self.synonyms[self.begins[rows][inputs] + number]
        log_weights[inputs, words] = (self.params.synonym - 1.0) * eps[inputs] / 2.0
        log_weights[known, rows[known]] = 0.0
        return log_normalised(log_weights)

    def best_guesses(self, prior: Floats, epsilon: float, bands: Bands) -> Floats:
        """Return max of prior(x) P(y|x) over x in each band: (bands, V).

        Takes O(V): the best guess of y is the most frequent word, at the weight of any
        word, or y itself, or a word that has y as a synonym.
        """
        rows = np.arange(self.space.size)
        counts = self.counts[:-1]
        itself, synonym, anyone = self._weights(rows, np.full(len(rows), epsilon))
        scaled = prior / (itself + counts * synonym + len(rows) * anyone)
        best = np.empty((len(bands), len(rows)))
        for number, (begin, end) in enumerate(bands):
            part = slice(begin, end)
            best[number] = (scaled[part] * anyone[part]).max()
            inputs = np.repeat(rows[part], counts[part])
            words = self.synonyms[self.begins[begin] :][: len(inputs)]
            value = scaled[inputs] * (synonym + anyone)[inputs]
            np.maximum.at(best[number], words, value)
            kept = scaled[part] * (itself + anyone)[part]
            best[number, part] = np.maximum(best[number, part], kept)
        return best

    def numerical_slack(self, epsilon: float) -> float:
        """Bound the nats that 52-bit uniforms may add to the loss.

        The borders between outputs are exact to 2^-52; the rarest has 1/Z.
        """
        most = 1.0 + float(self.counts.max()) + self.space.size
        return float(2.0**-50 * most * np.exp(min(epsilon, 600.0) / 2.0))
