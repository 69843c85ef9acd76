"""The channel: the most likely inputs of each drawn word; the unigram attacker.

P(y|x) is that at the epsilon of each word, as far as that epsilon is public
(docs/results/decoding.md). By the kind of budget an attacker uses
- word, position, text, class, past: the epsilon of the draw. It is the same for all
  words, or follows from their number, their position or earlier releases;
- type: for each input x the epsilon of x;
- free: an equal part of the epsilon of the text, since the parts depend on the text.
Epsilons that differ from word to word are rounded to steps of 10%. Such an attacker is
a little weaker; nothing else depends on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import ClassVar, NamedTuple

import numpy as np

from dptext import cache
from dptext.errors import UsageError
from dptext.lexicons import word_classes
from dptext.mechanisms import Mechanism
from dptext.run.interface import option
from dptext.tokens import grammar, kinds, language_data
from dptext.tokens.common import common_words
from dptext.tokens.policy import Policy
from dptext.tokens.written_classes import kinds_of_rows
from dptext.types import (
    BudgetDescription,
    BudgetKind,
    Eps,
    Floats,
    Ids,
    Ints,
    Lexicon,
    Mask,
    Released,
)

# Largest difference of the logarithms of two epsilons that share a table.
_STEP = 0.1
# Least epsilon of a table: at 0 every input is equally likely.
_LEAST_EPSILON = 1e-3
# Share of replaced words outside the vocabulary: a public rule of thumb.
_UNKNOWN = 0.03
# Form and capital of a word in one number: the least is of a word without a form.
_LEAST_LOOK = -2
# Tables in memory at once.
TABLES = 64
# The name of the attacker with a single output word.
ALONE = "alone"


class Observation(NamedTuple):
    """Public properties of a drawn word; they select its table of candidates."""

    epsilon: float
    #: It has a capital first letter inside a sentence, and capitals and common words
    #: are shown: then its input may be a common word, too.
    capital: bool = False
    #: Its grammatical form (dptext.tokens.grammar), -1 if it is not shown.
    form: int = -1


class InputCandidates(NamedTuple):
    """The c most likely inputs x of each output y, in descending prior(x) P(y|x).

    There are O outputs: V, or only the words that may be drawn if these come
    first in the vocabulary.
    """

    #: (O, c) int32, V for the unknown word.
    rows: Ids
    #: (O, c) float64, ln P(y|x), -inf for padding.
    log_probs: Floats
    #: (O, c), inputs that may be written for y: words that may be drawn and are not
    #: vulgar. A delicate word (dptext.lexicons.word_classes) or a word of a closed
    #: class (dptext.lexicons.word_classes) may only be written for itself; for a y of
    #: a closed class, only y.
    writable: Mask


@dataclass(frozen=True, eq=False)
class Channel:
    """A mechanism and a budget: what an attacker knows about the draws."""

    lexicon: Lexicon
    policy: Policy
    mechanism: Mechanism
    budget: BudgetDescription
    #: (V,), public frequencies of replaced words.
    prior: Floats
    #: (V + 1,), the epsilon of each input if the input decides it.
    row_eps: Eps | None = None

    def check(self) -> None:
        """Raise UsageError if the mechanism's output distribution is unknown."""
        if not self.mechanism.has_log_probs:
            raise UsageError(
                f"decoder: {self.mechanism.name} has no exact output distribution, "
                "which decoding needs; use the decoder none "
                f"({option('decode', 'none')}), or a mechanism such as rank"
            )

    @property
    def lists(self) -> dict[str, str]:
        """Return the digests of the lists of words that must not be written, if any."""
        if not self.delicate_words:
            return {}
        language = word_classes.language_of_lists(self.lexicon)
        return {"word_classes": word_classes.digest(language)}

    @property
    def delicate_words(self) -> frozenset[str]:
        """Return sensitive words, which are written only where they were drawn."""
        language = word_classes.language_of_lists(self.lexicon)
        return language_data.delicate_words(language)

    @property
    def neutral(self) -> Ids:
        """Map news words to a neutral word's row, other words to themselves: (V,)."""
        return word_classes.neutral_for_news(self.lexicon)

    @property
    def common(self) -> Mask:
        """Return a mask of common words other than function words: (V + 1,)."""
        common = np.zeros(len(self.prior) + 1, bool)
        if self.policy.common:
            words = common_words(self.lexicon, *self.policy.copied_words)
            common[words.content(self.lexicon)] = True
        return common

    @property
    def inputs(self) -> Floats:
        """Return the prior of words and of the unknown word: (V + 1,), sums to 1."""
        unknown = _UNKNOWN if self.policy.unknown == "perturb" else 0.0
        return np.append(self.prior * (1.0 - unknown), unknown)

    def public_epsilons(self, eps: Eps, texts: Ints) -> Eps:
        """Return the publicly known epsilon of each word: (n,).

        Computed from the epsilons of the draws (n,) and the text of each word
        (n,); the rule depends on the kind of budget (see this module's docstring).
        """
        budget = self.budget
        if budget.kind is BudgetKind.TYPE:
            return np.full(len(eps), budget.high)
        if budget.kind is not BudgetKind.FREE:
            return eps
        part = np.full(len(eps), budget.rate or budget.high)
        if budget.total is not None:
            part = budget.total / np.bincount(texts)[texts]
        return np.asarray(np.clip(part, budget.low, budget.high))

    def restrict_prior(self, shown: Observation, alone: Floats) -> Floats:
        """Return the prior with 0 for inputs excluded by an observation: (V + 1,)."""
        possible = self.inputs > 0.0
        if shown.capital:
            possible[:-1] |= self._common_rows
        return np.where(possible & self.has_form(shown), alone, 0.0)

    def has_form(self, shown: Observation) -> Mask:
        """Return a mask of words that have the observed form: (V + 1,)."""
        forms = grammar.forms_of_rows(self.lexicon)
        return np.append((forms == shown.form) | (shown.form < 0), True)

    @cached_property
    def never_replaced(self) -> Mask:
        """Return a mask of words never replaced when common words are copied: (V + 1,).

        These are function words, contractions, and words of classes that are drawn
        independently of the text.
        """
        row_of = self.lexicon.row_of
        never = np.append(kinds_of_rows(self.lexicon, self.policy.classes) > 0, False)
        keys = {key for key in row_of if "'" in key}
        keys |= language_data.stop_words(self.lexicon.language) & row_of.keys()
        never[[row_of[key] for key in keys]] = True
        return never

    @cached_property
    def _common_rows(self) -> Mask:
        rows = np.zeros(len(self.prior), bool)
        if self.policy.common:
            rows[common_words(self.lexicon, *self.policy.copied_words).rows] = True
        return rows

    def groups(self, released: Released) -> Iterator[tuple[Observation, Ints]]:
        """Group a batch by observation; yield each with the positions of its words."""
        capital = (released.flags[released.positions] & kinds.TITLE) != 0
        forms = np.full(len(capital), -1)
        if released.grammar is not None:
            forms = released.grammar.astype(np.int64)
        # Form and capital in one number, so that equal pairs are found at once.
        looks = 2 * forms + capital
        for epsilon, positions in self._group_by_epsilon(released.eps):
            looks_here = looks[positions]
            # The distinct ones; np.unique would load numpy.ma, for one line, too.
            present = np.bincount(looks_here - _LEAST_LOOK)
            for look in (np.flatnonzero(present) + _LEAST_LOOK).tolist():
                shown = Observation(epsilon, bool(look % 2), look // 2)
                yield shown, positions[looks_here == look]

    def _group_by_epsilon(self, eps: Eps) -> Iterator[tuple[float, Ints]]:
        if not len(eps):
            return
        if self.budget.kind in (BudgetKind.WORD, BudgetKind.TYPE):
            yield self.budget.high, np.arange(len(eps))
            return
        steps = np.round(np.log(eps) / _STEP).astype(np.int64)
        for step in np.unique(steps).tolist():
            epsilon = float(np.exp(step * _STEP))
            least = max(self.budget.low, _LEAST_EPSILON)
            epsilon = min(max(epsilon, least), max(self.budget.high, least))
            yield epsilon, np.flatnonzero(steps == step)

    def candidates(
        self, epsilon: float, count: int, inputs: Floats | None = None
    ) -> InputCandidates:
        """Return the most likely inputs of every output at one epsilon.

        inputs is the prior (V + 1,), by default `self.inputs`.
        """
        prior = self.inputs if inputs is None else inputs
        key = cache.key_of("channel", 1, *self.law(epsilon, count, prior))

        def compute() -> cache.Arrays:
            rows, log_probs, _ = self.compute_candidates(epsilon, count, prior)
            return {"rows": rows, "log_probs": log_probs}

        def is_sound(cached: cache.Arrays) -> bool:
            rows, size = cached["rows"], len(self.prior)
            fits = rows.ndim == 2 and rows.shape == cached["log_probs"].shape
            fits = fits and 0 < len(rows) <= size
            return bool(fits and rows.min() >= 0 and rows.max() <= size)

        about = f"finding likely originals of each word for {self.mechanism.name}"
        table = cache.arrays(key, compute, is_sound, about)
        rows, log_probs = table["rows"], table["log_probs"]
        return InputCandidates(
            rows, log_probs, self._writable(rows, np.isfinite(log_probs))
        )

    def law(self, epsilon: float, count: int, inputs: Floats) -> tuple[object, ...]:
        """Return everything that the candidates depend on, as parts of a cache key."""
        self.check()
        digests = cache.digest(inputs), cache.digest(self._eps(epsilon))
        return (*self.mechanism.identity, count, *digests)

    def compute_candidates(
        self, epsilon: float, count: int, inputs: Floats
    ) -> InputCandidates:
        """Compute the candidates that `candidates` caches."""
        eps = self._eps(epsilon)
        rows, log_probs = self.mechanism.likeliest_inputs(inputs, eps, count)
        outputs = int(np.flatnonzero(np.isfinite(log_probs[:, 0]))[-1]) + 1
        rows, log_probs = rows[:outputs], log_probs[:outputs]
        writable = self._writable(rows, np.isfinite(log_probs))
        return InputCandidates(rows, log_probs, writable)

    def _eps(self, epsilon: float) -> Eps:
        """Return the epsilon of each input: (V + 1,)."""
        if self.row_eps is not None:
            return self.row_eps
        return np.full(len(self.prior) + 1, epsilon)

    def _writable(self, rows: Ids, possible: Mask) -> Mask:
        count, drawn = len(rows), np.zeros(len(self.prior) + 1, bool)
        drawn[:count] = possible[:, 0]
        may_write, closed = self._written
        drawn &= may_write
        # Elsewhere a delicate word would show everybody a guess that a model infers
        # from the words around it.
        delicate = word_classes.classes_of_lexicon(self.lexicon).delicate
        others = drawn & ~np.append(delicate, False) & ~closed
        writable: Mask = others[rows]
        writable[closed[:count]] = False
        writable |= (rows == np.arange(count)[:, None]) & drawn[:count, None]
        writable &= possible
        return writable

    @cached_property
    def _written(self) -> tuple[Mask, Mask]:
        """Return masks of words that may be written and of closed classes: (V + 1,)."""
        may_write = ~word_classes.vulgar_rows(self.lexicon)
        closed = np.append(word_classes.written_as_drawn(self.lexicon), False)
        if self.policy.common:
            # No replaced word is one of these: if one was drawn, that is chance.
            may_write &= ~self.never_replaced
            closed &= ~self.never_replaced
        return may_write, closed


class ChannelAttacker:
    """Guesses the original of each word from its draw, ignoring context."""

    def __init__(self, channel: Channel, count: int) -> None:
        self.channel, self._count = channel, count
        self.table = lru_cache(maxsize=TABLES)(self._table)

    def _table(self, shown: Observation) -> InputCandidates:
        inputs = None
        if shown.capital or shown.form >= 0:
            known = self.channel.lexicon.prior * (1.0 - _UNKNOWN)
            inputs = self.channel.restrict_prior(shown, np.append(known, _UNKNOWN))
        return self.channel.candidates(shown.epsilon, self._count, inputs)

    def evidence(self, released: Released) -> tuple[Ids, Floats, Mask]:
        """Return inputs (c, n), ln P(y|x) (-inf for padding), and a writable mask.

        See `InputCandidates.writable` for the mask.
        """
        shape = (self._count, len(released.drawn))
        rows, evidence = np.zeros(shape, np.int32), np.full(shape, -np.inf)
        writable = np.zeros(shape, bool)
        for shown, positions in self.channel.groups(released):
            table, drawn = self.table(shown), released.drawn[positions]
            width = table.rows.shape[1]
            rows[:width, positions] = table.rows[drawn].T
            evidence[:width, positions] = table.log_probs[drawn].T
            writable[:width, positions] = table.writable[drawn].T
        return rows, evidence, writable


@dataclass(frozen=True, slots=True)
class UnigramAttacker:
    """Guesses argmax prior(x) P(y|x), the attacker of the Bayes risk."""

    channel: Channel
    name: ClassVar[str] = ALONE
    assumes: ClassVar[str] = (
        "knows mechanism, epsilon and public word frequencies; sees one word, no "
        "context"
    )

    def guess(self, released: Released) -> Ids:
        """Return the most likely input of each drawn word: (n,)."""
        guess = np.array(released.drawn)
        known = np.append(self.channel.prior, 0.0)
        for shown, positions in self.channel.groups(released):
            rows = self.channel.candidates(shown.epsilon, 1, known).rows[:, 0]
            guess[positions] = rows[released.drawn[positions]]
        return guess
