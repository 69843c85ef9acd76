"""Quantiles of the noise that audits compare draws with: of amounts and of turns."""

from __future__ import annotations

import math

import numpy as np

from dptext.types import Floats

LEVELS = np.array(
    [1e-3, 0.01, 0.05, *np.arange(0.1, 0.95, 0.1).round(1), 0.95, 0.99, 0.999]
)
_POINTS = 200_001


def gamma(shape: float) -> Floats:
    """Return the quantiles at LEVELS of Gamma(shape, 1), shape at least 1/2.

    By the density 2 s^(2 shape - 1) exp(-s^2) of the square root, which is smooth.
    """
    middle = math.sqrt(shape)
    s = np.linspace(max(middle - 10.0, 0.0), middle + 10.0, _POINTS)
    with np.errstate(divide="ignore", invalid="ignore"):
        log = (2.0 * shape - 1.0) * np.log(s) - s**2
    log[np.isnan(log)] = 0.0  # 0 ln 0
    return _inverse(s, log) ** 2


def projection(width: int) -> Floats:
    """Return the quantiles of a coordinate of a direction in so many dimensions.

    In one dimension the coordinate is -1 or 1: the one quantile that is left is 0. With
    t = sin(phi) the density is cos(phi)^(width - 2), smooth also in two dimensions.
    """
    if width == 1:
        return np.zeros(1)
    phi = np.linspace(-math.pi / 2.0, math.pi / 2.0, _POINTS)
    with np.errstate(divide="ignore"):
        log = (width - 2.0) * np.log(np.maximum(np.cos(phi), 1e-300))
    return np.sin(_inverse(phi, log))


def _inverse(points: Floats, log: Floats) -> Floats:
    density = np.exp(log - log.max())
    steps = np.diff(points) * (density[1:] + density[:-1]) / 2.0
    below = np.concatenate(([0.0], np.cumsum(steps)))
    below /= below[-1]
    inside = np.flatnonzero(np.diff(below, prepend=-1.0) > 0.0)
    return np.asarray(np.interp(LEVELS, below[inside], points[inside]))
