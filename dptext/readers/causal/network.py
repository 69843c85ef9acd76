"""A causal language model that reads trees of tokens, some texts side by side.

Every pass has one shape, with padding where there is less to read, and runs on one
thread. So the sums of a token are made in the same way whatever stands beside it, and
what a model says of a text does not depend on other texts (tests hold it to that).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from dptext import causal_models
from dptext.models import Library
from dptext.readers.causal import packing
from dptext.readers.causal.entries import Entries, Node
from dptext.readers.causal.passes import Group, Lines, Shape, Way

SETTING = "decoder.model"
# Log-probabilities of one text read in two ways may differ so much.
_SLACK = 0.02
# On a processor, what is padded costs; on a GPU, each call does.
_PACKED, _APART, _ON_GPU = Shape(24, 8, 64), Shape(8, 8, 64), Shape(64, 8, 512)


@cache
def tokenizer(path: str, digest: str) -> Library:
    """Load the tokenizer of a model, once for a digest."""
    return causal_models.tokenizer(path, SETTING)


@cache
def load(path: str, digest: str, device: str) -> Network:
    """Load a model, once for a digest."""
    return Network(causal_models.network(path, SETTING, device), device)


class Network:
    """A model on a device, and the fastest way in which it reads right.

    On a processor packed where it lets others do its attention, else each text apart;
    a model that cannot read trees reads line by line (by_trees is false): many times
    slower.
    """

    def __init__(self, model: Library, device: str) -> None:
        self.model = model
        for way in _ways(model, device):
            self.way, self.by_trees = way, _reads_trees(way)
            if self.by_trees:
                break

    def group(self, capacity: int, wanted: int) -> Group | Lines:
        """Return room for some texts; wanted, the most tokens asked for at a node."""
        return Group(self.way, capacity, wanted) if self.by_trees else Lines(self.way)


def _ways(model: Library, device: str) -> Iterator[Way]:
    """Yield the ways to ask a model, the fastest first."""
    on_cpu = device == "cpu"
    if on_cpu and packing.accept(model):
        yield Way(model, device, _PACKED, packed=True)
    yield Way(model, device, _APART if on_cpu else _ON_GPU, packed=False)


def _reads_trees(way: Way) -> bool:
    """Tell whether branches of a tree are read as lines of tokens are.

    A model whose positions or states follow the order in the cache does not.
    """
    try:
        return _difference(way) < _SLACK
    except Exception:  # whatever a model says to a mask that it does not know
        return False


def _difference(way: Way) -> float:
    """Return how much ln p differs between a branch and the same tokens alone."""
    wanted = np.arange(8)
    group, entries = Group(way, 16, len(wanted)), Entries(16)
    root = Node(1, None)
    stem = Node(2, root)
    other, leaf = Node(7, stem), Node(3, stem)
    end = Node(5, Node(4, leaf), wanted)
    for nodes in ([root, stem], [other, leaf], end.path()[3:]):
        for node in nodes:
            entries.place(node)
        group.read({3: (entries, nodes)})
    read = end.log_probs
    Lines(way).read({3: (entries, [end])})
    return float(np.abs(read - end.log_probs).max())
