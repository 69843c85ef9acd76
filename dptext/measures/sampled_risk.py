"""Limits on the best attack without exact log-probabilities, from public draws.

Above: an attacker who sees what the mechanism gives to its mapping, the noisy vector,
guesses argmax_x prior(x) density(z|x), which is Bayes optimal; whatever a mapping makes
of z is no easier to guess from. Below: a rule from output to guess that is fixed on
draws of its own. Both are games that are won or lost, so that exact binomial limits
(Clopper and Pearson) bound the best attack on the output: docs/guarantees.md, 6.
Words and noise are public: results depend on no text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dptext import cache
from dptext.guarantees import binomial
from dptext.measures import guessing_rule
from dptext.measures.noisy_guess import Wins, wins
from dptext.measures.plays import bands_of, plays
from dptext.mechanisms import Mechanism
from dptext.randomness import RandomBits
from dptext.types import Eps, Ids

DRAWS = 20_000
CONFIDENCE = 0.95
Drawing = Callable[[Ids, Eps, RandomBits], Ids]
# Plays that are made again to look whether kept ones hold; tests kept in memory.
_REPLAYED, _KEPT = 512, 4
_tested: dict[str, Wins] = {}


@dataclass(frozen=True, slots=True)
class Limits:
    """Low and high of the success; of each band (success, success_band_known)."""

    low: float
    high: float
    method: str
    bands: list[tuple[float, float]]


def bounded(mechanism: Mechanism) -> bool:
    """Tell whether an upper limit can be had."""
    return mechanism.has_log_density


def limits(wins: Wins) -> tuple[float, float]:
    """Return the limits of a success rate, each wrong at half the stated rate."""
    return limits_of(int(wins.sum()), len(wins), CONFIDENCE)


@lru_cache(maxsize=1024)
def limits_of(won: int, played: int, confidence: float) -> tuple[float, float]:
    """Return the same from counts."""
    return binomial.limits(won, played, 1.0 - confidence)


@dataclass(frozen=True, slots=True)
class Played:
    """What came of the test draws: what measures limits.

    won (2, n) whether the best guess from the noisy vector is right, and that of who
    knows the band, or None without an upper limit; right (n,) whether the guess from
    the output by a rule is, or None where nothing draws.
    """

    won: Wins | None
    right: Wins | None

    @classmethod
    def of(
        cls,
        mechanism: Mechanism,
        epsilon: float,
        prior: NDArray[np.float64],
        draw: Drawing | None,
        draws: int = DRAWS,
    ) -> Played:
        """Play; draw runs mechanism and mapping."""
        won = (
            measured_wins(mechanism, epsilon, prior, draws)
            if bounded(mechanism)
            else None
        )
        right = None
        if draw is not None:
            sample = plays(prior, draws, "test")
            vectors = mechanism.space.vectors
            right = guessing_rule.wins(vectors, epsilon, prior, draw, sample, plays)
        return cls(won, right)

    def holds(
        self, mechanism: Mechanism, epsilon: float, prior: NDArray[np.float64]
    ) -> bool:
        """Tell whether plays chosen now at random come out as they did."""
        if self.right is not None and self.right.shape != (DRAWS,):
            return False
        if self.won is None:
            return not bounded(mechanism)
        some = np.random.default_rng().choice(DRAWS, _REPLAYED, replace=False)
        sample = plays(prior, DRAWS, "test").take(some)
        won = wins(mechanism, epsilon, prior, sample, bands_of(len(prior)))
        return bool(self.won.shape == (2, DRAWS) and (self.won[:, some] == won).all())

    def limits(self, prior: NDArray[np.float64]) -> Limits:
        """Bound the success of the best attack on the output.

        Without a rule there is no lower limit but the prior's; without an upper limit
        high is 1 and no band is measured.
        """
        low, high = float(prior.max()), 1.0
        measured: list[tuple[float, float]] = []
        methods, draws = [], DRAWS
        if self.won is None:
            methods.append("no upper limit is known, so 100% stands for it")
        else:
            high, draws = limits(self.won[0])[1], self.won.shape[1]
            ids = plays(prior, draws, "test").ids
            for begin, end in bands_of(len(prior)):
                inside = (ids >= begin) & (ids < end)
                most = [limits(w[inside])[1] if inside.any() else 1.0 for w in self.won]
                measured.append((most[0], most[1]))
            methods.append("at most that of an attacker who sees the noisy vector")
        if self.right is not None:
            low = max(low, limits(self.right)[0])
            methods.append("at least that of a guess from the output by a fixed rule")
        head = f"sampled, {draws:,} draws, {CONFIDENCE:.0%} confidence: "
        return Limits(low, high, head + "; ".join(methods), measured)


def measured_wins(
    mechanism: Mechanism, epsilon: float, prior: NDArray[np.float64], draws: int = DRAWS
) -> Wins:
    """Return `wins` of the draws by which a risk is measured; the last ones are kept.

    A search tries an epsilon with them just before it is measured.
    """
    key = cache.key_of(*mechanism.identity, cache.digest(prior), epsilon, draws)
    if key not in _tested:
        while len(_tested) >= _KEPT:
            _tested.pop(next(iter(_tested)))
        sample = plays(prior, draws, "test")
        _tested[key] = wins(mechanism, epsilon, prior, sample, bands_of(len(prior)))
    return _tested[key]
