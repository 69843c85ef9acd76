"""Attacks on single words of a released text, and how often they are right.

nearest guess: the original is the word that was written. Bayes: the likeliest original
under the public word frequencies and the mechanism's exact output distribution, the
attacker of the Bayes risk. Both take words to be replaced one by one, in order; neither
uses context. Words outside the vocabulary are not attacked, and all numbers of an
element are one word.

Words are replaced one for one, so they are paired in order, in texts with equally many
words before and after. Where other words came out (two output words that read as one),
or another tool wrote the file, the counts differ: such texts are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dptext.measures import bayes_risk
from dptext.measures.public import risk_of
from dptext.mechanisms import Mechanism
from dptext.metrics import Batch
from dptext.tokens import kinds
from dptext.tokens.policy import DROP, PERTURB, Policy
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import BudgetKind, Floats, Ids, Ints, Lexicon, Words

if TYPE_CHECKING:
    from dptext.pipeline import Pipeline

NEAREST = "guesses that a word was not changed; knows nothing"
BAYES = (
    "knows mechanism, epsilon and public word frequencies; sees one word, no context"
)


@dataclass(frozen=True, slots=True)
class Attack:
    """success is the share of words guessed right; assumes, what the attacker has."""

    name: str
    success: float
    words: int
    assumes: str
    predicted: float | None = None


def nearest(same: int, words: int) -> Attack:
    """Guess the written word: right where the word is the same, in so many of words."""
    return Attack("nearest guess", same / words if words else 0.0, words, NEAREST)


def bayes(
    mechanism: Mechanism,
    epsilon: float,
    prior: Floats,
    before: Ids,
    after: Ids,
    predicted: float | None = None,
) -> Attack:
    """Guess argmax over x of prior(x) P(y|x), from exact log-probabilities."""
    outputs, which = np.unique(after, return_inverse=True)
    guesses = best(mechanism, epsilon, prior, outputs)
    right = float((guesses[which] == before).mean()) if len(before) else 0.0
    return Attack("Bayes", right, len(before), BAYES, predicted)


def best(mechanism: Mechanism, epsilon: float, prior: Floats, outputs: Ids) -> Ids:
    """Return the likeliest original of each output: (m,) int32, in O(V^2)."""
    size = len(prior)
    top = np.full(len(outputs), -np.inf)
    guess = np.zeros(len(outputs), np.int32)
    block = max(1, 2**21 // size)
    with np.errstate(divide="ignore"):
        weight = np.log(prior)
    for begin in range(0, size, block):
        ids = np.arange(begin, min(begin + block, size), dtype=np.int32)
        ids = ids[np.isfinite(weight[ids])]
        if not len(ids):
            continue
        log_probs = mechanism.log_probs(ids, np.full(len(ids), epsilon))
        score = log_probs[:, outputs] + weight[ids][:, None]
        row = score.argmax(axis=0)
        highest = score[row, np.arange(len(outputs))]
        better = highest > top
        top[better], guess[better] = highest[better], ids[row[better]]
    return guess


@dataclass(frozen=True, slots=True)
class Aligned:
    """A batch of texts before and after, with all of their words.

    rows_before and rows_after (m,) pair the words that the policy replaces, of texts
    with equally many words; compared counts those texts.
    """

    before: Words
    after: Words
    rows_before: Ints
    rows_after: Ints
    compared: int

    def batch(self, first_text: int) -> Batch:
        """Return the pairs as a run would count them; their epsilons are not known."""
        rows = self.rows_before
        words = replace(
            self.before,
            positions=self.before.positions[rows],
            texts=self.before.texts[rows],
            ids=self.before.ids[rows],
        )
        pieces = np.array([*self.after.pieces, ""], dtype=object)
        return Batch(
            words,
            written=self.after.ids[self.rows_after],
            spelled=pieces[self.after.positions[self.rows_after]],
            eps=np.full(len(rows), np.nan),
            first_text=first_text,
        )


class Aligner:
    """Split texts before and after, and pair their words.

    policy is that of the run: words that it leaves out have no partner, and of the
    others only those that it replaces are among the pairs.
    """

    def __init__(self, lexicon: Lexicon, policy: Policy | None = None) -> None:
        # Every kind of word counts here, whatever the policy did with it.
        policy = policy or Policy()
        listed = Policy(keep=policy.keep, mask=policy.mask, forms=policy.forms)
        self._tokenizer = Tokenizer(lexicon, listed, every_word=True)
        treatments = [policy.treatment(kind) for kind in range(kinds.COUNT)]
        self._dropped = np.array([each == DROP for each in treatments])
        self._replaced = np.array([each == PERTURB for each in treatments])

    def __call__(self, before: Sequence[str], after: Sequence[str]) -> Aligned:
        """Split and pair a batch."""
        one, two = self._tokenizer.words(before), self._tokenizer.words(after)
        kind = one.flags[one.positions] & np.uint8(kinds.KIND)
        left = ~self._dropped[kind]
        counts = np.bincount(one.texts[left], minlength=len(before))
        same = counts == np.bincount(two.texts, minlength=len(after))
        rows_before = np.flatnonzero(left & same[one.texts])
        rows_after = np.flatnonzero(same[two.texts])
        use = self._replaced[kind[rows_before]]
        return Aligned(one, two, rows_before[use], rows_after[use], int(same.sum()))


class Guesses:
    """Take aligned words in.

    The nearest guess is counted on the way. The Bayes attack, for a known pipeline with
    exact log-probabilities and one epsilon that writes what is drawn, keeps 8 bytes a
    word.
    """

    def __init__(self, pipeline: Pipeline | None) -> None:
        exact = (
            pipeline is not None
            and pipeline.mechanism.has_log_probs
            and not pipeline.profile.decoder.params.reads
            and pipeline.budget.description.kind is BudgetKind.WORD
        )
        self._attacked = pipeline if exact else None
        self._same = self._words = 0
        self._before: list[Ids] = []
        self._after: list[Ids] = []

    def add(self, aligned: Aligned) -> None:
        """Take in a batch."""
        before: Ids = aligned.before.ids[aligned.rows_before]
        after: Ids = aligned.after.ids[aligned.rows_after]
        known = (before >= 0) & (after >= 0)
        before, after = before[known], after[known]
        self._words += len(before)
        self._same += int(np.count_nonzero(before == after))
        if self._attacked is not None:
            self._before.append(before)
            self._after.append(after)

    def attacks(self) -> tuple[Attack, ...]:
        """Return how often the attacks are right; none without words."""
        if not self._words:
            return ()
        results = [nearest(self._same, self._words)]
        pipeline = self._attacked
        if pipeline is not None:
            public = bayes_risk.replaced(pipeline.lexicon, pipeline.profile.tokens)
            risk, _ = risk_of(pipeline)
            results.append(
                bayes(
                    pipeline.mechanism,
                    pipeline.budget.description.high,
                    public,
                    np.concatenate(self._before),
                    np.concatenate(self._after),
                    None if risk is None else risk.success,
                )
            )
        return tuple(results)
