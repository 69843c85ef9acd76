"""Audits a list of words that many people wrote: exactly, and with draws.

Neighbouring corpora are compared by the exact distribution of one word's released sum:
with a person who wrote the word and without, among any number of others. Words of one
person only are compared by the exact tail of the noise, and many words of others by
the exact curve of normal noise. The program's draws are tested against these
distributions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from dptext import noise
from dptext.engine.corpus_words import Sums
from dptext.guarantees import binomial
from dptext.guarantees.audit.findings import ALARM
from dptext.noise import WIDTH, gaussian_delta
from dptext.partition import CAP, Law, tail
from dptext.randomness import Randomness, RunKey
from dptext.report.blocks import Figures
from dptext.types import Floats
from dptext.word_file import WordFile

_SEED = 1
# Sums at which the program is sampled, and draws of each.
_SUMS, _DRAWS = 41, 2500
# Standard deviations of the noise on each side of the threshold.
_FAR = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WordsAudit:
    """The findings of an audit of a list."""

    epsilon: float
    delta: float
    #: The largest exact delta of neighbouring corpora of one word, at epsilon.
    neighbours: float
    #: Number of other people who wrote the word in them.
    others: int
    #: The largest chance that a word of one person alone is released.
    alone: float
    #: Number of this person's words.
    words: int
    #: Delta of all words that others wrote, too, by the curve of normal noise.
    shared: float
    #: Draws of the program, and the least chance of a count as far from its law.
    draws: int
    p_value: float

    @property
    def refuted(self) -> bool:
        """Return whether the claim or the program is refuted."""
        total = max(self.neighbours, self.alone + self.shared)
        return total > self.delta * (1 + 1e-6) or self.p_value < ALARM

    @property
    def view(self) -> Figures:
        """Return the findings by name."""
        verdict = "REFUTED" if self.refuted else "no fault found"
        return Figures(
            [
                ("Claim", f"epsilon {self.epsilon:g}, delta {self.delta:g}"),
                (
                    "Neighbours",
                    f"delta {self.neighbours:.3g}, exact: one word, with and without a "
                    f"person, beside {self.others} others who wrote it",
                ),
                (
                    "One person alone",
                    f"a word of theirs is released with {self.alone:.3g} at most, "
                    f"exact: with {self.words} words",
                ),
                (
                    "Words of others",
                    f"delta {self.shared:.3g}, by the exact curve of normal noise",
                ),
                (
                    "Program",
                    f"{self.draws:,} draws at sums around the threshold, p = "
                    f"{self.p_value:.2g} (false alarm below {ALARM:g})",
                ),
                ("Verdict", verdict),
            ]
        )


def audit_words(listed: WordFile) -> WordsAudit:
    """Audit the distribution of a list, and the program's draws from it."""
    law = listed.law
    others = range(math.ceil(2 * law.rho) + 2)
    deltas = [_delta_of_one_word(law, count) for count in others]
    alone = [_chance_alone(law, words) for words in range(1, CAP + 1)]
    draws, p_value = _sample(law)
    return WordsAudit(
        epsilon=law.stated,
        delta=law.delta,
        neighbours=max(deltas),
        others=int(np.argmax(deltas)),
        alone=max(alone),
        words=int(np.argmax(alone)) + 1,
        shared=gaussian_delta(
            law.epsilon, WIDTH / (law.sigma * math.sqrt(WIDTH**2 - 1 / 12))
        ),
        draws=draws,
        p_value=p_value,
    )


def _chance_alone(law: Law, words: int) -> float:
    """Return the probability that a word of only one person is released."""
    each = float(tail(law.threshold - law.weight(words)))
    return -math.expm1(words * math.log1p(-each))


def release_chance(law: Law, total: int) -> float:
    """Return the exact probability that a sum, in steps, is released."""
    need = law.threshold - total
    return float(tail(need) if need > 0 else 1 - tail(1 - need))


def _delta_of_one_word(law: Law, others: int) -> float:
    """Return the exact two-sided delta of one word, given the others' weights."""
    without = others * law.weight(1)
    with_person = without + law.weight(1)
    if not others:  # the word does not exist without the person
        return release_chance(law, with_person)
    one, other = _outputs(law, with_person), _outputs(law, without)
    size = max(len(one), len(other))
    one, other = (np.pad(each, (0, size - len(each))) for each in (one, other))
    return max(
        float(np.maximum(one - math.exp(law.epsilon) * other, 0).sum()),
        float(np.maximum(other - math.exp(law.stated) * one, 0).sum()),
    )


def _outputs(law: Law, total: int) -> Floats:
    """Return a sum's output distribution: not released, then each value from T on."""
    density = _density()
    first = law.threshold - total + len(density) // 2
    begin = max(first, 0)
    released = np.concatenate((np.zeros(begin - first), density[begin:]))
    return np.concatenate(([1 - release_chance(law, total)], released))


@cache
def _density() -> Floats:
    """Return P(noise = k) for k from -m to m: (2 m + 1,)."""
    high, low = noise.normal_table()
    sums = (high.astype(object) << 63) + low.astype(object)
    sizes = np.diff(np.append(np.insert(sums, 0, 0), 1 << 127))
    chances = np.array([each / 2**127 for each in sizes.tolist()])
    return np.concatenate((chances[:0:-1] / 2, chances[:1], chances[1:] / 2))


def _sample(law: Law) -> tuple[int, float]:
    """Draw lists from synthetic sums; return the draw count and a joint p-value."""
    around = np.linspace(-_FAR * WIDTH, _FAR * WIDTH, _SUMS).astype(np.int64)
    totals = law.threshold + around
    sums = Sums(
        persons=0,
        words=tuple(f"{n:06}" for n in range(_SUMS * _DRAWS)),
        sums=np.repeat(totals, _DRAWS),
        digest=b"audit",
    )
    _, drawn = sums.release(law, Randomness(RunKey.from_seed(_SEED), "audit of words"))
    counts = np.bincount([int(each.word) // _DRAWS for each in drawn], minlength=_SUMS)
    least = 1.0
    for total, count in zip(totals.tolist(), counts.tolist(), strict=True):
        chance = release_chance(law, total)
        few = binomial.at_most(count, _DRAWS, chance)
        many = binomial.at_least(count, _DRAWS, chance)
        least = min(least, 2 * min(few, many))
    return _SUMS * _DRAWS, min(1.0, least * _SUMS)
