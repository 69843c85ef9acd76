"""The weights of the truncated exponential mechanism on a chain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dptext.types import Eps

if TYPE_CHECKING:
    from dptext.mechanisms.diffractor._tem import Tem

Positions = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Window:
    """A floor for all of V, and what exceeds it near by.

    rate (n,) nats a step; floor (n,) the least weight; left, right (n,) the positions
    on either side that exceed it.
    """

    size: int
    rate: NDArray[np.float64]
    floor: NDArray[np.float64]
    left: Positions
    right: Positions

    @classmethod
    def of(cls, tem: Tem, positions: Positions, eps: Eps) -> Window:
        """Return those of some positions: (n,)."""
        gamma, last = tem.cut(eps), tem.size - 1
        inside = np.minimum(np.floor(gamma * tem.scale), last).astype(np.int64)
        return cls(
            size=tem.size,
            rate=eps / (2.0 * tem.scale),
            floor=np.exp(eps * gamma / -2.0),
            left=np.minimum(positions, inside),
            right=np.minimum(last - positions, inside),
        )

    def excess(self, count: Positions) -> NDArray[np.float64]:
        """Return the sum of exp(-rate k) - floor over k = 1 ... count."""
        sums = np.expm1(-self.rate * count) / np.expm1(-self.rate)
        return np.maximum(sums * np.exp(-self.rate) - count * self.floor, 0.0)

    def total(self) -> NDArray[np.float64]:
        """Return the normaliser of each row."""
        itself = 1.0 - self.floor
        sides = self.excess(self.left) + self.excess(self.right)
        return self.size * self.floor + itself + sides

    def steps(self, target: NDArray[np.float64], most: Positions) -> Positions:
        """Return the first count whose excess is above the target, by halving: (n,)."""
        low: Positions = np.minimum(1, most)
        high: Positions = most.copy()
        for _ in range(int(most.max(initial=0)).bit_length()):
            middle = (low + high) // 2
            enough = self.excess(middle) > target
            high = np.where(enough, middle, high)
            low = np.where(enough, low, np.minimum(middle + 1, high))
        return high
