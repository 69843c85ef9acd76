"""The tree of tokens that a model has read of one text, and where their keys lie.

All beams of a text share what they have in common: each token is read once, at a free
entry of the text's part of the cache, and attends to the entries of its ancestors.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(eq=False, slots=True)
class Node:
    """A token after those of its ancestors.

    wanted (w,) the tokens whose ln p right after it is asked for; log_probs (w,)
    float64, the answer; entry, -1 before it is read.
    """

    token: int
    parent: Node | None
    wanted: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    log_probs: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    entry: int = -1
    depth: int = 0

    def __post_init__(self) -> None:
        self.depth = 0 if self.parent is None else self.parent.depth + 1

    def path(self) -> list[Node]:
        """Return the node and its ancestors, the first token first."""
        nodes: list[Node] = []
        node: Node | None = self
        while node is not None:
            nodes.append(node)
            node = node.parent
        return nodes[::-1]


class Entries:
    """The entries of one text; the last one is nobody's: padding is written there."""

    def __init__(self, capacity: int) -> None:
        self.trash = capacity - 1
        self.attended = np.zeros((capacity, capacity), bool)
        self._free = list(range(self.trash))

    def place(self, node: Node) -> None:
        """Give a node the first free entry; its parent has one."""
        entry = self._free.pop(0)
        before = None if node.parent is None else self.attended[node.parent.entry]
        self.attended[entry] = False if before is None else before
        self.attended[entry, entry] = True
        node.entry = entry

    def keep(self, leaves: Iterable[Node]) -> None:
        """Free all entries but those of nodes and of their ancestors."""
        kept = np.zeros(len(self.attended), bool)
        for leaf in leaves:
            node: Node | None = leaf
            while node is not None and node.entry < 0:
                node = node.parent
            if node is not None:
                kept |= self.attended[node.entry]
        kept[self.trash] = True
        self._free = np.flatnonzero(~kept).tolist()


def unread(leaves: Iterable[Node]) -> list[Node]:
    """Return the nodes that have no entry yet, each after its parent."""
    nodes: dict[Node, None] = {}
    for leaf in leaves:
        nodes.update((node, None) for node in leaf.path() if node.entry < 0)
    return list(nodes)


def room(nodes: Iterable[Node]) -> int:
    """Return how many entries nodes take together with their ancestors."""
    counted: set[Node] = set()
    for node in nodes:
        at: Node | None = node
        while at is not None and at not in counted:
            counted.add(at)
            at = at.parent
    return len(counted)
