"""Mappings: from a noisy vector to a word, one file each.

A file holds `Params`, a frozen dataclass and subclass of `mappings.Params`: the
settings in a profile. Their `prepare` returns a `Mapping`. It sees noisy points and
public vectors only, never the input word: post-processing.

Nearest neighbours are exact, on the processor or a device of torch. Single precision
only proposes candidates; float64 decides, and of equals the smaller id comes first. So
a word depends neither on the batch that it came in nor on the order in which a library
for matrix products, or a device, adds up.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dptext import models
from dptext.errors import UsageError
from dptext.randomness import RandomBits
from dptext.settings import Prepared
from dptext.types import Floats, Ids, Ints, Points, blocks


@dataclass(frozen=True, slots=True)
class Params(ABC):
    """Settings of a mapping.

    device: where words are sought, by torch's name; cpu is numpy. It changes no word.
    """

    device: str = field(default="cpu", kw_only=True)

    @abstractmethod
    def prepare(self, index: Index) -> Mapping:
        """Make the mapping ready for the words of an index."""


class Mapping(Prepared, ABC):
    """A mapping made ready."""

    __slots__ = ()

    @abstractmethod
    def find(self, points: Points, bits: RandomBits) -> Ids:
        """Return the word of each point: (n, d) -> (n,) int32.

        bits are the mapping's own, in lanes from 0, and no part of the noise.
        """


# Words that are scored at once. With 2,048 points their scores take 3 MiB, which stay
# in the processor's cache.
_WORDS = 384


# Pairs of a point and a word, rows and ids (m,) each: by point, then by id.
Pairs = tuple[Ints, Ints]


def table_of(part: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return columns whose product with (z, 1) is the score of words: (d + 1, m)."""
    table = np.empty((part.shape[1] + 1, len(part)), np.float32)
    table[:-1], table[-1] = part.T, squares(part) / -2.0
    return table


def squares(vectors: NDArray[np.float32]) -> Floats:
    """Return the squared lengths of rows: (n,) float64."""
    return np.asarray(np.einsum("vd,vd->v", vectors, vectors, dtype=np.float64))


class Tiles:
    """Candidates by products of numpy, tile by tile.

    The score of a word v at a point z is <v, z> - |v|^2 / 2, the larger the nearer.
    """

    def __init__(self, vectors: NDArray[np.float32], size: int) -> None:
        # Each tile on its own: products read what lies together faster.
        self._tiles = [table_of(vectors[part]) for part in blocks(size, _WORDS)]

    def candidates(
        self, points: Points, count: int, slack: NDArray[np.float32]
    ) -> Pairs:
        """Return all words that may be among the `count` nearest of each point.

        slack (n,) bounds how much two scores may stand in wrong order.
        """
        left = np.ones((len(points), len(self._tiles[0])), np.float32)
        left[:, :-1] = points
        largest = self._largest(left)
        if count <= len(self._tiles):
            last = np.partition(largest, -count, axis=0)[-count]
        else:  # few words
            every = left @ np.hstack(self._tiles)
            last = np.partition(every, -count, axis=1)[:, -count]
        # No more than the score of the last of the nearest, as far as one can tell. It
        # holds for scores that are made again, too, in whatever order they are added.
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
    """Order candidates: rows, ids and scores of parts of the words.

    Left out is what scores less than least, (n,), of its point.
    """
    rows, ids, scores = (np.concatenate(column) for column in zip(*parts, strict=True))
    kept = np.flatnonzero(scores >= least[rows])
    kept = kept[np.argsort(rows[kept], kind="stable")]
    return rows[kept], ids[kept]


# Points that are scored at once: more make no faster products.
BLOCK = 2048
# Candidates that are looked at again at once, which bounds the memory.
_AGAIN = 4096


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
        """Return the same words sought on a device, by torch's name of it.

        Raises UsageError where it is not there.
        """
        if device == self._device:
            return self
        index = Index(self._vectors, self._size, device)
        _ = index._search  # now, and not at the first text
        return index

    @cached_property
    def _search(self) -> Tiles | OnDevice:
        if self._device == "cpu":
            return Tiles(self._vectors, self._size)
        return OnDevice(self._vectors, self._size, self._device)

    def nearest(self, points: Points, count: int) -> Ints:
        """Return the `count` nearest words of each point, nearest first: (n, count).

        argmin |v - z| = argmax <v, z> - |v|^2 / 2; of equals the smaller id comes
        first. All of V where there are no more words than count.
        """
        count = min(count, self._size)
        nearest = np.empty((len(points), count), np.int64)
        for part in blocks(len(points), BLOCK):
            some = points[part]
            candidates = self._search.candidates(some, count, self._slack(some))
            nearest[part] = self._best(some, candidates, count)
        return nearest

    def _slack(self, points: Points) -> NDArray[np.float32]:
        """Bound by how much two scores in single precision stand in wrong order: (n,).

        A sum of n products is off by at most n 2^-24 times the sum of their sizes, in
        whatever order it is made (Higham 2002, section 3.1).
        """
        lengths = np.sqrt(squares(points))
        sizes = lengths * self._longest + self._longest**2 / 2.0
        terms = points.shape[1] + 8.0
        slack = terms * (2.0**-23 * sizes + np.finfo(np.float32).tiny)
        return np.asarray(slack, np.float32)

    def _best(self, points: Points, candidates: Pairs, count: int) -> Ints:
        """Return the nearest of the candidates of each point: (n, count)."""
        rows, ids = candidates
        counts = np.bincount(rows, minlength=len(points))
        scores = np.zeros(len(ids))
        several = np.flatnonzero(counts[rows] > 1)
        for begin in range(0, len(several), _AGAIN):
            part = several[begin : begin + _AGAIN]
            scores[part] = self._scores(points[rows[part]], ids[part])
        ranked = ids[np.lexsort((ids, -scores, rows))]
        firsts = np.cumsum(counts) - counts
        return np.asarray(ranked[firsts[:, None] + np.arange(count)])

    def _scores(self, points: Points, ids: Ints) -> Floats:
        """Return <v, z> - |v|^2 / 2 of each point and one word each: (n,) float64."""
        vectors = self._vectors[ids].astype(np.float64)
        products = np.einsum("nd,nd->n", vectors, points.astype(np.float64))
        return np.asarray(products - self._halves[ids])

    def distances(self, points: Points, ids: Ints) -> Floats:
        """Return the distance of each point to one word each: (n,) float64."""
        gap = points.astype(np.float64) - self._vectors[ids]
        return np.asarray(np.sqrt(np.einsum("nd,nd->n", gap, gap)))

    def chance_of_first(self, points: Points, two: Ints, t: float) -> Floats:
        """Return Vickrey's probability of the first of two words a point: (n,).

        (1 - t) d2 / (t d1 + (1 - t) d2), their distances to the point d1 and d2.
        """
        near = t * self.distances(points, two[:, 0])
        far = (1.0 - t) * self.distances(points, two[:, -1])
        return np.divide(far, near + far, out=np.ones_like(far), where=near + far > 0)


# Words that are scored at once: with 2,048 points 128 MiB of scores.
_WORDS_OF_DEVICE = 16_384


class OnDevice:
    """The words on a device, by torch's name of it."""

    def __init__(self, vectors: NDArray[np.float32], size: int, device: str) -> None:
        """Copy the words there. Raises UsageError where torch or the device lacks."""
        self._torch = models.package("torch", "the setting mapping.device", "semantic")
        # Shorter numbers are wrong by more than the search allows for.
        self._torch.set_float32_matmul_precision("highest")
        self._device = device
        try:
            self._tables = [
                self._torch.from_numpy(table_of(vectors[part])).to(device)
                for part in blocks(size, _WORDS_OF_DEVICE)
            ]
            # A device may hold words and yet not compute.
            origin = np.zeros((1, vectors.shape[1]), np.float32)
            self.candidates(origin, 1, np.zeros(1, np.float32))
        except Exception as error:  # each device has its own
            reason = str(error).strip().partition("\n")[0]
            raise UsageError(
                f"mapping.device: {device} cannot be used: {reason}"
            ) from None

    def candidates(
        self, points: Points, count: int, slack: NDArray[np.float32]
    ) -> Pairs:
        """Return all words that may be among the `count` nearest of each point."""
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
            ids = number * _WORDS_OF_DEVICE + column
            part = row, ids, tile[row, column]
            parts.append(tuple(each.cpu().numpy() for each in part))
        return by_point(parts, least.cpu().numpy())
