"""Spaces: public transforms of the lexicon's vectors, one file each.

A file holds `Params`, a frozen dataclass and subclass of `spaces.Params`: the settings
in a profile, and the transform.

The exact Lipschitz constant of a transform over a vocabulary is L = max |f(x) - f(x')|
/ |x - x'| over all pairs of rows. Given a lower bound l of L, candidates are the pairs
with |f(x) - f(x')|^2 > l^2 |x - x'|^2: one matrix product per tile of pairs finds them,
up to a proven rounding error. Their ratios are then computed by direct differences,
which raises l. So no pair is missed, however small its distance (docs/guarantees.md,
Spaces).
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

ORIGINAL = "Euclidean distance of the lexicon's vectors"  # in reports
# The most frequent words make up most of a text: their lists are longer.
_WIDE_INPUTS = 4096
_WIDE = 768
# Up to this many rows the constant of all pairs takes seconds.
_PAIRED = 2**16
# A cached result is checked at this many random rows, or at more as long as that takes
# no more than so many distances.
_CHECKED_ROWS, _CHECKED_DISTANCES = 24, 2**18
# The constant is rounded up by this share, and pairs nearer to it than half of that are
# not looked at again.
_MARGIN = 1e-9
# Sizes of tiles of pairs, and the number of differences computed at once.
_ROWS = 512
_COLUMNS = 2048
_CHUNK = 8192


@dataclass(frozen=True, slots=True)
class Params(ABC):
    """Settings of a space."""

    #: The Euclidean distance after the transform, in words.
    METRIC: ClassVar[str]
    #: The Lipschitz constant printed in the source; `Space.translated` adds the exact.
    PUBLISHED_CONSTANT: ClassVar[float | None] = None

    @abstractmethod
    def transform(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Transform vectors: (V + 1, d) float32 to (V + 1, d') float32.

        This is a public deterministic function of the whole table, which is not
        modified.
        """


@dataclass(frozen=True)
class Geometry:
    """Public distances over V in a space: what epsilon per distance amounts to."""

    #: Median over words of the distance to the nearest other word.
    nearest: float
    #: Median of the distances of all pairs.
    median: float
    #: Largest distance of all pairs, the unknown word included.
    diameter: float

    @classmethod
    def from_measured(cls, measured: Mapping[str, float]) -> Geometry:
        """Build from the result of dptext.lexicons.orders.measure."""
        return cls(measured["nearest_median"], measured["median"], measured["diameter"])


@dataclass(frozen=True)
class Space:
    """A public vocabulary with a vector for each word."""

    lexicon: Lexicon
    #: As in reports.
    name: str
    #: The distance of its vectors, in words, as in reports.
    metric: str
    #: Computes the vectors when they are first needed: some mechanisms never do.
    transformed: Callable[[], NDArray[np.float32]]
    #: The parameters in one line, "" without any.
    params: str = ""
    #: The Lipschitz constant printed in the source.
    published: float | None = None

    @cached_property
    def vectors(self) -> NDArray[np.float32]:
        """Return the vectors, (V + 1, d), the last row for unknown words.

        Raises LexiconError if they are too long or too short to measure.
        """
        vectors = self.transformed()
        check_coordinates(vectors, f"space {self.name} of lexicon {self.lexicon.name}")
        return vectors

    @property
    def size(self) -> int:
        """Return V, the number of writable words."""
        return len(self.lexicon.words)

    @property
    def identity(self) -> str:
        """Return name and parameters, which with the lexicon determine the vectors."""
        return f"{self.name} {self.params}".rstrip()

    @property
    def distance(self) -> Metric:
        """Return the Euclidean distance of the vectors, for guarantees."""
        return Metric(MetricKind.EUCLIDEAN, self.metric, self.identity)

    @cached_property
    def _same(self) -> bool:
        return self.name == "identity"

    @property
    def by_distance(self) -> bool:
        """Return whether `neighbours` are sorted by distance, not synonyms first."""
        # In the identity space they are the lexicon's own orders, unless these hold
        # only some of its words ("outputs" in its metadata).
        return not self._same or "outputs" in self.lexicon.meta

    @cached_property
    def neighbours(self) -> tuple[NDArray[np.integer], NDArray[np.float32]]:
        """Return each row's nearest words (V + 1, k) and the bound (V + 1,).

        No word outside a row's list is nearer than its bound. Computed once per
        lexicon and space, then cached on disk (public data only).
        """
        if not self.by_distance:
            return self.lexicon.orders, self.lexicon.far
        listed, inputs = self.lexicon.orders.shape[1], len(self.vectors)
        key = cache.key_of("neighbours", self.lexicon.digest, self.identity, listed)
        return self._listed(key, listed, inputs, "listing nearest words")

    @cached_property
    def wide_neighbours(self) -> tuple[NDArray[np.integer], NDArray[np.float32]]:
        """Return longer lists for the h most frequent words: (h, j) and (h,)."""
        listed, inputs = min(_WIDE, self.size), min(_WIDE_INPUTS, self.size)
        key = cache.key_of("wide", self.lexicon.digest, self.identity, inputs, listed)
        work = "listing nearest words of frequent words"
        return self._listed(key, listed, inputs, work)

    def _listed(
        self, key: str, listed: int, inputs: int, work: str
    ) -> tuple[NDArray[np.integer], NDArray[np.float32]]:
        """List the nearest words of the first inputs, cached."""

        def compute() -> cache.Arrays:
            orders, far = build_orders(self.vectors, listed, inputs=inputs)
            return {"orders": orders, "far": far}

        def holds(kept: cache.Arrays) -> bool:
            return self._are_bounds(kept["orders"], kept["far"], inputs)

        arrays = cache.arrays(key, compute, holds, work)
        return arrays["orders"], arrays["far"]

    def _are_bounds(
        self, orders: NDArray[np.integer], far: NDArray[np.floating], inputs: int
    ) -> bool:
        """Return whether orders contain all words nearer than far, on random inputs."""
        if len(orders) != inputs or far.shape != (inputs,):
            return False
        rows = random_rows(inputs)
        words_of = words_nearer_than(self.vectors, self.size, rows, far[rows])
        return all(
            np.isin(words, orders[row]).all()
            for row, words in zip(rows, words_of, strict=True)
        )

    @cached_property
    def precise(self) -> tuple[Floats, Floats]:
        """Return the float64 vectors (V + 1, d) and their squared norms."""
        vectors = self.vectors.astype(np.float64)
        return vectors, np.einsum("vd,vd->v", vectors, vectors)

    @cached_property
    def geometry(self) -> Geometry:
        """Return the public distances of the space."""
        if self._same and "geometry" in self.lexicon.meta:
            return Geometry.from_measured(self.lexicon.meta["geometry"])
        return cached_geometry(self, lambda: self.vectors)

    @cached_property
    def original(self) -> Space:
        """Return the space of the lexicon's original vectors."""
        if self._same:
            return self
        vectors = partial(np.asarray, self.lexicon.vectors, np.float32)
        return Space(self.lexicon, "identity", ORIGINAL, vectors)

    @cached_property
    def lipschitz(self) -> Constant:
        """Return the exact Lipschitz constant relative to the lexicon's vectors.

        It is the largest ratio of distances after and before over all pairs of V + 1
        rows, rounded up and cached, as the time grows with V^2. It holds only for
        words, not for means of words: two means that coincide before need not coincide
        after.
        """
        if self._same:
            return Constant(1.0, Inputs.VECTORS)
        key = cache.key_of("lipschitz", self.lexicon.digest, self.identity)
        vectors = self.lexicon.vectors
        return cached_lipschitz(key, "lipschitz", vectors, lambda: self.vectors)

    def translated(self, stretch: float = 1.0) -> str:
        """Describe epsilon in terms of the lexicon's distance, for reports.

        Epsilon refers to a metric that is at most stretch times the space's distance.
        Empty if that is the lexicon's distance, or if the vocabulary has too many
        pairs.
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


def cached_lipschitz(
    key: str,
    name: str,
    before: NDArray[np.floating],
    after: Callable[[], NDArray[np.floating]],
) -> Constant:
    """Return the Lipschitz constant over pairs of rows, cached under a name."""

    def compute() -> dict[str, float]:
        return {name: lipschitz_constant(before, after())}

    def holds(kept: cache.Numbers) -> bool:
        return sampled_stretch(before, after()) <= float(kept[name])

    return Constant(float(cache.numbers(key, compute, holds)[name]), Inputs.WORDS)


def cached_geometry(
    space: Space, moved: Callable[[], NDArray[np.float32]], *parts: object
) -> Geometry:
    """Measure vectors derived from the space and from parts, cached by both.

    moved: returns the vectors, (V + 1, d) float32.
    """

    def holds(kept: cache.Numbers) -> bool:
        vectors, geometry = moved(), Geometry.from_measured(kept)
        rows = random_rows(len(vectors))
        longest = max(float(lengths_from(vectors, row).max()) for row in rows)
        # The diameter is found in single precision.
        return geometry.nearest <= longest <= geometry.diameter * (1.0 + 1e-6)

    key = cache.key_of("geometry", space.lexicon.digest, space.identity, *parts)
    return Geometry.from_measured(
        cache.numbers(key, lambda: dict(measure(moved())), holds)
    )


def random_rows(count: int) -> list[int]:
    """Choose random rows for checking a cached result, different ones each time."""
    checked = min(count, max(_CHECKED_ROWS, _CHECKED_DISTANCES // count))
    drawn = np.random.default_rng().choice(count, checked, replace=False)
    return [int(row) for row in drawn]


def sampled_stretch(before: NDArray[np.floating], after: NDArray[np.floating]) -> float:
    """Return the largest ratio of distances after and before, over a few rows."""
    largest = 0.0
    for row in random_rows(len(before)):
        old, new = lengths_from(before, row), lengths_from(after, row)
        ratio = np.divide(new, old, out=np.zeros_like(new), where=old > 0.0)
        largest = max(largest, float(ratio.max()))
    return largest


@lru_cache(maxsize=2)
def prepare(lexicon: Lexicon, name: str, params: Params) -> Space:
    """Return a lexicon's space, the same object for the same arguments.

    Raises LexiconError if vectors are too long or too short to measure, and the
    errors of the transform.
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
        _ = space.vectors  # errors of the transform come now, not during a run
    return space


def _transformed(lexicon: Lexicon, params: Params) -> NDArray[np.float32]:
    vectors = np.asarray(lexicon.vectors, dtype=np.float32)
    return np.ascontiguousarray(params.transform(vectors))


class _Table:
    """Vectors (n, d) as factors whose products are squared distances.

    |a - b|^2 = (-2 a, |a|^2, 1) (b, 1, |b|^2).
    """

    def __init__(self, vectors: NDArray[np.floating]) -> None:
        self.vectors, self.squares = vectors, np.empty(len(vectors))
        for part in blocks(len(vectors), _COLUMNS):
            wide = vectors[part].astype(np.float64)
            np.einsum("ij,ij->i", wide, wide, out=self.squares[part])

    def rows(self, part: slice) -> Floats:
        """Return the left factors of vectors: (m, d + 2)."""
        squares = self.squares[part, None]
        return np.hstack((-2.0 * self.vectors[part], squares, np.ones_like(squares)))

    def columns(self, part: slice) -> Floats:
        """Return the right factors of vectors: (m, d + 2)."""
        squares = self.squares[part, None]
        return np.hstack((self.vectors[part], np.ones_like(squares), squares))

    def largest(self, *parts: slice) -> float:
        """Return the largest squared norm among rows."""
        return float(max(self.squares[part].max() for part in parts))


def lipschitz_constant(
    before: NDArray[np.floating], after: NDArray[np.floating]
) -> float:
    """Return the Lipschitz constant over all pairs: (n, d), (n, d') -> L, rounded up.

    At most 1e-9 (relative) above the largest ratio, and never below it. Rows that are
    identical before are skipped; 0 if no two rows differ.
    """
    tables, rows = (_Table(before), _Table(after)), np.arange(len(before))
    # A first lower bound from some pairs: the better it is, the fewer candidates.
    steps = {1, 2, 3, 5, 8, len(rows) // 3, len(rows) // 2}
    best = max(_largest_ratio(*tables, rows, np.roll(rows, step)) for step in steps)
    for one in blocks(len(before), _ROWS):
        for other in blocks(len(before), _COLUMNS, one.start):
            best = max(
                best,
                _largest_ratio(*tables, *_candidate_pairs(*tables, one, other, best)),
            )
    return best * (1.0 + _MARGIN)


def _candidate_pairs(
    before: _Table, after: _Table, one: slice, other: slice, best: float
) -> tuple[Ints, Ints]:
    """Return the pairs of a tile that may exceed the best ratio: two (m,) arrays."""
    # Half the margin: the other half covers the rounding of `_largest_ratio`.
    scale = (best * (1.0 + _MARGIN / 2.0)) ** 2
    left = np.hstack((after.rows(one), -scale * before.rows(one)))
    excess = left @ np.hstack((after.columns(other), before.columns(other))).T
    if one.start == other.start:
        excess[np.tri(*excess.shape) > 0] = -np.inf  # each pair once
    # The error of a product of k terms is at most k u sum |a| |b|, u = 2^-53; that of
    # the squared lengths among the terms is as large again. Twice both is allowed for.
    most = 4.0 * (after.largest(one, other) + scale * before.largest(one, other))
    rows, columns = np.nonzero(excess > -4.0 * left.shape[1] * 2.0**-53 * most)
    return rows + one.start, columns + other.start


def _largest_ratio(before: _Table, after: _Table, rows: Ints, others: Ints) -> float:
    largest = 0.0
    for part in blocks(len(rows), _CHUNK):
        one, other = rows[part], others[part]
        old = distances_of_pairs(before.vectors, one, other)
        new = distances_of_pairs(after.vectors, one, other)
        ratios = np.divide(new, old, out=np.zeros_like(old), where=old > 0)
        largest = max(largest, float(ratios.max()))
    return largest


def words_nearer_than(
    vectors: NDArray[np.float32],
    size: int,
    rows: Sequence[int],
    bounds: NDArray[np.floating],
) -> Iterator[Ints]:
    """Yield the words nearer to each row than its bound.

    vectors (V + 1, d), of which the first size are words; rows (n,); bounds (n,)
    distances; NaN gives all words. Single precision proposes words, float64 decides.
    """
    squares = np.einsum("vd,vd->v", vectors, vectors)
    lengths = np.sqrt(squares)
    products = vectors[rows] @ vectors[:size].T
    for row, bound, product in zip(rows, bounds.tolist(), products, strict=True):
        squared = squares[:size] + squares[row] - 2.0 * product
        squared -= squared_error(vectors.shape[1], lengths[:size] + lengths[row])
        # Negated, so that NaN is true.
        proposed = np.flatnonzero(~(squared >= bound * bound))
        yield proposed[~(lengths_from(vectors, row, proposed) >= bound)]
