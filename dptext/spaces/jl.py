"""Vectors are multiplied by a public Gaussian matrix with entries N(0, 1/m): JL.

The matrix is drawn from the public seed, before any text is read. m is given, or the
least for which, except with probability delta over the draw, no distance of two words
grows by more than the factor 1 + beta: C(N, 2) P(chi-square of m > m (1 + beta)^2) <=
delta, a union bound over all pairs of the N = V + 1 rows. m is never more than d.

Lipschitz constant: that of the matrix drawn, computed exactly over the vocabulary, at
most the matrix's spectral norm. So the guarantee needs neither beta nor delta: it is
pure, for every matrix.
Source: the sensitivity thesis, section 4.5.5 (printed constant: 1.9 except with a
chance of 1e-6, in the distance of vectors of length 1: unit_length), after PrivEmb;
docs/guarantees.md, Spaces.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dptext import noise, spaces
from dptext.randomness import Randomness, RunKey
from dptext.spaces import unit
from dptext.types import Floats

_TERMS = 10_000  # of a series or a continued fraction


def log_tail(degrees: int, value: float) -> float:
    """Return ln P(chi-square > value), also where the probability underflows.

    The regularised incomplete gamma function: a series below the mean, Lentz's
    continued fraction above.
    """
    shape, x = degrees / 2.0, value / 2.0
    if x <= 0.0:
        return 0.0
    front = shape * math.log(x) - x - math.lgamma(shape)
    if x < shape + 1.0:
        return math.log1p(-math.exp(front) * _series(shape, x))
    return front + math.log(_fraction(shape, x))


def _series(shape: float, x: float) -> float:
    """Return the lower incomplete gamma function divided by x^shape e^-x."""
    term = total = 1.0 / shape
    for step in range(1, _TERMS):
        term *= x / (shape + step)
        total += term
        if term < total * 1e-17:
            break
    return total


def _fraction(shape: float, x: float) -> float:
    """Return the upper incomplete gamma function divided by x^shape e^-x."""
    odd = x + 1.0 - shape
    upper = 1e300  # stands for 1 / 0, by which Lentz's recurrence begins
    lower = 1.0 / odd
    value = lower
    for step in range(1, _TERMS):
        part = -step * (step - shape)
        odd += 2.0
        lower = 1.0 / (part * lower + odd)
        upper = odd + part / upper
        change = upper * lower
        value *= change
        if abs(change - 1.0) < 1e-16:
            break
    return value


@dataclass(frozen=True, slots=True)
class Params(spaces.Params):
    """Settings of the space."""

    METRIC = "Euclidean distance of the vectors projected by one public random matrix"
    PUBLISHED_CONSTANT = 1.9

    #: m; None: the least that beta and delta require.
    dimensions: Annotated[int, Meta(ge=1)] | None = None
    beta: Annotated[float, Meta(gt=0, le=1e6)] = 0.9
    delta: Annotated[float, Meta(gt=0, lt=1)] = 1e-6
    #: Public; determines the matrix.
    seed: int = 0
    #: Scale vectors to length 1 before.
    unit_length: bool = False

    def transform(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Project the vectors: (V + 1, m) float32."""
        if self.unit_length:
            vectors = unit.Params().transform(vectors)
        rows, width = vectors.shape
        wanted = self.dimensions or least_dimensions(rows, self.beta, self.delta, width)
        drawn = matrix(self.seed, width, min(wanted, width))
        return noise.multiply(vectors, drawn).astype(np.float32)


def matrix(seed: int, width: int, dimensions: int) -> Floats:
    """Draw the matrix for a seed: (d, m), entries N(0, 1/m)."""
    public = Randomness(RunKey.from_seed(seed), "jl")
    bits = public.bits([bytes(16)], np.zeros(width, np.int64))
    return bits.normal(0, dimensions) / math.sqrt(dimensions)


def least_dimensions(rows: int, beta: float, delta: float, most: int = 2**31) -> int:
    """Return the least m whose union bound over all pairs is at most delta.

    If it exceeds `most`, the result is any number of at least `most`.
    """
    pairs = rows * (rows - 1) / 2.0
    if pairs < 1.0:
        return 1
    target = math.log(delta) - math.log(pairs)
    low, high = 0, 1

    def enough(dimensions: int) -> bool:
        return log_tail(dimensions, dimensions * (1.0 + beta) ** 2) <= target

    while not enough(high):
        if high >= most:
            return high
        low, high = high, 2 * high
    return low + 1 + bisect_left(range(low + 1, high), True, key=enough)
