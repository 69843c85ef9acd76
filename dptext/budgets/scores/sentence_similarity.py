"""How much a text changes when a word is taken out: 1 - cos of their vectors.

A text of one word is nothing without it: 1.

Vectors are those of a sentence model, or the lexicon's own. A model gets what it
compares of one text in blocks of their own, and each distinct word alone; a block is
computed on one thread. So a value follows from its own text, to the last bit on one
machine with the same packages, whatever stands beside it in a batch and however many
processors there are. Other machines round sums another way: values are rounded to GRID,
so that nearly all of them are the same there too.

Texts are read in parts of at most `window` words to be scored (`scores.windows`); what
a model does not read of a part, beyond its own length, does not count there.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dptext import models
from dptext.budgets import scores
from dptext.noise import unit
from dptext.settings import digest_of_path
from dptext.types import Floats, Lexicon, Words, blocks

GRID = 1e-5
LEXICON = "lexicon"
_AT_ONCE = 64  # texts of one block
_REMEMBERED = 20_000  # distinct words
_RARE = 1e-3  # a of the weights a / (a + p) of Arora et al. 2017


@dataclass(frozen=True, slots=True)
class Params(scores.Params):
    """model: a folder, an installed package, a fetched name; lexicon for its vectors.

    "" is the model that `dptext doctor` shows, the lexicon where there is none.
    window: words of a text that are compared at a time; device: torch's name of it.
    """

    model: str = ""
    window: Annotated[int, Meta(ge=2, le=512)] = 128
    device: str = "cpu"

    def prepare(self, lexicon: Lexicon) -> Similarity:
        """Find the model."""
        return self.similarity(lexicon, SentenceSimilarity, "sentence-similarity")

    def similarity(
        self, lexicon: Lexicon, kind: type[Similarity], name: str
    ) -> Similarity:
        """Find the model for the score of this name, or weigh the lexicon's vectors."""
        if self.model == LEXICON:
            folder = ""
        elif self.model:
            folder = models.need_sentence_model(self.model, f"the score {name}")
        else:
            folder = models.default_sentence_model() or ""
        if folder:
            return kind(self, folder, digest_of_path(folder), "", np.empty((0, 0)))
        prior = np.append(lexicon.prior, lexicon.prior.min())
        weights = _RARE / (_RARE + prior)
        vectors = np.asarray(lexicon.vectors, np.float64) * weights[:, None]
        return kind(self, "", "", lexicon.name, vectors)


@dataclass(frozen=True, slots=True)
class Similarity(scores.Score):
    """A score by vectors; folder of the model and its digest, "" for the lexicon's.

    vectors (V + 1, d) float64, each times its weight, the last row for unknown words.
    """

    what: ClassVar[str]
    params: Params
    folder: str
    digest: str
    lexicon: str
    vectors: Floats

    @property
    def content(self) -> Mapping[str, str]:
        """Return the digest of the model; the lexicon's own stands for its vectors."""
        return {"model": self.digest or LEXICON}

    @property
    def description(self) -> str:
        """Name the vectors that are compared, and the model and its digest."""
        return f"{self.what} by {self._source()}"

    def _source(self) -> str:
        if not self.folder:
            return f"the vectors of the lexicon {self.lexicon} (no sentence model)"
        folder = Path(self.folder).resolve()
        name = folder.parent.name if folder.name == "model" else folder.name
        digest = models.weights_digest(self.folder)
        weights = f" (weights sha256 {digest[:12]})" if digest else ""
        window = self.params.window
        return f"the sentence model {name}{weights}, {window} words at a time"

    def values(self, words: Words) -> Floats:
        """Return the score of each word, in steps of the grid."""
        if not len(words.ids):
            return np.empty(0)
        values = self._by_model(words) if self.folder else self._by_lexicon(words)
        return np.asarray(np.round(np.maximum(values, 0.0) / GRID) * GRID)

    @abstractmethod
    def _by_model(self, words: Words) -> Floats:
        """Return the scores by the sentence model."""

    @abstractmethod
    def _by_lexicon(self, words: Words) -> Floats:
        """Return the scores by the lexicon's vectors."""

    def lexicon_vectors(self, words: Words) -> tuple[Floats, Floats]:
        """Return the lexicon's vector of each word and the sum of its text: (n, d)."""
        vectors = self.vectors[words.ids]
        sums = np.zeros((len(words.ends), vectors.shape[1]))
        np.add.at(sums, words.texts, vectors)
        return vectors, sums[words.texts]

    def encode(self, groups: Sequence[Sequence[str]]) -> list[Floats]:
        """Return the unit vectors of the texts of each group: (m, d) float64 each.

        Texts encoded together are of one group: short and long ones separately.
        """
        orders = [np.argsort([*map(len, group)], kind="stable") for group in groups]
        texts = [
            [group[row] for row in order[part].tolist()]
            for group, order in zip(groups, orders, strict=True)
            for part in blocks(len(group), _AT_ONCE)
        ]
        device = self.params.device
        encoded = iter(models.embed(self.folder, device, texts, self.digest))
        by_group = []
        for order in orders:
            parts = [next(encoded) for _ in range(0, len(order), _AT_ONCE)]
            vectors = np.empty((len(order), parts[0].shape[1]))
            vectors[order] = np.concatenate(parts)
            by_group.append(unit(vectors))
        return by_group

    def word_vectors(self, words: Sequence[str]) -> Floats:
        """Return the unit vector of each word, encoded alone and remembered: (m, d)."""
        memory = _MEMORIES.setdefault((self.digest, self.params.device), {})
        if len(memory) > _REMEMBERED:
            memory.clear()
        new = [word for word in dict.fromkeys(words) if word not in memory]
        for word, vectors in zip(new, self.encode([[w] for w in new]), strict=True):
            memory[word] = vectors[0].astype(np.float32)
        return np.array([memory[word] for word in words], np.float64)


def cosines(one: Floats, two: Floats) -> Floats:
    """Return the cosine of each pair of rows, 0 where one has no length."""
    dots = np.einsum("ij,ij->i", one, two)
    sizes = np.linalg.norm(one, axis=1) * np.linalg.norm(two, axis=1)
    return np.asarray(np.divide(dots, sizes, out=np.zeros(len(dots)), where=sizes > 0))


_MEMORIES: dict[tuple[str, str], dict[str, NDArray[np.float32]]] = {}


_WINDOWS = 64
_NOTHING = -1  # the row of a text without anything


class SentenceSimilarity(Similarity):
    """1 - cos(text, text without the word) of each word."""

    __slots__ = ()
    what = "1 - cos of text and text without the word"

    def _by_lexicon(self, words: Words) -> Floats:
        vectors, sums = self.lexicon_vectors(words)
        return np.asarray(1.0 - cosines(sums - vectors, sums))

    def _by_model(self, words: Words) -> Floats:
        parts = list(scores.windows(words, self.params.window))
        # A window has as many texts as words: a few at a time keep memory bounded.
        values: list[Floats] = []
        for part in blocks(len(parts), _WINDOWS):
            values += self._compare_windows(words, parts[part])
        return np.concatenate(values)

    def _compare_windows(
        self, words: Words, parts: list[tuple[int, int, int, int]]
    ) -> list[Floats]:
        """Return 1 - cos of each window and the window without each of its words."""
        groups, rows = [], []
        for begin, end, low, high in parts:
            pieces = words.pieces[begin:end]
            positions = words.positions[low:high] - begin
            each = positions.tolist()
            texts = ["".join(pieces[:at] + pieces[at + 1 :]) for at in each]
            # The window itself is of the group, and equal texts are encoded once.
            distinct = list(dict.fromkeys(["".join(pieces), *texts]))
            number = {text: row for row, text in enumerate(distinct)}
            groups.append(distinct)
            rows.append([number[text] if text.strip() else _NOTHING for text in texts])
        encoded = self.encode(groups)
        return [_unlike(vectors, at) for vectors, at in zip(encoded, rows, strict=True)]


def _unlike(vectors: Floats, rows: list[int]) -> Floats:
    """Return 1 - cos of row 0 and each of the rows, 1 for none."""
    alike = cosines(vectors[rows], vectors[[0] * len(rows)])
    return np.where(np.array(rows) == _NOTHING, 1.0, 1.0 - alike)
