"""A causal language model reads lines of tokens that grow and branch.

Each token is read once: the cache of transformers keeps what follows from earlier ones.
Some texts are read together, a few tokens of each line at a time, because a pass costs
almost as much for few lines as for many. Where the tokens of a text lie in the cache
depends on that text alone, so what the model says of it does not depend on the others
(tests hold it to that); a model that rounds otherwise in company reads text by text.
"""

from __future__ import annotations

import inspect
from collections.abc import Generator, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from dptext import models
from dptext.models import Library, language

SETTING = "decoder.model"
# Columns of the cache at most; then the last tokens of each line are read again.
_MOST, _KEPT = 512, 128
# Texts that are read together, and tokens of a line in a pass.
_TOGETHER, _AT_ONCE = 4, 2
# Lines of a pass, or a multiple: the sums of other rows are made in another order.
_LINES = 4
# Log-probabilities of a line that is read in two ways may differ so much.
_SLACK = 0.02

Tokens = tuple[int, ...]
Floats = NDArray[np.float64]
T = TypeVar("T")


class Known(NamedTuple):
    """Tokens that stand in a text; whether their ln p counts."""

    tokens: Tokens
    counts: bool = True


class Branches(NamedTuple):
    """The next lines of a text: k copies of `parents`, each with its own new tokens.

    wanted (c,), tokens of which one may come next.
    """

    parents: Sequence[int]
    added: Sequence[Sequence[Known]]
    wanted: NDArray[np.int64]


# The search of a text begins with one empty line. It yields branches, and is sent ln p
# of the added tokens that count, without the first one, in all (k,), and of each wanted
# token as the next one: (k, c).
Search = Generator[Branches, tuple[Floats, Floats], T]


class CausalModel(NamedTuple):
    """Where a model is: its path, the digest of its content, the device it runs on."""

    path: str
    digest: str
    device: str = "cpu"


@cache
def load(model: CausalModel) -> Network:
    """Load a model, once for a digest."""
    path, _, device = model
    return Network(language.load_network(path, SETTING, device, language.CAUSAL))


class Network:
    """A model; cached, whether it reads right with a cache of keys and values.

    One that does not (Mamba) reads the last tokens of each line again at every step.
    together, how many texts it reads at once.
    """

    def __init__(self, model: Library) -> None:
        self.model, self.cached, self.together = model, True, 1
        self.accepts = frozenset(inspect.signature(model.forward).parameters)
        self.cached = self._reads_branches()
        if self.cached:
            (alone,) = self.read([_trial()])
            self.together = _TOGETHER
            trials = self.read([_trial() for _ in range(_TOGETHER)])
            if not all(np.array_equal(each, alone) for each in trials):
                self.together = 1

    def _reads_branches(self) -> bool:
        """Tell whether a branch is read in parts as its tokens are read at once."""
        torch = models.package("torch", "causal-lm", "semantic")
        try:
            (branch,) = self.read([_trial()])
        except Exception:  # a model may raise anything at a cache that it does not know
            return False
        tokens = torch.tensor([[1, 2, 3, 4, 5]], device=self.model.device)
        with torch.inference_mode():
            logits = self.model(input_ids=tokens).logits[0, -1].float()
            at_once = logits.log_softmax(-1).cpu().numpy()[: len(branch)]
        return bool(np.abs(branch - at_once).max() < _SLACK)

    def read(self, searches: Sequence[Search[T]]) -> list[T]:
        """Return what each search finds; similar ones should stand side by side."""
        groups = [
            searches[begin : begin + self.together]
            for begin in range(0, len(searches), self.together)
        ]
        results = models.on_one_thread(lambda each: _Lines(self).read(each), groups)
        return [result for group in results for result in group]


def _trial() -> Search[Floats]:
    wanted = np.arange(8)
    yield Branches([0], [[Known((1, 2))]], wanted)
    yield Branches([0, 0], [[Known((7,))], [Known((3, 4))]], wanted)
    _, (after,) = yield Branches([1], [[Known((5,))]], wanted)
    return np.asarray(after)


class _Line:
    """Tokens of a text, of which `read` are read and those from `added` on are new.

    counts, whether ln p of each new token counts; end, how many are to be read.
    """

    def __init__(
        self, parent: _Line | None = None, known: Sequence[Known] = (), spare: int = 0
    ) -> None:
        before: Tokens = parent.tokens if parent else ()
        self.tokens: Tokens = (
            *before,
            *(token for each in known for token in each.tokens),
        )
        self.read: int = parent.read if parent else 0
        self.added = len(before)
        self.counts = [each.counts for each in known for _ in each.tokens]
        self.end = len(self.tokens) - spare

    def takes(self, token: int) -> bool:
        """Tell whether ln p of a token, by its number in the line, counts: once."""
        at = token - self.added
        if not 0 < at < len(self.counts) or not self.counts[at]:
            return False
        self.counts[at] = False
        return True

    def shorten(self) -> None:
        """Begin anew with the first token and the last ones of those that are read."""
        before = self.tokens[: self.read]
        kept = (*before[:1], *before[1:][-_KEPT:])
        self.tokens = (*kept, *self.tokens[self.read :])
        self.added -= self.read - len(kept)
        self.end -= self.read - len(kept)
        self.read = 0


class _Text:
    """A text on its way: its search, the lines that it waits for, what it is sent."""

    def __init__(self, search: Search[Any]) -> None:
        self._search, self.lines = search, [_Line()]
        self.sums = self.after = np.empty(0)
        self.wanted = np.empty(0, np.int64)
        self.result: Any = None

    def go_on(self) -> list[int]:
        """Continue the search as far as it can; return the old number of each line."""
        numbers = [*range(len(self.lines))]
        while all(line.read == line.end for line in self.lines):
            # A search that begins is sent nothing.
            answer: Any = (self.sums, self.after) if len(self.sums) else None
            try:
                branches = self._search.send(answer)
            except StopIteration as end:
                self.result, self.lines = end.value, []
                return []
            numbers = [numbers[parent] for parent in branches.parents]
            # Where nothing comes next, the last token need not be read.
            spare = int(not len(branches.wanted))
            self.lines = [
                _Line(self.lines[parent], known, spare)
                for parent, known in zip(branches.parents, branches.added, strict=True)
            ]
            self.wanted, self.sums = branches.wanted, np.zeros(len(self.lines))
            self.after = np.zeros((len(self.lines), len(self.wanted)))
        return numbers

    def hear(self, read: NDArray[np.int64], sums: Floats, after: Floats) -> None:
        """Take how many tokens of each line were read, and what comes of them."""
        self.sums += sums
        for number, line in enumerate(self.lines):
            line.read += int(read[number])
            if read[number] and line.read == line.end:
                self.after[number] = after[number]


class _Lines:
    """The lines of some texts in one cache, row by row."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._torch = models.package("torch", "causal-lm", "semantic")
        self._cache: Library = None
        # Which columns of the cache are tokens of each line, and no padding.
        self._mask = np.empty((0, 0), bool)

    def read(self, searches: Sequence[Search[T]]) -> list[T]:
        """Return what each search finds."""
        texts = [_Text(search) for search in searches]
        self._mask = np.empty((len(texts), 0), bool)
        waiting = texts
        while waiting:
            rows, begin = [], 0
            for text in waiting:
                end = begin + len(text.lines)
                rows += [begin + number for number in text.go_on()]
                begin = end
            waiting = [text for text in waiting if text.lines]
            if waiting:
                self._pass(rows, waiting)
        return [text.result for text in texts]

    def _pass(self, rows: list[int], texts: list[_Text]) -> None:
        """Read the next tokens of each line; rows, where its parent lies."""
        lines = [line for text in texts for line in text.lines]
        spare = -len(lines) % _LINES
        rows += rows[-1:] * spare
        self._mask = self._mask[rows]
        most = columns = _AT_ONCE
        if self._cache is None or self._mask.shape[1] + most > _MOST:
            library = models.package("transformers", "causal-lm", "semantic")
            self._cache = library.DynamicCache() if self._network.cached else None
            self._mask = self._mask[:, :0]
            for line in lines:
                line.shorten()
            # A mask without any padding would be left out, and sums made otherwise.
            columns = most + 1
        else:
            self._cache.batch_select_indices(self._on_device(np.array(rows)))
        lines += lines[-1:] * spare
        if not self._network.cached:
            most = columns = max(line.end for line in lines)
        ids, following = np.zeros((2, len(lines), columns), np.int64)
        read, counts = np.zeros((2, len(lines), columns), bool)
        # Lines end together; padding before them is masked.
        for row, line in enumerate(lines):
            end = min(line.end, line.read + most)
            for column, token in enumerate(range(line.read, end), line.read - end):
                ids[row, column], read[row, column] = line.tokens[token], True
                if line.takes(token + 1):
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
                text.hear(
                    read[begin:end].sum(axis=1),
                    sums[begin:end].sum(axis=1),
                    after.cpu().numpy(),
                )
                begin = end

    def _logits(self, ids: NDArray[np.int64], read: NDArray[np.bool_]) -> Library:
        """Read tokens, no padding (k, count) where read; return the logits after."""
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
            use_cache=network.cached,
            **{name: options[name] for name in network.accepts & options.keys()},
        ).logits
        return logits[:, -count:]

    def _on_device(self, array: NDArray[np.generic]) -> Library:
        return self._torch.from_numpy(array).to(self._network.model.device)
