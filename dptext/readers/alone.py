"""The reader who does not read: the best guess of each word from its own draw."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dptext.readers.channel import Channel
from dptext.types import Ids, Released


@dataclass(frozen=True, slots=True)
class Alone:
    """Guesses argmax prior(x) P(y|x), the attacker of the Bayes risk."""

    channel: Channel
    name: str = "alone"
    assumes: str = (
        "knows mechanism, epsilon and public word frequencies; sees one word, no "
        "context"
    )

    def guess(self, released: Released) -> Ids:
        """Return the likeliest word of each drawn one: (n,)."""
        guess = np.array(released.drawn)
        known = np.append(self.channel.prior, 0.0)
        for epsilon, positions in self.channel.groups(released.eps):
            rows = self.channel.candidates(epsilon, 1, known).rows[:, 0]
            guess[positions] = rows[released.drawn[positions]]
        return guess
