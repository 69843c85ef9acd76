"""The channel: for each drawn word its likeliest inputs; and the unigram attacker.

P(y|x) at the epsilon of each word, as far as that epsilon is public (docs/decoding.md).
By the kind of budget an attacker goes by
- word, position, text, class, past: the epsilon that a word was drawn with, which is
  one for all, follows from the number or the position of words, or from what was
  released before;
- type: the epsilon of each input x, so that P(y|x) is that of x at its own;
- free: an equal part of what a text may spend, since the parts depend on the text.
Epsilons that differ from word to word are rounded to steps of 10%: an attacker that is
a little wrong about the channel reads a little worse, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import ClassVar, NamedTuple

import numpy as np

from dptext import cache, lexicons
from dptext.errors import UsageError
from dptext.lexicons import closed_classes, stand_ins, word_classes
from dptext.mechanisms import Mechanism
from dptext.tokens import grammar, kinds, language_data
from dptext.tokens.common import common_words, kinds_of_rows
from dptext.tokens.policy import Policy
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

# Epsilons of one table are so much apart at most, in logarithms.
_STEP = 0.1
# Of replaced words, how many are outside the vocabulary: a public rule of thumb.
_UNKNOWN = 0.03
# Tables of epsilons that are held at once.
TABLES = 64
# The name of the attacker who sees one output word.
ALONE = "alone"


class Shown(NamedTuple):
    """What is shown of how a word was drawn, by which an attacker looks it up.

    capital: it has a capital first letter inside a sentence, where capitals and common
    words are shown: then it may be a common word as well. form: its grammatical form
    (dptext.tokens.grammar), -1 where that is not shown.
    """

    epsilon: float
    capital: bool = False
    form: int = -1


class Candidates(NamedTuple):
    """The likeliest inputs x of each output y, by falling prior(x) P(y|x).

    rows (O, c) int32, V for the unknown word; log_probs (O, c) float64, ln P(y|x), -inf
    where there are no more inputs; writable (O, c), which of them may be drawn, are not
    vulgar, and are no delicate word (dptext.lexicons.word_classes) unless they are y
    itself; of a y of a closed class (dptext.lexicons.closed_classes) only y itself, and
    no word of such a class of another y. O is V, or the number of words that may be
    drawn where these are the first of the vocabulary.
    """

    rows: Ids
    log_probs: Floats
    writable: Mask


@dataclass(frozen=True, eq=False)
class Channel:
    """A mechanism under a budget, as an attacker of what is released knows it.

    prior (V,), public, of words that are replaced; eps_of_row (V + 1,), where epsilon
    follows from the word itself.
    """

    lexicon: Lexicon
    policy: Policy
    mechanism: Mechanism
    budget: BudgetDescription
    prior: Floats
    eps_of_row: Eps | None = None

    def check(self) -> None:
        """Raise UsageError where there is no output distribution to read by."""
        if not self.mechanism.has_log_probs:
            msg = (
                f"decoder: {self.mechanism.name} has no exact output distribution of a "
                "word, by which drawn words could be decoded; use the decoder none "
                "(--decode none), or a mechanism that has one, such as rank"
            )
            raise UsageError(msg)

    @property
    def lists(self) -> dict[str, str]:
        """Return the digest of the lists that decide what may be written, if any."""
        if not self.delicate_words:
            return {}
        language = word_classes.language_of_lists(self.lexicon)
        return {"word_classes": word_classes.digest(language)}

    @property
    def delicate_words(self) -> frozenset[str]:
        """Return the words, as keys, that are written only where they were drawn."""
        language = word_classes.language_of_lists(self.lexicon)
        return language_data.delicate_words(language)

    @property
    def neutral(self) -> Ids:
        """Return a neutral word for each word of news, others themselves: (V,)."""
        return stand_ins.for_news(self.lexicon)

    @property
    def common(self) -> Mask:
        """Tell which rows are common words other than function words: (V + 1,)."""
        common = np.zeros(len(self.prior) + 1, bool)
        if count := self.policy.common:
            words = common_words(self.lexicon, count)
            common[words.content(self.lexicon)] = True
        return common

    @property
    def inputs(self) -> Floats:
        """Return the prior over V and the unknown word: (V + 1,), sums to 1."""
        unknown = _UNKNOWN if self.policy.unknown == "perturb" else 0.0
        inputs: Floats = np.append(self.prior * (1.0 - unknown), unknown)
        return inputs

    def public_epsilons(self, eps: Eps, texts: Ints) -> Eps:
        """Return the epsilon of each word as far as it is public: (n,).

        eps (n,) are those of the draws, texts (n,) which text each word belongs to.
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

    def inputs_of(self, shown: Shown, alone: Floats) -> Floats:
        """Return a prior over V and the unknown word by what is shown: (V + 1,).

        alone (V + 1,), a prior of all words.
        """
        possible = self.inputs > 0.0
        if shown.capital:
            possible[:-1] |= self._common_rows
        return np.where(possible & self.has_form(shown), alone, 0.0)

    def has_form(self, shown: Shown) -> Mask:
        """Tell which words may be of the form that is shown: (V + 1,)."""
        forms = grammar.forms_of_rows(self.lexicon)
        return np.append((forms == shown.form) | (shown.form < 0), True)

    @cached_property
    def _never_replaced(self) -> Mask:
        """Tell which words are written for no replaced word, common ones copied.

        Function words, contractions, and words of the classes that are drawn afresh:
        (V + 1,).
        """
        function = language_data.stop_words(self.lexicon.language)
        never = [key in function or "'" in key for key in self.lexicon.row_of]
        shown = kinds_of_rows(self.lexicon, self.policy.classes) > 0
        return np.append(np.array(never, bool) | shown, False)

    @cached_property
    def _common_rows(self) -> Mask:
        rows = np.zeros(len(self.prior), bool)
        if count := self.policy.common:
            rows[common_words(self.lexicon, count).rows(self.lexicon)] = True
        return rows

    def groups(self, released: Released) -> Iterator[tuple[Shown, Ints]]:
        """Yield what is shown of draws, with the positions of the words it is for."""
        capital = (released.flags[released.positions] & kinds.TITLE) != 0
        forms = np.full(len(capital), -1)
        if released.grammar is not None:
            forms = released.grammar.astype(np.int64)
        looks = 2 * forms + capital
        for epsilon, positions in self._by_epsilon(released.eps):
            inside = looks[positions]
            for look in np.unique(inside).tolist():
                shown = Shown(epsilon, bool(look % 2), look // 2)
                yield shown, positions[inside == look]

    def _by_epsilon(self, eps: Eps) -> Iterator[tuple[float, Ints]]:
        if not len(eps):
            return
        if self.budget.kind in (BudgetKind.WORD, BudgetKind.TYPE):
            yield self.budget.high, np.arange(len(eps))
            return
        steps = np.round(np.log(eps) / _STEP).astype(np.int64)
        for step in np.unique(steps).tolist():
            epsilon = float(np.exp(step * _STEP))
            least = max(self.budget.low, 1e-3)
            epsilon = min(max(epsilon, least), max(self.budget.high, least))
            yield epsilon, np.flatnonzero(steps == step)

    def candidates(
        self, epsilon: float, count: int, inputs: Floats | None = None
    ) -> Candidates:
        """Return the likeliest inputs of every output at one epsilon.

        inputs (V + 1,) is the prior to go by, `inputs` itself if not given.
        """
        self.check()
        eps = self.eps_of_row
        eps = np.full(len(self.prior) + 1, epsilon) if eps is None else eps
        prior = self.inputs if inputs is None else inputs
        what = "channel", 1, *self.mechanism.identity, count
        name = cache.key_of(*what, cache.digest(prior), cache.digest(eps))

        def compute() -> cache.Arrays:
            rows, log_probs = self.mechanism.likeliest_inputs(prior, eps, count)
            outputs = int(np.flatnonzero(np.isfinite(log_probs[:, 0]))[-1]) + 1
            return {"rows": rows[:outputs], "log_probs": log_probs[:outputs]}

        def holds(kept: cache.Arrays) -> bool:
            rows, size = kept["rows"], len(self.prior)
            fits = rows.ndim == 2 and rows.shape == kept["log_probs"].shape
            fits = fits and 0 < len(rows) <= size
            return bool(fits and rows.min() >= 0 and rows.max() <= size)

        about = f"looking up which words {self.mechanism.name} draws each word for"
        kept = cache.arrays(name, compute, holds, about)
        rows, possible = kept["rows"], np.isfinite(kept["log_probs"])
        drawn = np.zeros(len(prior), bool)
        drawn[: len(rows)] = possible[:, 0]
        drawn &= ~lexicons.vulgar_rows(self.lexicon)
        # A delicate word is written where it was drawn and nowhere else: what a model
        # infers from the words around it would make a guess at it visible to anybody.
        delicate = word_classes.classes_of_lexicon(self.lexicon).delicate
        delicate = np.append(delicate, False)
        itself = rows == np.arange(len(rows))[:, None]
        writable = drawn[rows] & possible & (itself | ~delicate[rows])
        # What was drawn of a closed class stays, and none of its words is put anywhere.
        closed = np.append(closed_classes.written_as_drawn(self.lexicon), False)
        if self.policy.common:
            # No replaced word is of these, so that one that is drawn is chance.
            never = self._never_replaced
            writable &= ~never[rows]
            closed &= ~never
        writable &= itself | ~(closed[rows] | closed[: len(rows), None])
        return Candidates(rows, kept["log_probs"], writable)


class ChannelAttacker:
    """The likeliest inputs of drawn words by the draws alone, count of each."""

    def __init__(self, channel: Channel, count: int) -> None:
        self.channel, self._count = channel, count
        self.table = lru_cache(maxsize=TABLES)(self._table)

    def _table(self, shown: Shown) -> Candidates:
        inputs = None
        if shown.capital or shown.form >= 0:
            known = self.channel.lexicon.prior * (1.0 - _UNKNOWN)
            inputs = self.channel.inputs_of(shown, np.append(known, _UNKNOWN))
        return self.channel.candidates(shown.epsilon, self._count, inputs)

    def evidence(self, released: Released) -> tuple[Ids, Floats, Mask]:
        """Return inputs (c, n), ln P(y|x) of each, -inf for none, and which to write.

        Those may be written that `Candidates` calls writable.
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
        """Return the likeliest word of each drawn one: (n,)."""
        guess = np.array(released.drawn)
        known = np.append(self.channel.prior, 0.0)
        for shown, positions in self.channel.groups(released):
            rows = self.channel.candidates(shown.epsilon, 1, known).rows[:, 0]
            guess[positions] = rows[released.drawn[positions]]
        return guess
