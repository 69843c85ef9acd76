"""Passes of a model over the trees of some texts, with one cache of their keys."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dptext import models
from dptext.models import Library
from dptext.readers.causal import packing
from dptext.readers.causal.entries import Entries, Node

# What a pass reads: by row the entries of a text and its new nodes, parents first.
Parts = dict[int, tuple[Entries, list[Node]]]


class Shape(NamedTuple):
    """Texts of a pass, the new tokens of each at most, and those of all texts."""

    texts: int
    tokens: int
    slots: int


@dataclass(frozen=True, slots=True)
class Way:
    """How a model on a device is asked; packed: tokens of all texts in one line.

    Otherwise each text has slots of its own: slots = texts * tokens.
    """

    model: Library
    device: str
    shape: Shape
    packed: bool


class Group:
    """The cache of some texts, and the passes over it."""

    def __init__(self, way: Way, capacity: int, wanted: int) -> None:
        """capacity, entries of a text at most; wanted, tokens asked for at most."""
        self._way, self._wanted = way, wanted
        self._torch = models.package("torch", "causal-lm", "semantic")
        self.shape = way.shape
        self._keys = _cache_class()(self.shape.texts, capacity)

    def read(self, parts: Parts) -> None:
        """Read new nodes, placed in their entries, and answer what they want.

        At most `tokens` nodes of a text and `slots` in all.
        """
        torch, way = self._torch, self._way
        texts, tokens, slots = self.shape
        nodes = [node for _, new in parts.values() for node in new]
        rows = np.repeat([*parts], [len(new) for _, new in parts.values()])
        used = np.arange(len(nodes)) if way.packed else _apart(parts, tokens)
        ids, positions = np.zeros((2, slots), np.int64)
        wanted = np.zeros((slots, self._wanted), np.int64)
        for slot, node in zip(used.tolist(), nodes, strict=True):
            ids[slot], positions[slot] = node.token, node.depth
            wanted[slot, : len(node.wanted)] = node.wanted
        entries = np.array([node.entry for node in nodes])
        self._keys.written = [self._on_device(each) for each in (used, rows, entries)]
        shape = (1, slots) if way.packed else (texts, tokens)
        line = self._line(parts) if way.packed else None
        # What is packed has a mask of its own for each text.
        mask = torch.zeros((1, 1, 1, 1)) if line else self._masks(parts)
        with torch.inference_mode(), line.read() if line else nullcontext():
            logits = way.model(
                input_ids=self._on_device(ids).view(shape),
                attention_mask=mask.to(way.device),
                position_ids=self._on_device(positions).view(shape),
                past_key_values=self._keys,
                use_cache=True,
            ).logits.float()
            logits = logits.view(slots, -1)
            asked = logits.gather(-1, self._on_device(wanted))
            scores = asked - logits.logsumexp(-1, keepdim=True)
        answers = scores.cpu().numpy().astype(np.float64)[used]
        for node, answer in zip(nodes, answers, strict=True):
            node.log_probs = answer[: len(node.wanted)]

    def _line(self, parts: Parts) -> packing.Line:
        """Return the parts of a line, one text after the other."""
        line, begin = [], 0
        for row, (entries, nodes) in parts.items():
            end = begin + len(nodes)
            seen = self._mask(entries.attended[[node.entry for node in nodes]])
            line.append(packing.Part(begin, end, row, seen[None, None]))
            begin = end
        return packing.Line(line)

    def _masks(self, parts: Parts) -> Library:
        """Return what each slot attends to: (texts, 1, tokens, capacity)."""
        capacity = max(len(entries.attended) for entries, _ in parts.values())
        seen = np.zeros((*self.shape[:2], capacity), bool)
        # What is padded attends to the last entry, which is nobody's.
        seen[:, :, -1] = True
        for row, (entries, nodes) in parts.items():
            seen[row, : len(nodes)] = entries.attended[[node.entry for node in nodes]]
        return self._mask(seen)[:, None]

    def _mask(self, seen: NDArray[np.bool_]) -> Library:
        """Return 0 for what is seen, else a large negative number."""
        lowest = self._torch.finfo(self._torch.float32).min
        return self._on_device(np.where(seen, np.float32(0.0), np.float32(lowest)))

    def _on_device(self, array: NDArray[np.generic]) -> Library:
        return self._torch.from_numpy(array).to(self._way.device)


def _apart(parts: Parts, tokens: int) -> NDArray[np.int64]:
    """Return the slots of nodes where each row has its own: (m,)."""
    slots = [np.arange(len(nodes)) + row * tokens for row, (_, nodes) in parts.items()]
    return np.concatenate(slots)


class Lines:
    """Reads each node with all before it, without a cache: one line at a time."""

    def __init__(self, way: Way) -> None:
        self._way, self.shape = way, way.shape

    def read(self, parts: Parts) -> None:
        """Answer what new nodes want, as `Group.read` does."""
        torch = models.package("torch", "causal-lm", "semantic")
        nodes = [node for _, new in parts.values() for node in new if len(node.wanted)]
        for node in nodes:
            line = [[each.token for each in node.path()]]
            with torch.inference_mode():
                line = torch.tensor(line, device=self._way.device)
                scores = self._way.model(input_ids=line).logits[0, -1].float()
                scores = scores.log_softmax(-1).cpu().numpy()
            node.log_probs = scores[node.wanted].astype(np.float64)


@cache
def _cache_class() -> Library:
    """Return the class of a cache whose entries are written where they are told to."""
    dynamic: Library = models.package("transformers", "", "semantic").DynamicCache

    class Keys(dynamic):  # type: ignore[misc]
        """Keys and values of each layer: (rows, heads, capacity, d) each.

        written: which slots of a pass go to which rows and entries, (m,) each.
        """

        def __init__(self, rows: int, capacity: int) -> None:
            super().__init__()
            self._size = (rows, capacity)
            self._kept: dict[int, tuple[Library, Library]] = {}
            self.written: list[Library] = []

        def update(
            self,
            keys: Library,
            values: Library,
            layer_idx: int,
            *_: Library,
            **__: Library,
        ) -> tuple[Library, Library]:
            if layer_idx not in self._kept:
                rows, capacity = self._size
                self._kept[layer_idx] = tuple(
                    new.new_zeros((rows, new.shape[1], capacity, new.shape[3]))
                    for new in (keys, values)
                )
            kept = self._kept[layer_idx]
            slots, rows, entries = self.written
            for old, new in zip(kept, (keys, values), strict=True):
                old[rows, :, entries] = new.transpose(1, 2).flatten(0, 1)[slots]
            return kept

        def get_seq_length(self, *_: Library, **__: Library) -> int:
            return 0

    return Keys
