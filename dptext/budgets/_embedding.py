"""Texts and words as vectors: by a sentence model, or by the lexicon's own vectors.

A sentence model gets what it compares of one text in blocks of their own, and each
distinct word alone; a block is computed on one thread. So a value follows from its own
text, to the last bit on one machine with the same packages, whatever stands beside it
in a batch and however many processors there are. Other machines round sums another way:
values are rounded to GRID, so that nearly all of them are the same there too.

Texts are read in parts of at most `window` words to be scored (dptext.budgets._spans);
what a model does not read of a part, beyond its own length, does not count there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dptext import models
from dptext.content import of_path
from dptext.types import Lexicon, Words

Rows = NDArray[np.float64]
GRID = 1e-5
LEXICON = "lexicon"
_AT_ONCE = 64  # texts of one block
_REMEMBERED = 20_000  # distinct words
_RARE = 1e-3  # a of the weights a / (a + p) of Arora et al. 2017


@dataclass(frozen=True, slots=True)
class Params:
    """model: a folder, an installed package, a fetched name; lexicon for its vectors.

    "" is the model that `dptext setup` installs, the lexicon where there is none.
    window: words of a text that are compared at a time; device: torch's name of it.
    """

    model: str = ""
    window: Annotated[int, Meta(ge=2, le=512)] = 128
    device: str = "cpu"


@dataclass(frozen=True, slots=True)
class State:
    """folder of the model and its digest, "" for the lexicon's vectors and weights.

    vectors (V + 1, d) float64, each times its weight, the last row for unknown words.
    """

    params: Params
    folder: str
    digest: str
    lexicon: str
    vectors: Rows


def prepare(params: Params, lexicon: Lexicon, what: str) -> State:
    """Find the model, or weigh the lexicon's vectors."""
    if params.model == LEXICON:
        folder = ""
    elif params.model:
        folder = models.need_sentence_model(params.model, what)
    else:
        folder = models.default_sentence_model() or ""
    if folder:
        return State(params, folder, of_path(folder), "", np.empty((0, 0)))
    prior = np.append(lexicon.prior, lexicon.prior.min())
    weights = _RARE / (_RARE + prior)
    vectors = np.asarray(lexicon.vectors, np.float64) * weights[:, None]
    return State(params, "", "", lexicon.name, vectors)


def content(state: State) -> dict[str, str]:
    """Return the digest of the model; the lexicon's own stands for its vectors."""
    return {"model": state.digest or LEXICON}


def describe(state: State) -> str:
    """Name the model and its digest, or the lexicon."""
    if not state.folder:
        return f"the vectors of the lexicon {state.lexicon} (no sentence model)"
    folder = Path(state.folder).resolve()
    name = folder.parent.name if folder.name == "model" else folder.name
    digest = models.weights_digest(state.folder)
    told = f" (weights sha256 {digest[:12]})" if digest else ""
    return f"the sentence model {name}{told}, {state.params.window} words at a time"


def rounded(values: Rows) -> Rows:
    """Return values on the grid, none below 0."""
    return np.asarray(np.round(np.maximum(values, 0.0) / GRID) * GRID)


def own(state: State, words: Words) -> tuple[Rows, Rows]:
    """Return the lexicon's vector of each word, (n, d), and the sums of its text's."""
    vectors = state.vectors[words.ids]
    sums = np.zeros((len(words.ends), vectors.shape[1]))
    np.add.at(sums, words.texts, vectors)
    return vectors, sums[words.texts]


def encode(state: State, groups: Sequence[Sequence[str]]) -> list[Rows]:
    """Return the unit vectors of the texts of each group: (m, d) float64 each.

    What is encoded together is of one group: short and long texts of it apart.
    """
    orders = [np.argsort([*map(len, group)], kind="stable") for group in groups]
    blocks = [
        [group[row] for row in order[begin : begin + _AT_ONCE].tolist()]
        for group, order in zip(groups, orders, strict=True)
        for begin in range(0, len(group), _AT_ONCE)
    ]
    made = iter(models.embed(state.folder, state.params.device, blocks, state.digest))
    found = []
    for order in orders:
        parts = [next(made) for _ in range(0, len(order), _AT_ONCE)]
        vectors = np.empty((len(order), parts[0].shape[1]))
        vectors[order] = np.concatenate(parts)
        found.append(_unit(vectors))
    return found


def of_words(state: State, found: Sequence[str]) -> Rows:
    """Return the unit vector of each word, encoded alone and remembered: (m, d)."""
    key = (state.digest, state.params.device)
    memory = _MEMORIES.setdefault(key, {})
    if len(memory) > _REMEMBERED:
        memory.clear()
    new = [word for word in dict.fromkeys(found) if word not in memory]
    for word, vectors in zip(new, encode(state, [[w] for w in new]), strict=True):
        memory[word] = vectors[0].astype(np.float32)
    return np.array([memory[word] for word in found], np.float64)


def cosines(one: Rows, two: Rows) -> Rows:
    """Return the cosine of each pair of rows, 0 where one has no length."""
    dots = np.einsum("ij,ij->i", one, two)
    sizes = np.linalg.norm(one, axis=1) * np.linalg.norm(two, axis=1)
    return np.asarray(np.divide(dots, sizes, out=np.zeros(len(dots)), where=sizes > 0))


_MEMORIES: dict[tuple[str, str], dict[str, Any]] = {}


def _unit(vectors: Rows) -> Rows:
    sizes = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(sizes, 1e-30))
