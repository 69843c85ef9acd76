"""The lists of the rank mechanism: of each order the first words that are outputs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dptext import cache
from dptext.spaces import Space


def within(space: Space, outputs: int, listed: int) -> NDArray[Any]:
    """Return the first listed words below outputs of each order: (V + 1, listed).

    Where the lexicon's order names too few of them, the nearest of the others follow.
    listed <= outputs.
    """
    lexicon = space.lexicon
    stored = lexicon.orders
    if outputs == len(lexicon.words):
        return stored[:, :listed]
    if outputs == lexicon.meta.get("outputs"):
        # Only the word itself, which comes first, may lie beyond.
        lists = np.array(stored[:, :listed])
        lists[outputs:-1] = stored[outputs:-1, 1 : listed + 1]
        return lists
    may = stored < outputs
    front = np.argsort(~may, axis=1, kind="stable")[:, :listed]
    lists = np.take_along_axis(np.asarray(stored), front, axis=1)
    enough = may.sum(axis=1) >= listed
    if not enough.all():
        key = cache.key_of("within", 1, lexicon.digest, space.identity, outputs, listed)
        shape = (space.size + 1, listed)
        found = cache.arrays(
            key,
            lambda: {"lists": _filled(space, lists, outputs)},
            lambda kept: (
                kept["lists"].shape == shape and _distinct(kept["lists"], outputs)
            ),
        )
        lists = found["lists"]
    return np.asarray(lists)


def _distinct(lists: NDArray[Any], outputs: int) -> bool:
    """Tell whether each list holds different outputs: epsilon-LDP rests on it."""
    ordered = np.sort(lists, axis=1)
    return bool((ordered[:, 1:] > ordered[:, :-1]).all() and ordered.max() < outputs)


def _filled(space: Space, lists: NDArray[Any], outputs: int) -> NDArray[Any]:
    """Put the nearest words in the places of those that may not be written."""
    from dptext.lexicons.orders import build_orders

    listed = lists.shape[1]
    near = build_orders(space.vectors, listed, outputs=outputs)[0]
    filled = lists.copy()
    for row in np.flatnonzero((lists >= outputs).any(axis=1)):
        own = lists[row][lists[row] < outputs]
        others = near[row][~np.isin(near[row], own)]
        filled[row] = np.concatenate((own, others))[:listed]
    return np.asarray(filled)
