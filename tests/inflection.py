"""The tables of agreement as whole tables of written words."""

from __future__ import annotations

import numpy as np

from dptext.types import Ids
from dptext.writing.agreement import Inflector


def written(inflector: Inflector, size: int) -> list[Ids]:
    """Return the word that each of size words becomes beside each class: (c, size)."""
    tables = []
    for moves in (inflector._before, inflector._after):
        rows = moves.reshape(-1, inflector._width + 1)
        table = np.tile(np.arange(size, dtype=np.int32), (len(rows), 1))
        table[:, : inflector._width] += rows[:, :-1]
        assert not rows[:, -1].any()
        tables.append(table)
    return tables
