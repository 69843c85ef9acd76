"""How far the scale of an exponential mechanism may be raised without more loss.

P(y|x) ~ exp(-scale t(x, y) / 2) with a metric t is promised scale t, but the loss of
two words is exactly scale t / 2 + |ln Z - ln Z'|, often near half of that. The scale of
an epsilon lies in [epsilon, 2 epsilon], and no pair of the V + 1 inputs loses more than
epsilon t at it. All of it is public: lexicon, space, truncation and epsilon decide.

The loss over t need not grow with the scale. So nothing rests on the search: words that
matter propose a scale, and it is taken only if the losses of all pairs hold at it;
otherwise the pairs that failed join the words and propose again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dptext import cache
from dptext.errors import UsageError
from dptext.exponential.losses import Losses
from dptext.exponential.losses_among import LossesAmong
from dptext.spaces import Space

# No pair may come nearer to its claim than this, relatively: rounding stays below.
MARGIN = 1e-9
# Every epsilon costs passes over all pairs of V: as many as this are few and public.
MOST = 8
# Below this many nats at the diameter all scales are alike, and rounding decides.
LEAST = 1e-6
_FIRST, _MORE, _WORDS = 64, 64, 512
_ROUNDS = 10
_GRID = np.linspace(1.0, 2.0, 33)
_SEED = 1


@dataclass(frozen=True, slots=True)
class Scales:
    """The raised scales of the epsilons of a run, each searched once."""

    space: Space
    known: dict[tuple[float, float], float] = field(default_factory=dict)

    def at(self, epsilon: float, truncation: float) -> float:
        """Return the scale for epsilon; UsageError beyond MOST different ones."""
        settings = (float(epsilon), float(truncation))
        if settings not in self.known:
            if len(self.known) >= MOST:
                raise UsageError(
                    "recalibrate looks at all pairs of words for each epsilon, and "
                    f"this run asks for more than {MOST}: use the budget uniform with "
                    "an epsilon of each word, or leave recalibrate out"
                )
            self.known[settings] = scale(self.space, *settings)
        return self.known[settings]

    def check(self, epsilon: float) -> None:
        """Raise UsageError where epsilon is too small to be looked at in float64."""
        if epsilon * self.space.geometry.diameter < LEAST:
            raise UsageError(
                f"recalibrate needs an epsilon of each word: at {epsilon:.3g} (the "
                "share of a word in a long text) there is nothing to gain; use the "
                "budget uniform with an epsilon of each word, or leave it out"
            )


def describe(epsilon: float, raised: float) -> str:
    """Say that a scale was raised, for reports."""
    return (
        f"The output distribution has the scale {raised:.6g} in place of the published "
        f"{epsilon:.6g} (recalibrate, {raised / epsilon:.4f} times): with this lexicon "
        "no pair of words loses more than epsilon allows, by the exact losses of all "
        "pairs, the unknown word's included. For other words or vectors this says "
        "nothing."
    )


def scale(space: Space, epsilon: float, truncation: float = math.inf) -> float:
    """Return a scale in [epsilon, 2 epsilon] at which no loss exceeds epsilon t.

    Searched once for a lexicon, space, truncation and epsilon, then kept in the cache
    folder.
    """

    def compute() -> dict[str, float]:
        return {"eta": _search(Losses(space, truncation), epsilon)}

    def holds(kept: cache.Numbers) -> bool:
        # The search began with these words; the pairs that decide are often theirs.
        losses, raised = Losses(space, truncation), float(kept["eta"])
        words = LossesAmong(losses, _first(losses))
        inside = epsilon <= raised <= 2.0 * epsilon
        return inside and (raised == epsilon or words.worst(raised) <= epsilon)

    limit = "none" if math.isinf(truncation) else truncation
    key = cache.key_of(
        "recalibration", 1, space.lexicon.digest, space.identity, limit, epsilon
    )
    what = "raising the scale as far as all pairs allow"
    return float(cache.numbers(key, compute, holds, what)["eta"])


def _search(losses: Losses, epsilon: float) -> float:
    """Return a scale at which all pairs hold; epsilon itself always does."""
    words = LossesAmong(losses, _first(losses))
    top = 2.0 * epsilon
    for turn in range(_ROUNDS):
        raised = _proposed(words, epsilon, top)
        if raised <= epsilon:
            break
        worst, more = losses.worst(raised, _MORE)
        if worst <= epsilon * (1.0 - MARGIN):
            return raised
        known = words.ids if len(words.ids) < _WORDS else words.ids[:0]
        words = LossesAmong(losses, np.append(known, more))
        # Few pairs fail for long; where others do again and again, give way.
        top = raised if turn < _ROUNDS // 2 else epsilon + 0.9 * (raised - epsilon)
    return epsilon


def _proposed(words: LossesAmong, epsilon: float, top: float) -> float:
    """Return the largest scale up to top that a few words allow; else epsilon.

    By a grid and halving.
    """
    limit = epsilon * (1.0 - 2.0 * MARGIN)
    grid = [scale for scale in (epsilon * _GRID).tolist() if scale < top]
    below, above = top, math.inf
    while words.worst(below) > limit:
        if not grid:
            return epsilon
        below, above = grid.pop(), below
    if math.isinf(above):
        return below
    while above - below > MARGIN * epsilon:
        middle = 0.5 * (below + above)
        if words.worst(middle) <= limit:
            below = middle
        else:
            above = middle
    return below


def _first(losses: Losses) -> NDArray[np.int64]:
    """Choose frequent and random words, and those next to the unknown word."""
    size = losses.space.size
    count = min(_FIRST, size)
    rng = np.random.default_rng(_SEED)
    near = np.argsort(losses.unknown, kind="stable")[:count]
    frequent, others = np.arange(count), rng.choice(size, count, replace=False)
    return np.unique(np.concatenate((near, frequent, others)))
