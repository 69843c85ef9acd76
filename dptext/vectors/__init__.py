"""Texts become noisy vectors: `dptext embed`.

settings -> VectorRelease (`release.of`): all public work, the mechanism made ready
records  -> `VectorRelease.rows`: encode -> position -> noise, on a grid
rows     -> `columns`: .npy, .npz or .parquet (`job` for files)
beside the path: `statement` (figures and sentences of the promise, and figures on
public words or texts), which goes into the report of dptext.report.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from dptext.measures.bayes_risk import Share
from dptext.types import Inputs


class Pool(StrEnum):
    """What a released vector is of.

    WORD: one word; MEAN: a text, the mean of the vectors of its words; SIF: the same,
    weighted by smooth inverse frequency; SENTENCE: a text, by a sentence model.
    """

    WORD = "word"
    MEAN = "mean"
    SIF = "sif"
    SENTENCE = "sentence"

    @property
    def inputs(self) -> Inputs:
        """Return what a mechanism takes in."""
        of = {Pool.WORD: Inputs.WORDS, Pool.SENTENCE: Inputs.VECTORS}
        return of.get(self, Inputs.MEANS)


@dataclass(frozen=True, slots=True)
class Distortion:
    """Distances and inner products of released vectors against those without noise.

    Of pairs of public words or texts: mean distance without noise, the one to be
    expected with it, and the mean absolute error of the distance as it is and with the
    noise's known part taken off; mean absolute inner product, the standard deviation of
    its error that is to be expected, and its mean absolute error.
    """

    pairs: int
    distance: float
    expected_distance: float
    distance_error: float
    corrected_error: float
    product: float
    expected_product_error: float
    product_error: float


@dataclass(frozen=True, slots=True)
class Ruler:
    """How often a guess of the original from a released vector is right.

    nearest, the nearest of some public words or texts; best, that of who weighs by the
    law of the noise and, of words, by their frequency (null: no such law); low
    and high, 95% limits of the better one; baseline, the best guess without a vector.
    """

    of: str
    choices: int
    draws: int
    baseline: Share
    nearest: Share
    best: Share | None
    low: Share
    high: Share


@dataclass(frozen=True, slots=True)
class Measures:
    """Figures about public data; noise_lengths are quantiles 5%, 50% and 95%."""

    distortion: Distortion
    noise_lengths: tuple[float, float, float]
    ruler: Ruler
