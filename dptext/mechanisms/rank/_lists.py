"""The lists of the rank mechanism: of each order the first words that are outputs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dptext import cache
from dptext.errors import UsageError
from dptext.spaces import Space


def count_outputs(space: Space, wanted: int | None) -> int:
    """Return how many words can be written: wanted, else as the lexicon says, else all.

    Raises UsageError for more than there are.
    """
    outputs = wanted or int(space.lexicon.meta.get("outputs", space.size))
    if outputs > space.size:
        raise UsageError(
            f"mechanism.outputs: {outputs} is more than the {space.size} words there "
            "are"
        )
    return outputs


def longest(space: Space, outputs: int) -> int:
    """Return how many words the lexicon's orders list of the outputs."""
    lexicon = space.lexicon
    # Where only the first words are listed, a word itself comes on top of them.
    inside = int(lexicon.meta.get("outputs", space.size)) < space.size
    return int(lexicon.orders.shape[1]) - inside


def within(space: Space, outputs: int, listed: int) -> NDArray[np.integer]:
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
    writable = stored < outputs
    front = np.argsort(~writable, axis=1, kind="stable")[:, :listed]
    lists = np.take_along_axis(np.asarray(stored), front, axis=1)
    if (writable.sum(axis=1) >= listed).all():
        return lists
    key = cache.key_of("within", 1, lexicon.digest, space.identity, outputs, listed)
    return cache.arrays(
        key,
        lambda: {"lists": _filled(space, lists, outputs)},
        lambda kept: (
            kept["lists"].shape == lists.shape and _distinct(kept["lists"], outputs)
        ),
    )["lists"]


def _distinct(lists: NDArray[np.integer], outputs: int) -> bool:
    """Tell whether each list holds different outputs: epsilon-LDP rests on it."""
    ordered = np.sort(lists, axis=1)
    return bool((ordered[:, 1:] > ordered[:, :-1]).all() and ordered.max() < outputs)


def _filled(
    space: Space, lists: NDArray[np.integer], outputs: int
) -> NDArray[np.integer]:
    """Put the nearest words where words stand that may not be written."""
    from dptext.lexicons.orders import build_orders

    listed = lists.shape[1]
    near = build_orders(space.vectors, listed, outputs=outputs)[0]
    filled = lists.copy()
    for row in np.flatnonzero((lists >= outputs).any(axis=1)):
        kept = lists[row][lists[row] < outputs]
        others = near[row][~np.isin(near[row], kept)]
        filled[row] = np.concatenate((kept, others))[:listed]
    return np.asarray(filled)
