"""The numbers of truncated Gumbel: its scale, its candidates, its probabilities."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

_NODES = 24
# 2 Delta_max over the largest scale: exp of less cannot be told from 1.
_LEAST = 1e-6


def lambert(z: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """Return the principal branch W0 of Lambert's W, w exp(w) = z, by Halley's steps.

    On the cut (real z < -1/e) the imaginary part is positive.
    """
    z = np.asarray(z, np.complex128)
    root = np.sqrt(2.0 * (math.e * z + 1.0))
    far = np.where(np.abs(z) > 2.0, z, 3.0)
    logs = np.log(far)
    w = np.where(
        np.abs(z + 1.0 / math.e) < 1.0,
        -1.0 + root - root**2 / 3.0,
        np.where(np.abs(z) > 2.0, logs - np.log(logs), np.log1p(z)),
    )
    for _ in range(40):
        power = np.exp(w)
        off = w * power - z
        slope = w + 1.0
        flat = slope == 0.0  # z = -1/e, w = -1: already there
        slope = np.where(flat, 1.0, slope)
        step = off / (power * slope - (w + 2.0) * off / (2.0 * slope))
        w = w - np.where(flat, 0.0, step)
        if np.all(np.abs(step) <= 1e-15 * (1.0 + np.abs(w))):
            break
    return w


def alpha(eps: NDArray[np.float64], size: int, closest: float) -> NDArray[np.float64]:
    """Return alpha = (eps - 2 (1 + ln W) / Delta_min) / 3 of each epsilon."""
    return (eps - 2.0 * (1.0 + math.log(size)) / closest) / 3.0


def scale(
    eps: NDArray[np.float64], size: int, closest: float, widest: float
) -> NDArray[np.float64]:
    """Return b = 2 Delta_max / min(W0(2 alpha Delta_max), ln(alpha Delta_min)).

    Where the logarithm is not positive, the published code's 2 Delta_max over the real
    part of W0; nan where that is not positive either, or so small that truncated noise
    of that scale is lost in float64.
    """
    rates = alpha(eps, size, closest)
    branch = lambert((2.0 * rates * widest).astype(np.complex128)).real
    product = rates * closest
    proper = product > 1.0
    logs = np.log(np.where(proper, product, 2.0))
    divisor = np.where(proper, np.minimum(branch, logs), branch)
    positive = divisor > _LEAST
    return np.where(positive, 2.0 * widest / np.where(positive, divisor, 1.0), np.nan)


def poisson(size: int, most: int) -> NDArray[np.float64]:
    """Return P(k) for k = 1 ... most of Poisson(ln W) restricted to 1 ... W."""
    rate = math.log(size)
    logs = np.arange(1, size + 1) * math.log(rate)
    logs -= np.cumsum(np.log(np.arange(1.0, size + 1.0)))
    weights = np.exp(logs - logs.max())
    return np.asarray(weights[:most] / weights.sum())


def draw(
    uniform: NDArray[np.float64], b: NDArray[np.float64], widest: float
) -> NDArray[np.float64]:
    """Turn uniforms into Gumbel(0, b) noise truncated to [-widest, widest]."""
    low, high = (np.exp(-np.exp(end / b)) for end in (widest, -widest))
    noise: NDArray[np.float64] = -b * np.log(-np.log(low + uniform * (high - low)))
    return np.clip(noise, -widest, widest)


def log_probs(
    distances: NDArray[np.float64], b: float, widest: float, shares: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return ln of the probability of each candidate, nearest first: (W,).

    Sums are taken in logarithms: far candidates are rarer than a float64 can say.
    distances (W,) ascend; shares (W,) are those of k. At value t candidate y wins with
    density f(t - d_y) times the chance that no other of the k candidates is below t;
    panels are cut where a density begins.
    """
    first, last = distances[0] - widest, distances[0] + widest
    begins = distances - widest
    edges = np.concatenate(
        (begins[begins < last], np.linspace(first, last, 2 + int(4.0 * widest / b)))
    )
    edges = np.unique(edges)
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    half = np.diff(edges) / 2.0
    points = ((edges[:-1] + edges[1:])[:, None] / 2.0 + half[:, None] * nodes).ravel()
    areas = (half[:, None] * weights).ravel()
    noise = points[None, :] - distances[:, None]
    inside = noise >= -widest
    rise = np.exp(np.minimum(-noise, widest) / b)
    end = math.exp(-widest / b)
    log_total = math.log(-math.expm1(end - math.exp(widest / b)))
    with np.errstate(divide="ignore"):
        # ln (F(widest) - F(g)) / (F(widest) - F(-widest)), exact to the end.
        above = np.log(-np.expm1(end - rise)) - log_total
        above = np.where(inside, above, 0.0)
        density = end - rise + np.log(rise) - math.log(b) - log_total
        chances = np.cumsum(above, axis=0) + np.log(shares)[:, None]
    chances = np.logaddexp.accumulate(chances[::-1], axis=0)[::-1]
    parts = np.where(inside, density - above + chances, -np.inf) + np.log(areas)
    top = parts.max(axis=1)
    return np.asarray(np.log(np.exp(parts - top[:, None]).sum(axis=1)) + top)
