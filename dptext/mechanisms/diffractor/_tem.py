"""The truncated exponential mechanism on a chain, in closed form.

P(j|i) ~ exp(-eps min(|i - j| / scale, gamma) / 2): a floor for every position, and what
exceeds it near i.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dptext.mechanisms.diffractor._window import Positions, Window
from dptext.randomness import RandomBits
from dptext.types import Eps


@dataclass(frozen=True, slots=True)
class Tem:
    """Noise on a chain of so many words; gamma None: it is product over epsilon."""

    size: int
    scale: float
    gamma: float | None
    product: float

    @classmethod
    def of(cls, size: int, scale: float, gamma: float | None, beta: float) -> Tem:
        """Take gamma, or let an output beyond it have probability at most beta."""
        odds = (1.0 - beta) * (size - 1) / beta
        return cls(size, scale, gamma, 2.0 * math.log(max(odds, 1.0 + 1e-9)))

    @property
    def max_loss(self) -> float:
        """Return what no two words lose more than at any epsilon, in nats."""
        return self.product if self.gamma is None else math.inf

    def rate(self, eps: Eps) -> NDArray[np.float64]:
        """Return half of epsilon, the other half is for the normaliser: (n,)."""
        return eps / 2.0

    def cut(self, eps: Eps) -> NDArray[np.float64]:
        """Return gamma: (n,)."""
        if self.gamma is None:
            return self.product / eps
        return np.full(len(eps), self.gamma)

    def log_totals(self, inputs: Positions, eps: Eps) -> NDArray[np.float64]:
        """Return ln of the normaliser: inputs (n,), eps (n,) or (1,) -> (n,)."""
        return np.asarray(np.log(Window.of(self, inputs, eps).total()))

    def log_outputs(self, outputs: Positions, eps: Eps) -> NDArray[np.float64]:
        """Return 0: all normalising is done by the inputs: (n, m)."""
        return np.zeros((len(eps), len(outputs)))

    def moved(
        self, positions: Positions, eps: Eps, up: NDArray[np.bool_], bits: RandomBits
    ) -> Positions:
        """Draw any position at all, or itself, or one to its left or right."""
        window = Window.of(self, positions, eps)
        integers = bits.integers(1)
        uniform = RandomBits.unit(integers[:, 0])
        target = uniform * window.total() - self.size * window.floor
        anywhere = bits.below(integers[:, 1], self.size)
        beyond = target < 0.0
        target -= 1.0 - window.floor
        itself = target < 0.0
        left = window.excess(window.left)
        leftwards = target < left
        target = np.where(leftwards, target, target - left)
        most = np.where(leftwards, window.left, window.right)
        steps = window.steps(target, most)
        near = positions + np.where(leftwards, -steps, steps)
        return np.where(beyond, anywhere, np.where(itself, positions, near))

    def numerical_slack(self, epsilon: float, loss: float) -> float:
        """Return the nats that finite uniforms may add.

        The rarest output has probability exp(-loss / 2) / V, exact to 2^-52.
        """
        return float(2.0**-50 * self.size * np.exp(min(loss, 600.0) / 2.0))
