"""Caches function results for distinct pieces of text in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

# Distinct pieces that are remembered; more would fill the memory.
REMEMBERED = 200_000
#: Pieces with so many characters are not remembered.
LONG = 64

Value = TypeVar("Value")


class Memory(dict[str, Value]):
    """Calls a function once per distinct piece, as far as memory allows."""

    def __init__(self, function: Callable[[str], Value]) -> None:
        super().__init__()
        self._function = function

    def __missing__(self, piece: str) -> Value:
        value = self._function(piece)
        if len(self) >= REMEMBERED:
            self.clear()
        if len(piece) < LONG:
            self[piece] = value
        return value
