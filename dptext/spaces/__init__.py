"""Spaces: public transforms of the lexicon's vectors, one file each.

A file holds `Params`, a frozen dataclass and subclass of `spaces.Params`: the settings
in a profile, and the transform.
"""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dptext import cache
from dptext.types import Constant, Inputs, Lexicon, Metric, MetricKind

# The most frequent words carry most of a text: their lists are longer.
_WIDE_INPUTS = 4096
_WIDE = 768
# Up to this many rows, all pairs are looked at in seconds.
_PAIRED = 2**16
# Rows by which what was kept is looked at before it is used, at least; and how many
# distances take no time.
_LOOKED, _QUICK = 24, 2**18
# Numbers that are held at once, so that they stay in a cache of the processor.
_HELD = 2**16
_ALL = slice(None)


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

    vectors (V + 1, d) float32, the last row for unknown words; name and metric as the
    report prints them; params its parameters in one line, "" where it has none;
    published the Lipschitz constant that its source prints.
    """

    lexicon: Lexicon
    name: str
    metric: str
    vectors: NDArray[np.float32]
    params: str = ""
    published: float | None = None

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
        from dptext.lexicons.orders import build_orders

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
        from dptext.spaces._lipschitz import nearer

        if len(orders) != inputs or far.shape != (inputs,):
            return False
        rows = some(inputs)
        words_of = nearer(self.vectors, self.size, rows, far[rows])
        return all(
            np.isin(words, orders[row]).all()
            for row, words in zip(rows, words_of, strict=True)
        )

    @cached_property
    def precise(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
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
        from dptext.spaces import identity

        vectors = np.asarray(self.lexicon.vectors, dtype=np.float32)
        return Space(self.lexicon, "identity", identity.Params.METRIC, vectors)

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
    from dptext.spaces import _lipschitz

    def compute() -> dict[str, float]:
        return {name: _lipschitz.constant(before, after())}

    def holds(kept: cache.Numbers) -> bool:
        return stretched(before, after()) <= float(kept[name])

    found = float(cache.numbers(key, compute, holds)[name])
    return Constant(found, Inputs.WORDS)


def geometry_of(
    space: Space, moved: Callable[[], NDArray[np.float32]], *parts: object
) -> Geometry:
    """Measure the space's vectors, or others that follow from them and the parts.

    moved gives (V + 1, d) float32. Computed once, then kept in the cache folder.
    """
    from dptext.lexicons.orders import measure

    def holds(kept: cache.Numbers) -> bool:
        vectors = moved()
        longest = max(
            float(lengths_from(vectors, row).max()) for row in some(len(vectors))
        )
        geometry = Geometry.of(kept)
        # Distances are measured in single precision where the largest is sought.
        return (
            longest <= geometry.diameter * (1.0 + 1e-6) and geometry.nearest <= longest
        )

    key = cache.key_of("geometry", space.lexicon.digest, space.identity, *parts)
    return Geometry.of(cache.numbers(key, lambda: dict(measure(moved())), holds))


def some(count: int) -> list[int]:
    """Choose rows anew each time, by which kept results are looked at: all of few."""
    looked = min(count, max(_LOOKED, _QUICK // count))
    drawn = np.random.default_rng().choice(count, looked, replace=False)
    return [int(row) for row in drawn]


def lengths_from(
    vectors: NDArray[np.floating], row: int, others: slice | NDArray[np.int64] = _ALL
) -> NDArray[np.float64]:
    """Return the distances of a row to others, by direct differences: (n,) float64."""
    rows, point = vectors[others], vectors[row].astype(np.float64)
    squares = np.empty(len(rows))
    count = max(1, _HELD // len(point))
    gaps = np.empty((min(count, len(rows)), len(point)))
    for begin in range(0, len(rows), count):
        part = slice(begin, begin + count)
        gap = gaps[: len(rows) - begin]
        np.subtract(rows[part], point, out=gap, dtype=np.float64)
        np.einsum("nd,nd->n", gap, gap, out=squares[part])
    return np.sqrt(squares, out=squares)


def stretched(before: NDArray[np.floating], after: NDArray[np.floating]) -> float:
    """Return the largest ratio of distances after and before, from a few rows."""
    most = 0.0
    for row in some(len(before)):
        old, new = lengths_from(before, row), lengths_from(after, row)
        ratio = np.divide(new, old, out=np.zeros_like(new), where=old > 0.0)
        most = max(most, float(ratio.max()))
    return most


def prepare(lexicon: Lexicon, name: str, params: Params) -> Space:
    """Apply a space's transform to a lexicon's vectors.

    Raises LexiconError where vectors are too long or too short to be measured.
    """
    from dptext.lexicons.orders import check_coordinates

    vectors = np.asarray(lexicon.vectors, dtype=np.float32)
    check_coordinates(vectors, f"lexicon {lexicon.name}")
    moved = np.ascontiguousarray(params.transform(vectors))
    check_coordinates(moved, f"space {name} of lexicon {lexicon.name}")
    settings = asdict(params)
    return Space(
        lexicon,
        name,
        params.METRIC,
        moved,
        params=json.dumps(settings, sort_keys=True) if settings else "",
        published=params.PUBLISHED_CONSTANT,
    )
