"""A causal language model that reads trees of tokens, some texts side by side.

Every pass has one shape: `texts` rows of `tokens` new tokens over `capacity` entries of
keys, with padding where there is less to read; and it runs on one thread. So the sums
of a row are made in the same way whatever stands in the other rows, and what a model
says of a text does not depend on the texts beside it (tests hold it to that).
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from dptext import causal_models, models
from dptext.readers.causal.entries import Entries, Node

SETTING = "decoder.model"
Untyped = Any  # of torch and of Hugging Face
# Log-probabilities of one text read in two ways may differ so much.
_SLACK = 0.02


class Shape(NamedTuple):
    """Rows of a pass, and the new tokens of each."""

    texts: int
    tokens: int


# On a processor, what is padded costs; on a GPU, passes cost.
_ON_CPU, _ON_GPU = Shape(8, 8), Shape(64, 8)


@cache
def tokenizer(path: str, digest: str) -> Untyped:
    """Load the tokenizer of a model, once for a digest."""
    return causal_models.tokenizer(path, SETTING)


@cache
def load(path: str, digest: str, device: str) -> Network:
    """Load a model, once for a digest."""
    return Network(causal_models.network(path, SETTING, device), device)


class Network:
    """A model on a device, and the shape in which it is asked.

    A model that cannot read trees reads line by line: right, and many times slower.
    """

    def __init__(self, model: Untyped, device: str, shape: Shape | None = None) -> None:
        self.model, self.device = model, device
        self.torch = models.package("torch", "causal-lm", "semantic")
        self.shape = shape or (_ON_CPU if device == "cpu" else _ON_GPU)
        self.by_trees = self._reads_trees()

    def group(self, capacity: int, wanted: int) -> Group | Lines:
        """Return room for some texts; wanted, the most tokens asked for at a node."""
        return Group(self, capacity, wanted) if self.by_trees else Lines(self)

    def _reads_trees(self) -> bool:
        """Tell whether branches of a tree are read as lines of tokens are.

        A model whose positions or states follow the order in the cache does not.
        """
        try:
            return self._difference() < _SLACK
        except Exception:  # whatever a model says to a mask that it does not know
            return False

    def _difference(self) -> float:
        """Return how much ln p differs between a branch and the same tokens alone."""
        wanted = np.arange(8)
        group, entries = Group(self, 16, len(wanted)), Entries(16)
        root = Node(1, None)
        stem = Node(2, root)
        other, leaf = Node(7, stem), Node(3, stem)
        end = Node(5, Node(4, leaf), wanted)
        for nodes in ([root, stem], [other, leaf], end.path()[3:]):
            for node in nodes:
                entries.place(node)
            group.read({0: (entries, nodes)})
        read = end.log_probs
        Lines(self).read({0: (entries, [end])})
        return float(np.abs(read - end.log_probs).max())


class Lines:
    """Reads each node with all before it, without a cache: one line at a time."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self.rows, self.tokens = network.shape

    def read(self, parts: dict[int, tuple[Entries, list[Node]]]) -> None:
        """Answer what new nodes want, as `Group.read` does."""
        torch, device = self._network.torch, self._network.device
        nodes = [node for _, new in parts.values() for node in new if len(node.wanted)]
        for node in nodes:
            line = [[each.token for each in node.path()]]
            with torch.inference_mode():
                line = torch.tensor(line, device=device)
                scores = self._network.model(input_ids=line).logits[0, -1].float()
                scores = scores.log_softmax(-1).cpu().numpy()
            node.log_probs = scores[node.wanted].astype(np.float64)


class Group:
    """The cache of some texts, and the passes over it."""

    def __init__(self, network: Network, capacity: int, wanted: int) -> None:
        self._network, self._capacity, self._wanted = network, capacity, wanted
        self.rows, self.tokens = network.shape
        self._keys = _cache_class()(self.rows, capacity)

    def read(self, parts: dict[int, tuple[Entries, list[Node]]]) -> None:
        """Read new nodes, placed in their entries, and answer what they want.

        parts: by row of the pass, a text's entries and at most `tokens` nodes, parents
        first.
        """
        torch, device = self._network.torch, self._network.device
        shape = (self.rows, self.tokens)
        ids, positions = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        places = np.full(shape, self._capacity - 1)
        attended = np.zeros((*shape, self._capacity), bool)
        attended[:, :, -1] = True
        wanted = np.zeros((*shape, self._wanted), np.int64)
        for row, (entries, nodes) in parts.items():
            for column, node in enumerate(nodes):
                ids[row, column] = node.token
                positions[row, column] = node.depth
                places[row, column] = node.entry
                attended[row, column] = entries.attended[node.entry]
                wanted[row, column, : len(node.wanted)] = node.wanted
        low = torch.finfo(torch.float32).min
        mask = torch.zeros((self.rows, 1, self.tokens, self._capacity), device=device)
        seen = torch.from_numpy(attended[:, None]).to(device)
        mask.masked_fill_(~seen, low)
        self._keys.places = torch.from_numpy(places).to(device)
        with torch.inference_mode():
            logits = self._network.model(
                input_ids=torch.from_numpy(ids).to(device),
                attention_mask=mask,
                position_ids=torch.from_numpy(positions).to(device),
                past_key_values=self._keys,
                use_cache=True,
            ).logits.float()
            asked = torch.from_numpy(wanted).to(device)
            scores = logits.gather(-1, asked) - logits.logsumexp(-1, keepdim=True)
        answers = scores.cpu().numpy().astype(np.float64)
        for row, (_, nodes) in parts.items():
            for column, node in enumerate(nodes):
                node.log_probs = answers[row, column, : len(node.wanted)]


@cache
def _cache_class() -> Untyped:
    """Return the class of a cache whose entries are written where they are told to."""
    dynamic: Untyped = models.package("transformers", "", "semantic").DynamicCache

    class Keys(dynamic):  # type: ignore[misc]
        """Keys and values of each layer: (rows, heads, capacity, d) each."""

        def __init__(self, rows: int, capacity: int) -> None:
            super().__init__()
            self._size = (rows, capacity)
            self._kept: dict[int, tuple[Untyped, Untyped]] = {}
            self.places: Untyped = None

        def update(
            self,
            keys: Untyped,
            values: Untyped,
            layer_idx: int,
            *_: Untyped,
            **__: Untyped,
        ) -> tuple[Untyped, Untyped]:
            if layer_idx not in self._kept:
                rows, capacity = self._size
                self._kept[layer_idx] = tuple(
                    new.new_zeros((rows, new.shape[1], capacity, new.shape[3]))
                    for new in (keys, values)
                )
            kept = self._kept[layer_idx]
            for old, new in zip(kept, (keys, values), strict=True):
                places = self.places[:, None, :, None].expand(new.shape)
                old.scatter_(2, places, new)
            return kept

        def get_seq_length(self, *_: Untyped, **__: Untyped) -> int:
            return 0

    return Keys
