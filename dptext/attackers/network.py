"""Runs a causal language model over the branches of searches, in batches.

Each token is read once, since the transformer's cache keeps the results of earlier
ones. Some texts are read together, a few tokens of each line at a time, because a pass
costs almost the same for few lines as for many. The place of a token in the cache
depends on its text alone, so that results do not depend on the other texts (tests check
it). If a model rounds otherwise with several texts, texts are read one by one.
"""

from __future__ import annotations

import inspect
from collections.abc import Generator, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from dptext import models
from dptext.models import Library
from dptext.types import Floats, Ints, Mask

Tokens = tuple[int, ...]
T = TypeVar("T")

# Columns of the cache; when it is full, the last _KEPT tokens of each line are read
# again.
_COLUMNS, _KEPT = 512, 128
# Texts that are read together.
_TOGETHER = 4
# Tokens of a line in one pass.
_TOKENS = 2
# The number of lines of a pass is a multiple of this: with other numbers libraries sum
# in other orders.
_LINES = 4
# Largest difference of the log-probabilities of a line that is read in two ways.
_SLACK = 0.02


class KnownTokens(NamedTuple):
    """Tokens in a text."""

    tokens: Tokens
    #: Whether their ln p counts for the score.
    counts: bool = True


class Branches(NamedTuple):
    """The next k branches of a text: copies of its branches, with new tokens."""

    #: (k,) the number of the line that is copied.
    parents: Sequence[int]
    #: (k,) the new tokens.
    added: Sequence[Sequence[KnownTokens]]
    #: (c,) candidates for the next token.
    wanted: Ints


# The search of a text begins with one empty line. It yields branches, and receives for
# each line the sum of ln p of the added tokens that count, without the first one (k,),
# and ln p of each wanted token as the next one (k, c).
Search = Generator[Branches, tuple[Floats, Floats], T]


class Network:
    """A model, and the batching modes that give correct results with it."""

    #: Whether the cache of keys and values works. If not (Mamba), the last tokens of
    #: each line are read again at every step.
    is_cached: bool
    #: Number of texts that are read at once.
    together: int

    def __init__(self, model: Library) -> None:
        # Both are tried with the network itself.
        self.model, self.is_cached, self.together = model, True, 1
        self.accepts = frozenset(inspect.signature(model.forward).parameters)
        self.is_cached = self._reads_branches()
        if self.is_cached:
            (alone,) = self.read([_trial()])
            self.together = _TOGETHER
            trials = self.read([_trial() for _ in range(_TOGETHER)])
            if not all(np.array_equal(each, alone) for each in trials):
                self.together = 1

    def _reads_branches(self) -> bool:
        """Return whether reading a branch in parts gives the same probabilities."""
        torch = models.package("torch", "causal-lm", "semantic")
        try:
            (branch,) = self.read([_trial()])
        except Exception:  # a model may raise any error at an unknown kind of cache
            return False
        tokens = torch.tensor([[1, 2, 3, 4, 5]], device=self.model.device)
        with torch.inference_mode():
            logits = self.model(input_ids=tokens).logits[0, -1].float()
            at_once = logits.log_softmax(-1).cpu().numpy()[: len(branch)]
        return bool(np.abs(branch - at_once).max() < _SLACK)

    def read(self, searches: Sequence[Search[T]]) -> list[T]:
        """Return the result of each search; sort them so that neighbours are similar.

        Texts that are read together take as long as the longest of them.
        """
        together = self.together
        begins = range(0, len(searches), together)
        groups = [searches[begin : begin + together] for begin in begins]
        results = models.on_one_thread(lambda each: _Lines(self).read(each), groups)
        return [result for group in results for result in group]


def _trial() -> Search[Floats]:
    """Search a short synthetic text whose branches multiply and end."""
    wanted = np.arange(8)
    yield Branches([0], [[KnownTokens((1, 2))]], wanted)
    yield Branches([0, 0], [[KnownTokens((7,))], [KnownTokens((3, 4))]], wanted)
    _, (after,) = yield Branches([1], [[KnownTokens((5,))]], wanted)
    return np.asarray(after)


class _Line:
    """The tokens of one branch of a text's search."""

    tokens: Tokens
    #: Number of tokens that were read.
    read: int
    #: Number of the first new token.
    added: int
    #: Whether ln p of each new token counts and was not added yet.
    counts: list[bool]
    #: Number of tokens that must be read.
    end: int

    def __init__(
        self,
        parent: _Line | None = None,
        known: Sequence[KnownTokens] = (),
        spare: int = 0,
    ) -> None:
        before: Tokens = parent.tokens if parent else ()
        self.tokens = sum((each.tokens for each in known), before)
        self.read = parent.read if parent else 0
        self.added = len(before)
        self.counts = [each.counts for each in known for _ in each.tokens]
        self.end = len(self.tokens) - spare

    def count_once(self, token: int) -> bool:
        """Return whether ln p of a token is needed but not computed yet; mark it."""
        at = token - self.added
        if not 0 < at < len(self.counts) or not self.counts[at]:
            return False
        self.counts[at] = False
        return True

    def shorten(self) -> None:
        """Keep only the first token and the most recent ones."""
        before = self.tokens[: self.read]
        kept = (*before[:1], *before[1:][-_KEPT:])
        self.tokens = (*kept, *self.tokens[self.read :])
        self.added -= self.read - len(kept)
        self.end -= self.read - len(kept)
        self.read = 0


class _Text:
    """A text: its search, its pending branches, and their probabilities."""

    def __init__(self, search: Search[Any]) -> None:
        self._search, self.lines = search, [_Line()]
        self.sums = self.after = np.empty(0)
        self.wanted = np.empty(0, np.int64)
        self.result: Any = None

    def advance(self) -> list[int]:
        """Run the search until it waits for the model; return each branch's parent."""
        numbers = [*range(len(self.lines))]
        while all(line.read == line.end for line in self.lines):
            # A generator that begins receives None.
            answer: Any = (self.sums, self.after) if len(self.sums) else None
            try:
                branches = self._search.send(answer)
            except StopIteration as end:
                self.result, self.lines = end.value, []
                return []
            numbers = [numbers[parent] for parent in branches.parents]
            # Nothing depends on the last token if no next one is wanted.
            spare = int(not len(branches.wanted))
            self.lines = [
                _Line(self.lines[parent], known, spare)
                for parent, known in zip(branches.parents, branches.added, strict=True)
            ]
            self.wanted, self.sums = branches.wanted, np.zeros(len(self.lines))
            self.after = np.zeros((len(self.lines), len(self.wanted)))
        return numbers

    def receive(self, read: Ints, sums: Floats, after: Floats) -> None:
        """Store a pass's results: for each line tokens read, ln p, next tokens."""
        self.sums += sums
        for number, line in enumerate(self.lines):
            line.read += int(read[number])
            if read[number] and line.read == line.end:
                self.after[number] = after[number]


class _Lines:
    """The branches of several texts in one cache, one per row."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._torch = models.package("torch", "causal-lm", "semantic")
        self._cache: Library = None
        # Columns of the cache that hold tokens of each line, not padding.
        self._mask = np.empty((0, 0), bool)

    def read(self, searches: Sequence[Search[T]]) -> list[T]:
        texts = [_Text(search) for search in searches]
        self._mask = np.empty((len(texts), 0), bool)
        waiting = texts
        while waiting:
            rows, begin = [], 0
            for text in waiting:
                end = begin + len(text.lines)
                rows += [begin + number for number in text.advance()]
                begin = end
            waiting = [text for text in waiting if text.lines]
            if waiting:
                self._pass(rows, waiting)
        return [text.result for text in texts]

    def _pass(self, rows: list[int], texts: list[_Text]) -> None:
        """Read the next tokens of each branch, copying cache rows from its parent."""
        lines = [line for text in texts for line in text.lines]
        spare = -len(lines) % _LINES
        rows += rows[-1:] * spare
        self._mask = self._mask[rows]
        most = columns = _TOKENS
        if self._cache is None or self._mask.shape[1] + most > _COLUMNS:
            library = models.package("transformers", "causal-lm", "semantic")
            self._cache = library.DynamicCache() if self._network.is_cached else None
            self._mask = self._mask[:, :0]
            for line in lines:
                line.shorten()
            # Libraries drop a mask without padding, and then sum in another order.
            columns = most + 1
        else:
            self._cache.batch_select_indices(self._on_device(np.array(rows)))
        lines += lines[-1:] * spare
        if not self._network.is_cached:
            most = columns = max(line.end for line in lines)
        ids, following = np.zeros((2, len(lines), columns), np.int64)
        read, counts = np.zeros((2, len(lines), columns), bool)
        # Lines end together; padding before them is masked.
        for row, line in enumerate(lines):
            end = min(line.end, line.read + most)
            for column, token in enumerate(range(line.read, end), line.read - end):
                ids[row, column], read[row, column] = line.tokens[token], True
                if line.count_once(token + 1):
                    following[row, column] = line.tokens[token + 1]
                    counts[row, column] = True
        with self._torch.inference_mode():
            logs = self._logits(ids, read).float().log_softmax(-1)
            inside = logs.gather(-1, self._on_device(following)[..., None])[..., 0]
            sums = np.where(counts, inside.cpu().numpy().astype(np.float64), 0.0)
            begin = 0
            for text in texts:
                end = begin + len(text.lines)
                after = logs[begin:end, -1][:, self._on_device(text.wanted)]
                text.receive(
                    read[begin:end].sum(axis=1),
                    sums[begin:end].sum(axis=1),
                    after.cpu().numpy(),
                )
                begin = end

    def _logits(self, ids: Ints, read: Mask) -> Library:
        """Run the model on tokens (k, count), masked by `read`; return the logits."""
        network, count = self._network, ids.shape[1]
        before = self._mask.sum(axis=1, keepdims=True)
        positions = np.maximum(before + read.cumsum(axis=1) - 1, 0)
        self._mask = np.concatenate([self._mask, read], axis=1)
        options = {
            "position_ids": self._on_device(positions),
            "cache": self._cache,
            "past_key_values": self._cache,  # its name before transformers 5.24
            "logits_to_keep": count,
        }
        logits = network.model(
            input_ids=self._on_device(ids),
            attention_mask=self._on_device(self._mask.astype(np.int64)),
            use_cache=network.is_cached,
            **{name: options[name] for name in network.accepts & options.keys()},
        ).logits
        return logits[:, -count:]

    def _on_device(self, array: NDArray[np.generic]) -> Library:
        return self._torch.from_numpy(array).to(self._network.model.device)
