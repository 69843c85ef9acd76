"""How much a text changes when a word is removed: 1 - cosine of their vectors.

A text of one word has the value 1.

Vectors are those of a sentence model, or the lexicon's own. Blocks of a model hold
variants of one text only, or one distinct word, and each is computed on one thread. So
a value depends on its own text alone, to the last bit on one machine with the same
packages, for any batch and any number of processors. Other machines round sums in
another way: values are rounded to GRID, so that nearly all are the same there, too.

Texts are read in parts of at most `window` words to be scored (`scores.windows`). A
model ignores the end of a part that is longer than it reads.
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

from dptext import models, noise, settings
from dptext.budgets import scores
from dptext.types import Floats, Lexicon, Words, blocks

GRID = 1e-5
LEXICON = "lexicon"
_AT_ONCE = 64  # texts of one block
_REMEMBERED = 20_000  # distinct words
_RARE = 1e-3  # a of the weights a / (a + p) of Arora et al. 2017
_WINDOWS = 64  # compared at a time
_NOTHING = -1  # stands for the row of an empty text
# Vectors of words, by digest and device of the model.
_MEMORIES: dict[tuple[str, str], dict[str, NDArray[np.float32]]] = {}


@dataclass(frozen=True, slots=True)
class Params(scores.Params):
    """Settings of scores by vectors of texts."""

    #: A folder, an installed package, a fetched name, or "lexicon" for its vectors. "":
    #: the model that `dptext doctor` shows, else the lexicon.
    model: str = ""
    #: Words of a text that are compared at a time.
    window: Annotated[int, Meta(ge=2, le=512)] = 128
    #: By torch's name.
    device: str = "cpu"

    def prepare(self, lexicon: Lexicon) -> Similarity:
        """Find the model."""
        return self.similarity(lexicon, SentenceSimilarity, "sentence-similarity")

    def similarity(
        self, lexicon: Lexicon, kind: type[Similarity], name: str
    ) -> Similarity:
        """Find the model for a named score, or use the lexicon's vectors."""
        if self.model == LEXICON:
            folder = ""
        elif self.model:
            folder = models.need_sentence_model(self.model, f"the score {name}")
        else:
            folder = models.default_sentence_model() or ""
        if folder:
            return kind(
                params=self,
                folder=folder,
                digest=settings.digest_of_path(folder),
                lexicon="",
                vectors=np.empty((0, 0)),
            )
        weights = _RARE / (_RARE + np.append(lexicon.prior, lexicon.prior.min()))
        vectors = np.asarray(lexicon.vectors, np.float64) * weights[:, None]
        return kind(
            params=self, folder="", digest="", lexicon=lexicon.name, vectors=vectors
        )


@dataclass(frozen=True, slots=True)
class Similarity(scores.Score):
    """A score by sentence-model or lexicon vectors."""

    #: The formula, for reports.
    what: ClassVar[str]
    params: Params
    #: Of the model; "" for the vectors of the lexicon.
    folder: str
    #: Of the folder.
    digest: str
    #: The name of the lexicon, "" for a model.
    lexicon: str
    #: Of words, each times its weight: (V + 1, d), the last for unknown words.
    vectors: Floats

    @property
    def content(self) -> Mapping[str, str]:
        """Return the digest of the model; empty for the lexicon's own vectors."""
        return {"model": self.digest or LEXICON}

    @property
    def description(self) -> str:
        """Name the vectors that are compared, with the model's digest."""
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
        """Return the score of each word, rounded to the grid."""
        if not len(words.ids):
            return np.empty(0)
        values = self._by_model(words) if self.folder else self._by_lexicon(words)
        return np.asarray(np.round(np.maximum(values, 0.0) / GRID) * GRID)

    @abstractmethod
    def _by_model(self, words: Words) -> Floats:
        """Return the scores from the sentence model."""

    @abstractmethod
    def _by_lexicon(self, words: Words) -> Floats:
        """Return the scores from the lexicon's vectors."""

    def lexicon_vectors(self, words: Words) -> tuple[Floats, Floats]:
        """Return each word's vector and the vector sum of its text: (n, d) each."""
        vectors = self.vectors[words.ids]
        sums = np.zeros((len(words.ends), vectors.shape[1]))
        np.add.at(sums, words.texts, vectors)
        return vectors, sums[words.texts]

    def encode(self, groups: Sequence[Sequence[str]]) -> list[Floats]:
        """Return the unit vectors of the texts in each group: (m, d) float64 each.

        Texts of different groups are never encoded together.
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
            by_group.append(noise.unit(vectors))
        return by_group

    def word_vectors(self, words: Sequence[str]) -> Floats:
        """Return the unit vector of each word, encoded alone and cached: (m, d)."""
        memory = _MEMORIES.setdefault((self.digest, self.params.device), {})
        if len(memory) > _REMEMBERED:
            memory.clear()
        new = [word for word in dict.fromkeys(words) if word not in memory]
        for word, vectors in zip(new, self.encode([[w] for w in new]), strict=True):
            memory[word] = vectors[0].astype(np.float32)
        return np.array([memory[word] for word in words], np.float64)


def cosines(one: Floats, two: Floats) -> Floats:
    """Return the cosine of each pair of rows, 0 for zero rows."""
    dots = np.einsum("ij,ij->i", one, two)
    sizes = np.linalg.norm(one, axis=1) * np.linalg.norm(two, axis=1)
    return np.asarray(np.divide(dots, sizes, out=np.zeros(len(dots)), where=sizes > 0))


class SentenceSimilarity(Similarity):
    """Score 1 - cos(text, text without the word) of each word."""

    __slots__ = ()
    what = "1 - cos of text and text without the word"

    def _by_lexicon(self, words: Words) -> Floats:
        vectors, sums = self.lexicon_vectors(words)
        return np.asarray(1.0 - cosines(sums - vectors, sums))

    def _by_model(self, words: Words) -> Floats:
        parts = list(scores.windows(words, self.params.window))
        # A window has as many texts as words: a few windows at a time, for memory.
        values: list[Floats] = []
        for part in blocks(len(parts), _WINDOWS):
            values += self._compare_windows(words, parts[part])
        return np.concatenate(values)

    def _compare_windows(
        self, words: Words, parts: list[tuple[int, int, int, int]]
    ) -> list[Floats]:
        """Return 1 - cos of each window and the window without one of its words."""
        groups, rows = [], []
        for begin, end, low, high in parts:
            pieces = words.pieces[begin:end]
            positions = words.positions[low:high] - begin
            each = positions.tolist()
            texts = ["".join(pieces[:at] + pieces[at + 1 :]) for at in each]
            # The window itself is the first of the group; equal texts are encoded once.
            distinct = list(dict.fromkeys(["".join(pieces), *texts]))
            number = {text: row for row, text in enumerate(distinct)}
            groups.append(distinct)
            rows.append([number[text] if text.strip() else _NOTHING for text in texts])
        encoded = self.encode(groups)
        return [_differ(vectors, at) for vectors, at in zip(encoded, rows, strict=True)]


def _differ(vectors: Floats, rows: list[int]) -> Floats:
    """Return 1 - cosine of row 0 with each row, 1 for an empty text."""
    alike = cosines(vectors[rows], vectors[np.zeros(len(rows), np.int64)])
    return np.where(np.array(rows) == _NOTHING, 1.0, 1.0 - alike)
