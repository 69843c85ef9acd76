"""Attackers guess the words of released texts with public language models.

Decoders use the same posterior probabilities (dptext.decoders).
"""

from __future__ import annotations

from typing import Protocol

from dptext.types import Ids, Released


class Attacker(Protocol):
    """Guesses the words of a text from its release."""

    @property
    def name(self) -> str:
        """Return the name of the attacker, or of its decoder."""

    @property
    def assumes(self) -> str:
        """Return what such an attacker knows, as part of a sentence."""

    def guess(self, released: Released) -> Ids:
        """Return the most likely input of each drawn word: (n,) int32 rows below V."""
