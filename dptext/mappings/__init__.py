"""Mappings: from a noisy vector to a word, one file each.

A file holds `Params`, a frozen dataclass and subclass of `mappings.Params`: the
settings in a profile. Their `prepare` returns a `Mapping`. It sees noisy points and
public vectors only, never the input word: post-processing.

Nearest neighbours are exact, on the CPU or a torch device. Single precision
proposes candidates, float64 decides; ties go to the smaller id. So the
word does not depend on its batch, nor on the order in which a library for matrix
products, or a device, adds up.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dptext.errors import UsageError
from dptext.randomness import RandomBits
from dptext.settings import Prepared
from dptext.types import Floats, Ids, Ints, Points, blocks

# Points scored at once; products of more are no faster. With so many words their scores
# take 3 MiB, which stay in the processor's cache, and 128 MiB on a device.
BLOCK = 2048
_WORDS = 384
_WORDS_OF_DEVICE = 16_384
# Candidates compared in float64 at once, which bounds the memory.
_AGAIN = 4096
# Pairs of a point and a word, rows and ids (m,) each: by point, then by id.
Pairs = tuple[Ints, Ints]


@dataclass(frozen=True, slots=True)
class Params(ABC):
    """Settings of a mapping."""

    #: Where the search runs, by torch's name; cpu is numpy. It changes no word.
    device: str = field(default="cpu", kw_only=True)

    @abstractmethod
    def prepare(self, index: Index) -> Mapping:
        """Prepare the mapping for the words of an index."""


class Mapping(Prepared, ABC):
    """A prepared mapping."""

    __slots__ = ()

    @abstractmethod
    def find(self, points: Points, bits: RandomBits) -> Ids:
        """Return the word for each point: (n, d) -> (n,) int32.

        bits: random bits for the mapping only, independent of the noise.
        """


def score_table(part: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the matrix that scores words by its product with (z, 1): (d + 1, m)."""
    table = np.empty((part.shape[1] + 1, len(part)), np.float32)
    table[:-1], table[-1] = part.T, squares(part) / -2.0
    return table


def squares(vectors: NDArray[np.float32]) -> Floats:
    """Return the squared norms of rows: (n,) float64."""
    return np.asarray(np.einsum("vd,vd->v", vectors, vectors, dtype=np.float64))


class Tiles:
    """Finds candidates by numpy matrix products, tile by tile.

    The score of a word v at a point z is <v, z> - |v|^2 / 2, larger for a nearer word.
    """

    def __init__(self, vectors: NDArray[np.float32], size: int) -> None:
        # Separate arrays: products are faster if their operands are contiguous.
        self._tiles = [score_table(vectors[part]) for part in blocks(size, _WORDS)]

    def candidates(
        self, points: Points, count: int, slack: NDArray[np.float32]
    ) -> Pairs:
        """Return all words that may be among each point's `count` nearest.

        slack (n,) bounds the error of the difference of two scores.
        """
        left = np.ones((len(points), len(self._tiles[0])), np.float32)
        left[:, :-1] = points
        largest = self._largest(left)
        # A lower bound on the score of the last of the nearest: from the best of each
        # tile if there are enough tiles.
        if count <= len(self._tiles):
            last = np.partition(largest, -count, axis=0)[-count]
        else:  # few words
            every = left @ np.hstack(self._tiles)
            last = np.partition(every, -count, axis=1)[:, -count]
        # Also below, scores are computed again, perhaps summed in another order: the
        # slack covers that, too.
        least = last - slack
        parts = []
        for number, table in enumerate(self._tiles):
            close = np.flatnonzero(largest[number] >= least)
            tile = left[close] @ table
            hits = np.flatnonzero(tile >= least[close, None])
            row, column = np.divmod(hits, tile.shape[1])
            parts.append((close[row], number * _WORDS + column, tile.ravel()[hits]))
        return by_point(parts, least)

    def _largest(self, left: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the largest score of each tile: (tiles, n)."""
        every = np.arange(len(left))
        largest = np.empty((len(self._tiles), len(left)), np.float32)
        memory = np.empty(len(left) * _WORDS, np.float32)
        for number, table in enumerate(self._tiles):
            width = table.shape[1]
            tile = memory[: len(left) * width].reshape(-1, width)
            np.dot(left, table, out=tile)
            largest[number] = tile[every, tile.argmax(axis=1)]
        return largest


def by_point(
    parts: Sequence[tuple[Ints, Ints, NDArray[np.float32]]], least: NDArray[np.float32]
) -> Pairs:
    """Sort candidates by point, given rows, ids and scores per tile.

    Candidates scoring below their point's least (n,) are dropped.
    """
    rows, ids, scores = (np.concatenate(column) for column in zip(*parts, strict=True))
    kept = np.flatnonzero(scores >= least[rows])
    kept = kept[np.argsort(rows[kept], kind="stable")]
    return rows[kept], ids[kept]


class Index:
    """Exact nearest neighbours among the V words of a space, by matrix products."""

    def __init__(
        self, vectors: NDArray[np.float32], size: int, device: str = "cpu"
    ) -> None:
        self._vectors = vectors
        self._size = size
        self._device = device
        self._halves = squares(vectors[:size]) / 2.0
        self._longest = float(np.sqrt(2.0 * self._halves.max()))

    def on(self, device: str) -> Index:
        """Return an index of the same words that searches on a torch device.

        Raises UsageError if the device cannot be used.
        """
        if device == self._device:
            return self
        index = Index(self._vectors, self._size, device)
        _ = index._search  # errors come now, not at the first text
        return index

    @cached_property
    def _search(self) -> Tiles | OnDevice:
        if self._device == "cpu":
            return Tiles(self._vectors, self._size)
        return OnDevice(self._vectors, self._size, self._device)

    def nearest(self, points: Points, count: int) -> Ints:
        """Return the `count` nearest words of each point, nearest first: (n, count).

        argmin |v - z| = argmax <v, z> - |v|^2 / 2; ties go to the smaller id. Returns
        all V words if there are no more than count.
        """
        count = min(count, self._size)
        nearest = np.empty((len(points), count), np.int64)
        for part in blocks(len(points), BLOCK):
            block = points[part]
            candidates = self._search.candidates(block, count, self._slack(block))
            nearest[part] = self._best(block, candidates, count)
        return nearest

    def _slack(self, points: Points) -> NDArray[np.float32]:
        """Bound the single-precision error of score differences: (n,).

        The error of a sum of n products is at most n 2^-24 times the sum of their
        absolute values, in any order of summation (Higham 2002, section 3.1).
        """
        sizes = np.sqrt(squares(points)) * self._longest + self._longest**2 / 2.0
        terms = points.shape[1] + 8.0
        slack = terms * (2.0**-23 * sizes + np.finfo(np.float32).tiny)
        return np.asarray(slack, np.float32)

    def _best(self, points: Points, candidates: Pairs, count: int) -> Ints:
        """Return the nearest candidates of each point: (n, count)."""
        rows, ids = candidates
        counts = np.bincount(rows, minlength=len(points))
        scores = np.zeros(len(ids))
        # A single candidate needs no score; usually that is all there is.
        several = np.flatnonzero(counts[rows] > 1)
        for part in (several[each] for each in blocks(len(several), _AGAIN)):
            scores[part] = self._scores(points[rows[part]], ids[part])
        ranked = ids[np.lexsort((ids, -scores, rows))]
        firsts = np.cumsum(counts) - counts
        return np.asarray(ranked[firsts[:, None] + np.arange(count)])

    def _scores(self, points: Points, ids: Ints) -> Floats:
        """Return <v, z> - |v|^2 / 2 for each (point, word) pair: (n,) float64."""
        vectors = self._vectors[ids].astype(np.float64)
        products = np.einsum("nd,nd->n", vectors, points.astype(np.float64))
        return np.asarray(products - self._halves[ids])

    def distances(self, points: Points, ids: Ints) -> Floats:
        """Return the distance of each (point, word) pair: (n,) float64."""
        gap = points.astype(np.float64) - self._vectors[ids]
        return np.asarray(np.sqrt(np.einsum("nd,nd->n", gap, gap)))

    def chance_of_first(self, points: Points, two: Ints, t: float) -> Floats:
        """Return Vickrey's probability of choosing the first of two words: (n,).

        It is (1 - t) d2 / (t d1 + (1 - t) d2), with distances d1 and d2 of the words to
        the point.
        """
        near = t * self.distances(points, two[:, 0])
        far = (1.0 - t) * self.distances(points, two[:, -1])
        return np.divide(far, near + far, out=np.ones_like(far), where=near + far > 0)


class OnDevice:
    """Finds candidates like `Tiles`, on a torch device."""

    def __init__(self, vectors: NDArray[np.float32], size: int, device: str) -> None:
        """Copy the words to it. Raises UsageError without torch or the device."""
        from dptext import models  # a search on the processor needs none

        self._torch = models.package("torch", "the setting mapping.device", "semantic")
        # The slack is for float32: shorter formats such as TF32 have larger errors.
        self._torch.set_float32_matmul_precision("highest")
        self._device = device
        try:
            self._tables = [
                self._torch.from_numpy(score_table(vectors[part])).to(device)
                for part in blocks(size, _WORDS_OF_DEVICE)
            ]
            # Some devices can hold the words but not compute: try.
            origin = np.zeros((1, vectors.shape[1]), np.float32)
            self.candidates(origin, 1, np.zeros(1, np.float32))
        except Exception as error:  # each device has its own classes
            reason = str(error).strip().partition("\n")[0]
            raise UsageError(
                f"mapping.device: {device} cannot be used: {reason}"
            ) from None

    def candidates(
        self, points: Points, count: int, slack: NDArray[np.float32]
    ) -> Pairs:
        """Return all words that may be among each point's `count` nearest."""
        torch = self._torch
        ones = np.ones((len(points), 1), np.float32)
        left = torch.from_numpy(np.hstack((points, ones))).to(self._device)
        slacks = torch.from_numpy(slack).to(self._device)
        best = left.new_full((len(points), count), -np.inf)
        parts = []
        for number, table in enumerate(self._tables):
            tile = left @ table
            top = tile.topk(min(count, tile.shape[1]), dim=1).values
            best = torch.cat((best, top), dim=1).topk(count, dim=1).values
            least = best[:, -1] - slacks
            row, column = (tile >= least[:, None]).nonzero(as_tuple=True)
            part = row, number * _WORDS_OF_DEVICE + column, tile[row, column]
            parts.append(tuple(each.cpu().numpy() for each in part))
        return by_point(parts, least.cpu().numpy())
