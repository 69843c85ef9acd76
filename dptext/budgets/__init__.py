"""Budgets: how epsilon is spread over the words of a text, one file each.

A budget module holds `Params` with the public total or rate, `spread(params, words) ->
(n,) float64 > 0`, `LEVEL`, "word" or "text", what its epsilon is for, and
`DEPENDS_ON_TEXT`, True when the split looks at more than how many words a text has.
"""

from __future__ import annotations

from typing import Any, Protocol

from dptext.types import Eps, Words


class Budget(Protocol):
    """What every file in this folder defines."""

    Params: type
    LEVEL: str
    DEPENDS_ON_TEXT: bool

    def spread(self, params: Any, words: Words) -> Eps:
        """Return the epsilon of each word."""
