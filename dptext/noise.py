"""Noise: multivariate Laplace, discrete Gaussian and Laplace; Gaussian privacy curve.

Discrete noise is drawn exactly. Both kinds have a fixed scale, 4096 steps of a grid;
the caller that adds them to vectors chooses the length of a step. A draw compares
random bits with a table of integers that is computed with integers, so that no rounding
of floats affects it.

normal: P(k) ~ exp(-k^2 / 2 s^2), s = 4096 (Canonne, Kamath and Steinke 2020,
arXiv:2004.00010). It equals normal noise of variance s^2 - 1/12 rounded to integers
(Sheppard's correction), up to a factor within e^(+-NORMAL_SLACK) of each probability
and a probability of NORMAL_REST. Added to integers it therefore has the exact privacy
curve of that normal noise: rounding the sum is post-processing (docs/embed.md).
laplace: P(k) ~ 2^(-|k| / 4096), unbounded, each probability within e^(+-LAPLACE_SLACK)
of that.

The privacy curve: two inputs at distance D under noise of standard deviation sigma
differ by mu = D / sigma (Gaussian DP), and delta(epsilon; mu) = Phi(mu/2 - epsilon/mu)
- e^epsilon Phi(-mu/2 - epsilon/mu). Source: Balle and Wang 2018, theorem 8,
arXiv:1805.06530.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from dptext.randomness import RandomBits
from dptext.types import Eps, Floats, Ints, Points, blocks

# Matrix products always have this many rows: BLAS sums in another order for other
# shapes, and a word's noise must not depend on the batch that it came in.
_BLOCK = 256
# Limit of a coordinate: products with vectors still fit a float32.
_FAR = 1e15
# Limit of the length of noise: far beyond the limit of coordinates, but finite.
_LONGEST = 1e100
# Limit of rates: in float32 steeper densities are all alike.
_STEEP = 1e30
# Steps of the grid for a standard deviation (normal) or for a factor of 2 (laplace).
WIDTH = 4096
# ln of the ratio of the two laws above, for |k| up to 14 s: k^4 / (2880 s^8) + ...
NORMAL_SLACK = 1e-13
# Rounding of the 60,000 entries of the table to 2^-127, and the tail beyond its end.
NORMAL_REST = 2.0**-100
LAPLACE_SLACK = 2.0**-51
# Bits after the point of fixed-point numbers.
_FIXED = 320
# Probabilities below this share of the largest are left out of the table.
_END = 2.0**-140
# Mask of the second half of a probability of 127 bits.
_LOW = (1 << 63) - 1
# Numbers of 64 bits are looked up by their first bits.
_FIRST = 16
_REST = np.uint64(64 - _FIRST)
# The precision of rows, which functions keep.
Float = TypeVar("Float", bound=np.floating)


def radial(bits: RandomBits, width: int, eps: Eps) -> Floats:
    """Return noise with density proportional to exp(-eps |z|): eps (n,) -> (n, d).

    A uniform direction and a Gamma(d, 1 / eps) length, drawn as sqrt(2 G) / eps times
    a standard normal vector, G ~ Gamma((d + 1) / 2, 1).
    """
    half = (width + 1) // 2
    # Gamma((d + 1) / 2) is a sum of exponentials, and of half a squared normal if d is
    # even: hence one more normal than coordinates.
    normal = bits.normal(0, width + 1)
    exponential = -np.log(bits.uniform(width, (half + 1) // 2)[:, :half])
    if width % 2:
        gamma = exponential.sum(axis=1)
    else:
        gamma = exponential[:, : width // 2].sum(axis=1) + normal[:, -1] ** 2 / 2.0
    with np.errstate(over="ignore"):
        scale = np.minimum(np.sqrt(2.0 * gamma) / eps, _LONGEST)
    return np.asarray(normal[:, :width] * scale[:, None])


def split_directions(noise: Floats) -> tuple[Floats, Floats]:
    """Split noise (n, d) into unit directions (n, d) and lengths (n,); zero stays 0."""
    lengths = np.linalg.norm(noise, axis=1)
    return noise / np.where(lengths > 0.0, lengths, 1.0)[:, None], lengths


def multiply(rows: NDArray[np.floating], matrix: Floats) -> Floats:
    """Multiply (n, d) by (d, j) to (n, j), bit for bit equal in any batch."""
    out = np.empty((len(rows), matrix.shape[1]))
    block = np.zeros((_BLOCK, rows.shape[1]))
    for part in blocks(len(rows), _BLOCK):
        count = part.stop - part.start
        block[:count] = rows[part]
        out[part] = (block @ matrix)[:count]
    return out


def squared_distances(
    points: NDArray[np.floating], positions: NDArray[np.floating]
) -> NDArray[np.floating]:
    """Return |z - v|^2: (n, d), (m, d) -> (n, m), in the points' precision."""
    positions = positions.astype(points.dtype, copy=False)
    width = points.shape[1]
    # |z - v|^2 = -2 z v + |z|^2 + |v|^2 as one product of rows (-2 z, |z|^2, 1) and
    # (v, 1, |v|^2), which saves two passes over its result. Rounding may make it < 0.
    left = np.empty((len(points), width + 2), points.dtype)
    np.multiply(points, -2, out=left[:, :width])
    left[:, width], left[:, -1] = 1, np.einsum("nd,nd->n", points, points)
    right = np.empty((len(positions), width + 2), points.dtype)
    right[:, :width], right[:, -1] = positions, 1
    right[:, width] = np.einsum("md,md->m", positions, positions)
    squared: NDArray[np.floating] = left @ right.T
    np.maximum(squared, 0, out=squared)
    return squared


def apply_rates(values: NDArray[np.floating], rates: Eps) -> NDArray[np.floating]:
    """Multiply each row (n, m) by minus its capped rate (n,), in place."""
    values *= -np.minimum(rates, _STEEP).astype(values.dtype)[:, None]
    return values


def round_to_steps(vectors: NDArray[np.floating], step: float | Floats) -> Floats:
    """Round vectors (n, d) to whole steps: (n, d) float64.

    The quotient is in double precision: proofs allow each coordinate half a step, and
    in single precision the quotient of many steps is off by more.
    """
    steps: Floats = np.divide(vectors, step, dtype=np.float64)
    return np.rint(steps, out=steps)


def round_to_grid(steps: Floats, step: float) -> NDArray[np.float32]:
    """Round points given in steps (n, d) to whole steps; return vectors.

    Rounding is in double precision, since the result has only 24 bits per coordinate;
    clipped as in `add_noise`.
    """
    np.rint(steps, out=steps)
    steps *= step
    return np.clip(steps, -_FAR, _FAR, out=steps).astype(np.float32)


def add_noise(vectors: NDArray[np.floating], noise: Floats) -> Points:
    """Add noise to vectors, both (n, d), clipped to values that a mapping can compare.

    Clipping is post-processing; it lets even an absurdly small epsilon give a word.
    """
    return np.clip(vectors + noise, -_FAR, _FAR).astype(np.float32)


def unit(rows: NDArray[Float]) -> NDArray[Float]:
    """Return rows (n, d) scaled to length 1; zero rows stay unchanged."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    lengths[lengths == 0.0] = 1.0
    directions: NDArray[Float] = rows / lengths
    return directions


class Lookup:
    """A faster np.searchsorted for one sorted array, (m,) uint64.

    The first 16 bits of a number give its position up to the entries that begin with
    the same bits: at most one for most numbers, which one vectorised comparison
    decides.
    """

    def __init__(self, ordered: NDArray[np.uint64]) -> None:
        # The number of entries below each multiple of 2^48, and below 2^64.
        multiples = np.arange(2**_FIRST, dtype=np.uint64) << _REST
        firsts = np.append(np.searchsorted(ordered, multiples), len(ordered))
        self._ordered, self._firsts = ordered, firsts.astype(np.int32)

    def searchsorted(
        self, numbers: NDArray[np.uint64], side: Literal["left", "right"]
    ) -> Ints:
        """Return the result of np.searchsorted: (n,) uint64 -> (n,)."""
        first_bits = (numbers >> _REST).view(np.int64)
        indices = self._firsts[first_bits].astype(np.int64)
        # The number of entries with the same first bits.
        alike = self._firsts[first_bits + 1] - indices
        one = self._ordered[np.minimum(indices, len(self._ordered) - 1)]
        indices += (alike > 0) & (one < numbers if side == "left" else one <= numbers)
        several = np.flatnonzero(alike > 1)
        indices[several] = np.searchsorted(self._ordered, numbers[several], side=side)
        return indices


@cache
def normal_lookup() -> Lookup:
    """Return a lookup in the first 64 bits of the Gaussian table."""
    return Lookup(normal_table()[0])


@cache
def geometric_lookup() -> Lookup:
    """Return a lookup in the geometric table."""
    return Lookup(geometric_table())


@cache
def normal_table() -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return 2^127 P(|k| <= j) for j = 0, 1, ...: the first 64 bits and the other 63.

    Weights w_j = exp(-j^2 / 2 s^2) by w_(j+1) = w_j r_j, r_(j+1) = r_j e^(-1 / s^2), in
    fixed point.
    """
    weight = 1 << _FIXED
    ratio = _exp_of_minus_one_over(2 * WIDTH**2)
    factor, end = ratio * ratio >> _FIXED, int(_END * 2.0**200) << (_FIXED - 200)
    total = 0
    sums: list[int] = []
    while weight > end:
        total += weight if not sums else 2 * weight
        sums.append(total)
        weight = weight * ratio >> _FIXED
        ratio = ratio * factor >> _FIXED
    shares = [(each << 127) // total for each in sums[:-1]]
    high = np.array([each >> 63 for each in shares], np.uint64)
    return high, np.array([each & _LOW for each in shares], np.uint64)


@cache
def geometric_table() -> NDArray[np.uint64]:
    """Return 2^64 P(L <= j) for j = 0 ... 4094, P(L = j) ~ 2^(-j / 4096)."""
    # 2^(-1 / 4096) by twelve square roots of 1/2.
    root = 1 << (_FIXED - 1)
    for _ in range(WIDTH.bit_length() - 1):
        root = math.isqrt(root << _FIXED)
    power, shares = 1 << _FIXED, []
    for _ in range(WIDTH - 1):
        power = power * root >> _FIXED
        shares.append(((1 << _FIXED) - power) * 2 >> (_FIXED - 64))
    return np.array(shares, np.uint64)


def _exp_of_minus_one_over(number: int) -> int:
    """Return e^(-1 / number) in fixed point, by its power series."""
    term = total = 1 << _FIXED
    for step in range(1, 60):
        term = -term // (number * step)
        total += term
    return total


def normal(bits: RandomBits, width: int) -> Ints:
    """Draw discrete Gaussians with standard deviation 4096: (n, width) int64."""
    drawn = bits.integers(0, width)
    high, low = drawn[:, 0::2].ravel(), drawn[:, 1::2].ravel()
    steps, rest = normal_table()
    size = normal_lookup().searchsorted(high, "left")
    # Where the first 64 bits equal an entry, the other 63 decide: hardly ever.
    undecided = np.flatnonzero(steps[np.minimum(size, len(steps) - 1)] == high)
    for at in undecided.tolist():
        while size[at] < len(steps) and steps[size[at]] == high[at]:
            if rest[size[at]] > low[at] >> np.uint64(1):
                break
            size[at] += 1
    return _signed(size, low).reshape(len(bits), width)


def laplace(bits: RandomBits, width: int) -> Ints:
    """Draw discrete Laplace noise, P(k) ~ 2^(-|k| / 4096): (n, width) int64.

    A fair sign and a geometric size 4096 H + L: H counts the zeros before the first one
    in a stream of bits, L comes from a table. A draw of -0 is repeated, since 0 would
    have twice its probability.
    """
    drawn = bits.integers(0, width)
    rows, lane = np.arange(len(bits)), width
    out = np.zeros((len(bits), width), np.int64)
    waiting = np.ones((len(bits), width), bool)
    blocks = np.zeros((len(bits), width), np.int64)  # H so far
    while True:
        high, low = drawn[:, 0::2], drawn[:, 1::2]
        # The lowest bit of low is the sign, so that at most 63 zeros count.
        zeros = np.minimum(leading_zeros(low.ravel()).reshape(low.shape), 63)
        blocks += zeros
        size = geometric_lookup().searchsorted(high.ravel(), "right")
        size = size.reshape(high.shape) + WIDTH * blocks
        done = waiting & (zeros < 63) & ~((size == 0) & (low & np.uint64(1) == 1))
        out[rows[:, None], np.arange(width)] = np.where(
            done, _signed(size, low), out[rows]
        )
        # After 63 zeros the stream goes on in the next lanes; a refused -0 starts anew.
        blocks = np.where(waiting & (zeros == 63), blocks, 0)
        waiting &= ~done
        unfinished = np.flatnonzero(waiting.any(axis=1))
        if not len(unfinished):
            return out
        rows, waiting = rows[unfinished], waiting[unfinished]
        blocks = blocks[unfinished]
        drawn = bits.take(rows).integers(lane, width)
        lane += width


def _signed(size: Ints, low: NDArray[np.uint64]) -> Ints:
    """Make sizes negative where the lowest bit is 1."""
    return np.where(low & np.uint64(1) == 1, -size, size).astype(np.int64)


def leading_zeros(integers: NDArray[np.uint64]) -> Ints:
    """Count zeros before the first 1 bit, 64 for zero: (n,)."""
    # Halves of 32 bits are exact as float64, so frexp counts their digits.
    high = np.frexp((integers >> np.uint64(32)).astype(np.float64))[1].astype(np.int64)
    low = (integers & np.uint64(0xFFFFFFFF)).astype(np.float64)
    zeros: Ints = np.where(high > 0, 32 - high, 64 - np.frexp(low)[1].astype(np.int64))
    return zeros


@lru_cache(maxsize=4096)
def largest_mu(epsilon: float, delta: float) -> float:
    """Return the largest mu with delta(epsilon; mu) <= delta, by bisection."""
    low, _ = _boundary(lambda mu: gaussian_delta(epsilon, mu) <= delta)
    # Rounded down by more than the rounding error of `gaussian_delta`.
    return low * (1.0 - 1e-12) - 1e-15


def _boundary(holds: Callable[[float], bool]) -> tuple[float, float]:
    """Bisect to the neighbouring floats where a condition true at 0 turns false."""
    low, high = 0.0, 1.0
    while holds(high):
        low, high = high, 2.0 * high
    middle = (low + high) / 2.0
    while low < middle < high:
        low, high = (middle, high) if holds(middle) else (low, middle)
        middle = (low + high) / 2.0
    return low, high


def gaussian_delta(epsilon: float, mu: float) -> float:
    """Return the exact delta at epsilon for two normal distributions mu apart.

    With a = epsilon/mu - mu/2 and b = epsilon/mu + mu/2, e^epsilon phi(b) = phi(a), so
    that delta = phi(a) (R(a) - R(b)), R(t) = Phi(-t) / phi(t) (`mills`). Unlike the
    formula of Balle and Wang this does not overflow.
    """
    near, far = epsilon / mu - mu / 2.0, epsilon / mu + mu / 2.0
    density = math.exp(-(near**2) / 2.0) / math.sqrt(2.0 * math.pi)
    if near < 0.0:
        return _upper(near) - density * mills(far)
    return density * (mills(near) - mills(far))


def _upper(value: float) -> float:
    """Return Phi(-value), the probability of a standard normal above value."""
    return math.erfc(value / math.sqrt(2.0)) / 2.0


def mills(value: float) -> float:
    """Return Mills' ratio Phi(-value) / phi(value), for value >= 0."""
    if value < 5.0:
        return _upper(value) * math.sqrt(2.0 * math.pi) * math.exp(value**2 / 2.0)
    # Laplace's continued fraction 1 / (t + 1 / (t + 2 / (t + ...))), from its end.
    tail = value
    for step in range(160, 0, -1):
        tail = value + step / tail
    return 1.0 / tail


def gaussian_epsilon(mu: float, delta: float) -> float:
    """Return the least epsilon with delta(epsilon; mu) <= delta, rounded up."""
    if gaussian_delta(0.0, mu) <= delta:
        return 0.0
    _, high = _boundary(lambda epsilon: gaussian_delta(epsilon, mu) > delta)
    return high * (1.0 + 1e-12)
