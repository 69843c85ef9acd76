"""Spaces: public transforms of the lexicon's vectors, one file each.

A file holds `Params`, a frozen dataclass and subclass of `spaces.Params`: the settings
in a profile, and the transform.

The exact Lipschitz constant of a transform over a vocabulary is L = max |f(x) - f(x')|
/ |x - x'| over all pairs of rows. With a lower bound l of L, the pairs beyond it are
those with |f(x) - f(x')|^2 > l^2 |x - x'|^2: one matrix product per tile of pairs shows
them, up to a proven rounding error. They are then looked at again by direct
differences, which raises l. So no pair is missed, however near it is
(docs/guarantees.md, Spaces).
"""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache, partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dptext import cache
from dptext.lexicons.orders import build_orders, check_coordinates, measure
from dptext.lexicons.search import distances_of_pairs, lengths_from, squared_error
from dptext.types import (
    Constant,
    Floats,
    Inputs,
    Ints,
    Lexicon,
    Metric,
    MetricKind,
    blocks,
)

# What distances of the lexicon's own vectors are called.
ORIGINAL = "Euclidean distance of the lexicon's vectors"
# The most frequent words carry most of a text: their lists are longer.
_WIDE_INPUTS = 4096
_WIDE = 768
# Up to this many rows, all pairs are looked at in seconds.
_PAIRED = 2**16
# Rows by which what was kept is looked at before it is used, at least; and how many
# distances take no time.
_LOOKED, _QUICK = 24, 2**18


@dataclass(frozen=True, slots=True)
class Params(ABC):
    """Settings of a space; METRIC names the Euclidean distance after the transform.

    PUBLISHED_CONSTANT, where there is one, is the Lipschitz constant printed in the
    source; `Space.translated` says the exact one beside it.
    """

    METRIC: ClassVar[str]
    PUBLISHED_CONSTANT: ClassVar[float | None] = None

    @abstractmethod
    def transform(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Move every vector: (V + 1, d) float32 to (V + 1, d') float32.

        A public deterministic function of the whole table, which stays as it is.
        """


@dataclass(frozen=True)
class Geometry:
    """Distances over V in a space, public: what epsilon per distance amounts to.

    nearest is the median over words of the distance to the nearest other word, median
    that of all pairs, diameter the largest of all pairs, unknown element included.
    """

    nearest: float
    median: float
    diameter: float

    @classmethod
    def of(cls, measured: Mapping[str, float]) -> Geometry:
        """Take what dptext.lexicons.orders.measure returns."""
        return cls(measured["nearest_median"], measured["median"], measured["diameter"])


@dataclass(frozen=True)
class Space:
    """A public vocabulary and where its words lie.

    transformed makes its vectors when they are first asked for: some mechanisms never
    look at them. name and metric as the report prints them; params its parameters in
    one line, "" where it has none; published the Lipschitz constant that its source
    prints.
    """

    lexicon: Lexicon
    name: str
    metric: str
    transformed: Callable[[], NDArray[np.float32]]
    params: str = ""
    published: float | None = None

    @cached_property
    def vectors(self) -> NDArray[np.float32]:
        """Return the vectors, (V + 1, d), the last row for unknown words.

        Raises LexiconError where they are too long or too short to be measured.
        """
        vectors = self.transformed()
        check_coordinates(vectors, f"space {self.name} of lexicon {self.lexicon.name}")
        return vectors

    @property
    def size(self) -> int:
        """Return V, the number of words that can be written."""
        return len(self.lexicon.words)

    @property
    def identity(self) -> str:
        """Return name and parameters: what decides the vectors besides the lexicon."""
        return f"{self.name} {self.params}".rstrip()

    @property
    def distance(self) -> Metric:
        """Return the Euclidean distance of its vectors, for guarantees."""
        return Metric(MetricKind.EUCLIDEAN, self.metric, self.identity)

    @cached_property
    def _same(self) -> bool:
        return self.name == "identity"

    @property
    def by_distance(self) -> bool:
        """Tell whether `neighbours` are in order of distance, without synonyms.

        They are the lexicon's own orders where these list words of all of V.
        """
        return not self._same or "outputs" in self.lexicon.meta

    @cached_property
    def neighbours(self) -> tuple[NDArray[np.integer], NDArray[np.float32]]:
        """Return the (V + 1, k) nearest words of each row and the (V + 1,) bound.

        No word outside a row's list is nearer than its bound. Computed once for a
        lexicon and space, then kept in the cache folder (public data only).
        """
        if not self.by_distance:
            return self.lexicon.orders, self.lexicon.far
        listed, inputs = self.lexicon.orders.shape[1], len(self.vectors)
        key = cache.key_of("neighbours", self.lexicon.digest, self.identity, listed)
        return self._listed(key, listed, inputs, "listing nearest words")

    @cached_property
    def wide_neighbours(self) -> tuple[NDArray[np.integer], NDArray[np.float32]]:
        """Return longer lists of the h most frequent words: (h, j) and (h,)."""
        listed, inputs = min(_WIDE, self.size), min(_WIDE_INPUTS, self.size)
        key = cache.key_of("wide", self.lexicon.digest, self.identity, inputs, listed)
        what = "listing nearest words of frequent words"
        return self._listed(key, listed, inputs, what)

    def _listed(
        self, key: str, listed: int, inputs: int, what: str
    ) -> tuple[NDArray[np.integer], NDArray[np.float32]]:
        """List the nearest words of the first inputs, or take them from the cache."""

        def compute() -> cache.Arrays:
            orders, far = build_orders(self.vectors, listed, inputs=inputs)
            return {"orders": orders, "far": far}

        def holds(kept: cache.Arrays) -> bool:
            return self._bounds(kept["orders"], kept["far"], inputs)

        arrays = cache.arrays(key, compute, holds, what)
        return arrays["orders"], arrays["far"]

    def _bounds(
        self, orders: NDArray[np.integer], far: NDArray[np.floating], inputs: int
    ) -> bool:
        """Tell whether far bounds the words outside of orders, at random inputs."""
        if len(orders) != inputs or far.shape != (inputs,):
            return False
        rows = some(inputs)
        words_of = nearer(self.vectors, self.size, rows, far[rows])
        return all(
            np.isin(words, orders[row]).all()
            for row, words in zip(rows, words_of, strict=True)
        )

    @cached_property
    def precise(self) -> tuple[Floats, Floats]:
        """Return the vectors in float64, (V + 1, d), and their squared lengths."""
        vectors = self.vectors.astype(np.float64)
        return vectors, np.einsum("vd,vd->v", vectors, vectors)

    @cached_property
    def geometry(self) -> Geometry:
        """Return the public distances of the space."""
        if self._same and "geometry" in self.lexicon.meta:
            return Geometry.of(self.lexicon.meta["geometry"])
        return geometry_of(self, lambda: self.vectors)

    @cached_property
    def original(self) -> Space:
        """Return the space of the lexicon's vectors as they are."""
        if self._same:
            return self
        vectors = partial(np.asarray, self.lexicon.vectors, np.float32)
        return Space(self.lexicon, "identity", ORIGINAL, vectors)

    @cached_property
    def lipschitz(self) -> Constant:
        """Return the exact Lipschitz constant from the lexicon's vectors, rounded up.

        The largest ratio of distances after and before over all pairs of the V + 1
        rows: the time grows with V^2. Computed once, then kept in the cache folder. No
        constant holds for means: transforms are of words, and two means that coincide
        before need not do so after.
        """
        if self._same:
            return Constant(1.0, Inputs.VECTORS)
        key = cache.key_of("lipschitz", self.lexicon.digest, self.identity)
        vectors = self.lexicon.vectors
        return lipschitz_of(key, "lipschitz", vectors, lambda: self.vectors)

    def translated(self, stretch: float = 1.0) -> str:
        """Say what epsilon counts in the lexicon's own distance; "" where it is that.

        Epsilon counts a metric that is at most stretch times the space's distance.
        Nothing is said of vocabularies whose pairs are too many to be looked at here.
        """
        if self._same or len(self.vectors) > _PAIRED or math.isinf(stretch):
            return ""
        ratio = self.lipschitz.over(Inputs.WORDS)
        exact = math.ceil(ratio * 1e4) / 1e4
        if stretch != 1.0:
            both = math.ceil(ratio * stretch * 1e4) / 1e4
            return (
                f"In the {self.original.metric} epsilon counts at most {both:.4f} "
                f"times: the distance of the space is at most {exact:.4f} times that."
            )
        exactly = (
            f"In the {self.original.metric} epsilon counts at most {exact:.4f} times: "
            "the largest ratio of the two distances over all pairs of words."
        )
        if self.published is None:
            return exactly
        return f"{exactly} The constant printed in the source is {self.published:.7g}."


def lipschitz_of(
    key: str,
    name: str,
    before: NDArray[np.floating],
    after: Callable[[], NDArray[np.floating]],
) -> Constant:
    """Return the constant of pairs of rows, kept as a number of that name."""

    def compute() -> dict[str, float]:
        return {name: lipschitz_constant(before, after())}

    def holds(kept: cache.Numbers) -> bool:
        return stretched(before, after()) <= float(kept[name])

    constant = float(cache.numbers(key, compute, holds)[name])
    return Constant(constant, Inputs.WORDS)


def geometry_of(
    space: Space, moved: Callable[[], NDArray[np.float32]], *parts: object
) -> Geometry:
    """Measure the space's vectors, or others that follow from them and the parts.

    moved gives (V + 1, d) float32. Computed once, then kept in the cache folder.
    """

    def holds(kept: cache.Numbers) -> bool:
        vectors, geometry = moved(), Geometry.of(kept)
        rows = some(len(vectors))
        longest = max(float(lengths_from(vectors, row).max()) for row in rows)
        # Distances are measured in single precision where the largest is sought.
        return geometry.nearest <= longest <= geometry.diameter * (1.0 + 1e-6)

    key = cache.key_of("geometry", space.lexicon.digest, space.identity, *parts)
    return Geometry.of(cache.numbers(key, lambda: dict(measure(moved())), holds))


def some(count: int) -> list[int]:
    """Choose rows anew each time, by which kept results are looked at: all of few."""
    looked = min(count, max(_LOOKED, _QUICK // count))
    drawn = np.random.default_rng().choice(count, looked, replace=False)
    return [int(row) for row in drawn]


def stretched(before: NDArray[np.floating], after: NDArray[np.floating]) -> float:
    """Return the largest ratio of distances after and before, from a few rows."""
    most = 0.0
    for row in some(len(before)):
        old, new = lengths_from(before, row), lengths_from(after, row)
        ratio = np.divide(new, old, out=np.zeros_like(new), where=old > 0.0)
        most = max(most, float(ratio.max()))
    return most


@lru_cache(maxsize=2)
def prepare(lexicon: Lexicon, name: str, params: Params) -> Space:
    """Return the space of a lexicon, one for all that ask for it.

    Raises LexiconError where vectors are too long or too short to be measured, and what
    the transform raises.
    """
    check_coordinates(lexicon.vectors, f"lexicon {lexicon.name}")
    settings = asdict(params)
    space = Space(
        lexicon,
        name,
        params.METRIC,
        partial(_transformed, lexicon, params),
        params=json.dumps(settings, sort_keys=True) if settings else "",
        published=params.PUBLISHED_CONSTANT,
    )
    if not space._same:
        _ = space.vectors  # what a transform refuses is refused before a run
    return space


def _transformed(lexicon: Lexicon, params: Params) -> NDArray[np.float32]:
    vectors = np.asarray(lexicon.vectors, dtype=np.float32)
    return np.ascontiguousarray(params.transform(vectors))


# The result is rounded up by this share, and pairs that are beyond by less are equal.
_MARGIN = 1e-9
_ROWS = 512
_COLUMNS = 2048
_CHUNK = 8192


class _Table:
    """Vectors (n, d) and their squared lengths (n,)."""

    def __init__(self, vectors: NDArray[np.floating]) -> None:
        self.vectors, self.squares = vectors, np.empty(len(vectors))
        for part in blocks(len(vectors), _COLUMNS):
            wide = vectors[part].astype(np.float64)
            np.einsum("ij,ij->i", wide, wide, out=self.squares[part])

    def rows(self, part: slice) -> Floats:
        """Return rows whose products with columns are squared distances."""
        squares = self.squares[part, None]
        return np.hstack((-2.0 * self.vectors[part], squares, np.ones_like(squares)))

    def columns(self, part: slice) -> Floats:
        """Return the other side of the products."""
        squares = self.squares[part, None]
        return np.hstack((self.vectors[part], np.ones_like(squares), squares))

    def largest(self, *parts: slice) -> float:
        """Return the largest squared length among some rows."""
        return float(max(self.squares[part].max() for part in parts))


def lipschitz_constant(
    before: NDArray[np.floating], after: NDArray[np.floating]
) -> float:
    """Return the constant over all pairs of rows, rounded up: (n, d), (n, d') -> L.

    At most 1e-9 (relative) above the largest ratio, and never below it. Rows that are
    identical before are skipped; 0 where no two rows differ.
    """
    tables, rows = (_Table(before), _Table(after)), np.arange(len(before))
    steps = {1, 2, 3, 5, 8, len(rows) // 3, len(rows) // 2}
    best = max(_largest(*tables, rows, np.roll(rows, step)) for step in steps)
    for one in blocks(len(before), _ROWS):
        for other in blocks(len(before), _COLUMNS, one.start):
            best = max(best, _largest(*tables, *_beyond(*tables, one, other, best)))
    return best * (1.0 + _MARGIN)


def _beyond(
    before: _Table, after: _Table, one: slice, other: slice, best: float
) -> tuple[Ints, Ints]:
    """Return the pairs of a tile that may be beyond the best: two (m,) arrays."""
    # Pairs beyond by less than half the margin are as good as the best.
    scale = (best * (1.0 + _MARGIN / 2.0)) ** 2
    left = np.hstack((after.rows(one), -scale * before.rows(one)))
    right = np.hstack((after.columns(other), before.columns(other)))
    excess = left @ right.T
    if one.start == other.start:
        excess[np.tri(*excess.shape) > 0] = -np.inf  # each pair once
    # A product of k terms errs by at most k u sum |a| |b|, u = 2^-53; the squared
    # lengths among the terms err by as much again. Here twice that.
    most = 4.0 * (after.largest(one, other) + scale * before.largest(one, other))
    rows, columns = np.nonzero(excess > -4.0 * left.shape[1] * 2.0**-53 * most)
    return rows + one.start, columns + other.start


def _largest(before: _Table, after: _Table, rows: Ints, others: Ints) -> float:
    """Return the largest ratio of some pairs."""
    largest = 0.0
    for part in blocks(len(rows), _CHUNK):
        one, other = rows[part], others[part]
        old = distances_of_pairs(before.vectors, one, other)
        new = distances_of_pairs(after.vectors, one, other)
        ratios = np.divide(new, old, out=np.zeros_like(old), where=old > 0)
        largest = max(largest, float(ratios.max()))
    return largest


def nearer(
    vectors: NDArray[np.float32],
    size: int,
    rows: Sequence[int],
    bounds: NDArray[np.floating],
) -> Iterator[Ints]:
    """Yield the words nearer to each row than its bound.

    vectors (V + 1, d), of which the first size are words; rows of n inputs; bounds (n,)
    distances, of which NaN has all words. Single precision proposes words, float64
    decides.
    """
    squares = np.einsum("vd,vd->v", vectors, vectors)
    lengths = np.sqrt(squares)
    products = vectors[rows] @ vectors[:size].T
    for row, bound, product in zip(rows, bounds.tolist(), products, strict=True):
        squared = squares[:size] + squares[row] - 2.0 * product
        squared -= squared_error(vectors.shape[1], lengths[:size] + lengths[row])
        proposed = np.flatnonzero(~(squared >= bound * bound))
        distances = lengths_from(vectors, row, proposed)
        yield proposed[~(distances >= bound)]
