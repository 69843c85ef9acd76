"""A causal language model that reads trees of tokens of several texts at once.

Every pass has one shape, with padding where there is less to read, and runs on one
thread. So the sums of a token are made in the same way whatever stands beside it, and
what a model says of a text does not depend on other texts (tests hold it to that).

A text's beams share what they have in common: each token is read once, at a free entry
of the text's part of the cache, and attends to the entries of its ancestors.

All but attention treats each token by itself, so tokens of many texts can stand in one
line without padding. Attention is done text by text, each with the keys of its own.
Only models that take their attention from Hugging Face's register can read so.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dptext import models
from dptext.models import Library, causal

_NAME = "dptext_packed"
# What attention may be told that is not done here.
_MORE = ("softcap", "position_bias", "s_aux", "head_mask")
# The line that each thread reads.
_thread = threading.local()


class TokenSpan(NamedTuple):
    """The tokens begin to end of a line: those of one text, whose keys lie in a row.

    seen (1, 1, end - begin, capacity) 0 for what each may attend to, else a large
    negative number.
    """

    begin: int
    end: int
    row: int
    seen: Library


class TokenLine(NamedTuple):
    """A line of tokens; what comes after its parts is padded."""

    parts: Sequence[TokenSpan]

    @contextmanager
    def read(self) -> Iterator[None]:
        """Have the passes of this thread meanwhile read this line."""
        _thread.line = self
        try:
            yield
        finally:
            _thread.line = None


def accept(model: Library) -> bool:
    """Have a model read packed lines; other passes of it stay as they were.

    False for one that brings attention of its own, which is left as it is.
    """
    try:
        _register()
        model.set_attn_implementation(_NAME)
    except (AttributeError, ValueError, ImportError):
        return False
    return bool(model.config._attn_implementation == _NAME)


@cache
def _register() -> None:
    package = models.package("transformers", "", "semantic")
    masks = models.package("transformers.masking_utils", "", "semantic")
    package.AttentionInterface.register(_NAME, _attention())
    package.AttentionMaskInterface.register(_NAME, masks.sdpa_mask)


def _attention() -> Library:
    """Return the attention of packed lines, and of other passes."""
    package = models.package("transformers", "", "semantic")
    usual = package.AttentionInterface().get_interface("sdpa", None)
    functional = models.package("torch.nn.functional", "", "semantic")

    def attend(
        module: Library,
        query: Library,
        key: Library,
        value: Library,
        mask: Library,
        *,
        scaling: float | None = None,
        **more: Library,
    ) -> tuple[Library, None]:
        """Attend; query (1, heads, slots, d), keys (rows, groups, capacity, d)."""
        line: TokenLine | None = getattr(_thread, "line", None)
        if line is None:
            attended: tuple[Library, None] = usual(
                module, query, key, value, mask, scaling=scaling, **more
            )
            return attended
        if any(more.get(name) is not None for name in _MORE):
            raise TypeError(type(module))
        heads, groups = query.shape[1], key.shape[1]
        answers = query.new_zeros((*query.shape[:3], value.shape[3]))
        for begin, end, row, seen in line.parts:
            # All heads that share a key stand beside each other.
            shape = (1, groups, heads // groups * (end - begin), -1)
            answer = functional.scaled_dot_product_attention(
                query[:, :, begin:end].reshape(shape),
                key[row : row + 1, :, : seen.shape[3]],
                value[row : row + 1, :, : seen.shape[3]],
                attn_mask=seen.repeat(1, 1, heads // groups, 1),
                scale=scaling,
            )
            answers[:, :, begin:end] = answer.view(1, heads, end - begin, -1)
        return answers.transpose(1, 2), None

    return attend


@dataclass(eq=False, slots=True)
class TokenNode:
    """A token after those of its ancestors.

    wanted (w,) the tokens whose ln p right after it is asked for; log_probs (w,)
    float64, the answer; entry, -1 before it is read.
    """

    token: int
    parent: TokenNode | None
    wanted: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    log_probs: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    entry: int = -1
    depth: int = 0

    def __post_init__(self) -> None:
        self.depth = 0 if self.parent is None else self.parent.depth + 1

    def path(self) -> list[TokenNode]:
        """Return the node and its ancestors, the first token first."""
        nodes: list[TokenNode] = []
        node: TokenNode | None = self
        while node is not None:
            nodes.append(node)
            node = node.parent
        return nodes[::-1]


class CacheEntries:
    """The entries of one text; the last one is nobody's: padding is written there."""

    def __init__(self, capacity: int) -> None:
        self.trash = capacity - 1
        self.attended = np.zeros((capacity, capacity), bool)
        self._free = list(range(self.trash))

    def place(self, node: TokenNode) -> None:
        """Give a node the first free entry; its parent has one."""
        entry = self._free.pop(0)
        before = None if node.parent is None else self.attended[node.parent.entry]
        self.attended[entry] = False if before is None else before
        self.attended[entry, entry] = True
        node.entry = entry

    def keep(self, leaves: Iterable[TokenNode]) -> None:
        """Free all entries but those of nodes and of their ancestors."""
        kept = np.zeros(len(self.attended), bool)
        for leaf in leaves:
            node: TokenNode | None = leaf
            while node is not None and node.entry < 0:
                node = node.parent
            if node is not None:
                kept |= self.attended[node.entry]
        kept[self.trash] = True
        self._free = np.flatnonzero(~kept).tolist()


def unread(leaves: Iterable[TokenNode]) -> list[TokenNode]:
    """Return the nodes that have no entry yet, each after its parent."""
    nodes: dict[TokenNode, None] = {}
    for leaf in leaves:
        nodes.update((node, None) for node in leaf.path() if node.entry < 0)
    return list(nodes)


def room(nodes: Iterable[TokenNode]) -> int:
    """Return how many entries nodes take together with their ancestors."""
    counted: set[TokenNode] = set()
    for node in nodes:
        at: TokenNode | None = node
        while at is not None and at not in counted:
            counted.add(at)
            at = at.parent
    return len(counted)


# What a pass reads: by row the entries of a text and its new nodes, parents first.
Parts = dict[int, tuple[CacheEntries, list[TokenNode]]]


class PassShape(NamedTuple):
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
    shape: PassShape
    packed: bool


class CachedTexts:
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

    def _line(self, parts: Parts) -> TokenLine:
        """Return the parts of a line, one text after the other."""
        line, begin = [], 0
        for row, (entries, nodes) in parts.items():
            end = begin + len(nodes)
            seen = self._mask(entries.attended[[node.entry for node in nodes]])
            line.append(TokenSpan(begin, end, row, seen[None, None]))
            begin = end
        return TokenLine(line)

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

    class TokenKeys(dynamic):  # type: ignore[misc]
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

    return TokenKeys


SETTING = "decoder.model"
# Log-probabilities of one text read in two ways may differ so much.
_SLACK = 0.02
# On a processor, what is padded costs; on a GPU, each call does.
_PACKED, _APART, _ON_GPU = (
    PassShape(24, 8, 64),
    PassShape(8, 8, 64),
    PassShape(64, 8, 512),
)


@cache
def tokenizer(path: str, digest: str) -> Library:
    """Load the tokenizer of a model, once for a digest."""
    return causal.load_tokenizer(path, SETTING)


@cache
def load(path: str, digest: str, device: str) -> Network:
    """Load a model, once for a digest."""
    return Network(causal.load_network(path, SETTING, device), device)


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

    def group(self, capacity: int, wanted: int) -> CachedTexts | Lines:
        """Return room for some texts; wanted, the most tokens asked for at a node."""
        return (
            CachedTexts(self.way, capacity, wanted)
            if self.by_trees
            else Lines(self.way)
        )


def _ways(model: Library, device: str) -> Iterator[Way]:
    """Yield the ways to ask a model, the fastest first."""
    on_cpu = device == "cpu"
    if on_cpu and accept(model):
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
    group, entries = CachedTexts(way, 16, len(wanted)), CacheEntries(16)
    root = TokenNode(1, None)
    stem = TokenNode(2, root)
    other, leaf = TokenNode(7, stem), TokenNode(3, stem)
    end = TokenNode(5, TokenNode(4, leaf), wanted)
    for nodes in ([root, stem], [other, leaf], end.path()[3:]):
        for node in nodes:
            entries.place(node)
        group.read({3: (entries, nodes)})
    read = end.log_probs
    Lines(way).read({3: (entries, [end])})
    return float(np.abs(read - end.log_probs).max())
