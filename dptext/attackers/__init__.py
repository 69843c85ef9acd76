"""Attackers: what a public language model makes of released words, word by word.

One posterior for two uses: decoders write by it, and attacks guess by it.
"""

from __future__ import annotations

from typing import Protocol

from dptext.types import Ids, Released


class Attacker(Protocol):
    """Guesses words; name, and what it assumes an attacker to have, in a sentence."""

    @property
    def name(self) -> str:
        """Return its name, that of its decoder where it has one."""

    @property
    def assumes(self) -> str:
        """Say what an attacker has who reads so."""

    def guess(self, released: Released) -> Ids:
        """Return the likeliest word of each drawn one, (n,) int32 rows below V."""
