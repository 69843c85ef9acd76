"""Metrics: what a run did to its texts, one file each.

A metric module holds `NAME`, and `Meter(lexicon)` with `add(words, drawn)` for each
batch and `result() -> dict` at the end. They see the private text: their results go
into the internal report only.
"""

from __future__ import annotations

from typing import Any, Protocol

from dptext.types import Ids, Words


class Meter(Protocol):
    """What counts while a run goes on."""

    def add(self, words: Words, drawn: Ids) -> None:
        """Take in a batch: its words and what was drawn for them, (n,)."""

    def result(self) -> dict[str, Any]:
        """Return plain numbers."""
