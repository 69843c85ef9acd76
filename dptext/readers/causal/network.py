"""A causal language model reads lines of tokens that grow and branch.

Each token is read once: the cache of transformers keeps what follows from earlier ones.
A text is read by itself, on one thread, so what the model says of it does not depend on
other texts (tests hold it to that).
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from dptext import models
from dptext.models import Library, language

SETTING = "decoder.model"
# Entries of the cache at most; then the last tokens of each line are read again.
_MOST, _KEPT = 512, 128
# Log-probabilities of a line that is read in two ways may differ so much.
_SLACK = 0.02

Tokens = tuple[int, ...]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Known:
    """Tokens that stand in a text; whether their ln p counts."""

    tokens: Tokens
    counts: bool = True


@cache
def tokenizer(path: str, digest: str) -> Library:
    """Load the tokenizer of a model, once for a digest."""
    return language.load_tokenizer(path, SETTING, language.CAUSAL)


@cache
def load(path: str, digest: str, device: str) -> Network:
    """Load a model, once for a digest."""
    return Network(language.load_network(path, SETTING, device, language.CAUSAL))


class Network:
    """A model; cached, whether it reads right with a cache of keys and values.

    One that does not (Mamba) reads the last tokens of each line again at every step.
    """

    def __init__(self, model: Library) -> None:
        self.model, self.cached = model, True
        self.accepts = frozenset(inspect.signature(model.forward).parameters)
        self.cached = self._reads_branches()

    def _reads_branches(self) -> bool:
        """Tell whether a branch is read in parts as its tokens are read at once."""
        torch = models.package("torch", "causal-lm", "semantic")
        wanted, lines = np.arange(8), Lines(self, (1, 2))
        try:
            lines.follow([0, 0], [[Known((7,))], [Known((3, 4))]], wanted)
            _, (branch,) = lines.follow([1], [[Known((5,))]], wanted)
        except Exception:  # a model may raise anything at a cache that it does not know
            return False
        tokens = torch.tensor([[1, 2, 3, 4, 5]], device=self.model.device)
        with torch.inference_mode():
            logits = self.model(input_ids=tokens).logits[0, -1].float()
            at_once = logits.log_softmax(-1).cpu().numpy()[wanted]
        return bool(np.abs(branch - at_once).max() < _SLACK)


class Lines:
    """Lines of tokens of one text; the first one has the tokens `start`."""

    def __init__(self, network: Network, start: Tokens) -> None:
        self._network, self._lines = network, [start]
        self._torch = models.package("torch", "causal-lm", "semantic")
        self._cache: Library = None
        # Which entries of the cache are tokens of each line, and no padding.
        self._mask = np.empty((1, 0), bool)

    def follow(
        self,
        parents: Sequence[int],
        added: Sequence[Sequence[Known]],
        wanted: NDArray[np.int64],
    ) -> tuple[Floats, Floats]:
        """Replace the lines by k copies of `parents`, each with what is added to it.

        Return ln p of the added tokens that count, without the first one, in all (k,),
        and of each wanted token (c,) as the next one: (k, c).
        """
        tokens = [
            [token for known in parts for token in known.tokens] for parts in added
        ]
        self._lines = [
            (*self._lines[parent], *new)
            for parent, new in zip(parents, tokens, strict=True)
        ]
        longest = max(1, *map(len, tokens))
        if longest == 1 and not len(wanted):
            return np.zeros(len(added)), np.empty((len(added), 0))
        counts = np.zeros((len(added), longest), bool)
        for row, parts in zip(counts, added, strict=True):
            counting = [known.counts for known in parts for _ in known.tokens][1:]
            row[longest - len(counting) :] = counting
        torch = self._torch
        with torch.inference_mode():
            ids, logits = self._logits(parents, tokens, longest)
            logs = logits.float().log_softmax(-1)
            inside = logs[:, :-1].gather(-1, ids[:, 1:, None])[..., 0]
            after = logs[:, -1, self._on_device(wanted)]
        inside, after = (
            each.cpu().numpy().astype(np.float64) for each in (inside, after)
        )
        return np.where(counts[:, 1:], inside, 0.0).sum(axis=1), after

    def _logits(
        self, parents: Sequence[int], tokens: list[list[int]], longest: int
    ) -> tuple[Library, Library]:
        """Return the last tokens of lines (k, longest), and the logits after each."""
        network, read = self._network, tokens
        self._mask = self._mask[[*parents]]
        if self._cache is None or self._mask.shape[1] + longest > _MOST:
            most = max(longest, _KEPT)
            read = [[*line[:1], *line[1:][-most:]] for line in self._lines]
            self._mask, self._cache = self._mask[:, :0], _new_cache(network.cached)
        else:
            self._cache.batch_select_indices(self._on_device(np.array(parents)))
        lengths = np.array([*map(len, read)])[:, None]
        # Lines end together; padding before them is masked.
        columns = np.arange(lengths.max()) - (lengths.max() - lengths)
        ids = np.zeros(columns.shape, np.int64)
        ids[columns >= 0] = [token for line in read for token in line]
        positions = np.maximum(self._mask.sum(axis=1, keepdims=True) + columns, 0)
        self._mask = np.concatenate([self._mask, columns >= 0], axis=1)
        options = {
            "position_ids": self._on_device(positions),
            "cache": self._cache,
            "past_key_values": self._cache,  # its name before transformers 5.24
            "logits_to_keep": longest,
        }
        logits = network.model(
            input_ids=self._on_device(ids),
            attention_mask=self._on_device(self._mask.astype(np.int64)),
            use_cache=network.cached,
            **{name: options[name] for name in network.accepts & options.keys()},
        ).logits
        return self._on_device(ids[:, -longest:]), logits[:, -longest:]

    def _on_device(self, array: NDArray[np.generic]) -> Library:
        return self._torch.from_numpy(array).to(self._network.model.device)


def _new_cache(cached: bool) -> Library:
    transformers = models.package("transformers", "causal-lm", "semantic")
    return transformers.DynamicCache() if cached else None
