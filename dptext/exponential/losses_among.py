"""The exact losses of a few inputs, quick at any scale."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dptext.exponential.losses import Losses, log_sums


class LossesAmong:
    """The losses over t of a few inputs, the unknown one last, quick at any scale."""

    def __init__(self, losses: Losses, ids: NDArray[np.int64]) -> None:
        self.ids = np.unique(ids)
        self._rows = losses.rows(np.append(self.ids, losses.space.size))
        # (n + 1, n): from each of them to those that are words.
        self._among = self._rows[:, self.ids]
        self._beyond = losses.beyond(self.ids)

    def worst(self, scale: float) -> float:
        """Return the largest loss over t among these inputs."""
        log_z = log_sums(self._rows, scale)
        loss = 0.5 * scale * self._among + np.abs(log_z[:, None] - log_z[:-1])
        words = self._among[-1] * 0.5 * scale - log_z[:-1] + log_z[-1]
        unknown = self._beyond * 0.5 * scale + log_z[:-1] - log_z[-1]
        loss[-1] = np.maximum(words, unknown)
        share = np.divide(
            loss, self._among, out=np.zeros_like(loss), where=self._among > 0.0
        )
        return float(share.max())
