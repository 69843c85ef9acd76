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
from typing import Annotated

from msgspec import Meta

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
    """Errors of distances and inner products of released vectors, on public data."""

    pairs: Annotated[int, Meta(description="Number of pairs of public words or texts.")]
    distance: Annotated[float, Meta(description="Mean distance without noise.")]
    expected_distance: Annotated[
        float, Meta(description="Mean distance to be expected with noise.")
    ]
    distance_error: Annotated[
        float, Meta(description="Mean absolute error of the distance.")
    ]
    corrected_error: Annotated[
        float, Meta(description="The same with the known part of the noise taken off.")
    ]
    product: Annotated[
        float, Meta(description="Mean absolute inner product without noise.")
    ]
    expected_product_error: Annotated[
        float,
        Meta(
            description=(
                "Standard deviation to be expected of the error of the inner product."
            )
        ),
    ]
    product_error: Annotated[
        float, Meta(description="Mean absolute error of the inner product.")
    ]


@dataclass(frozen=True, slots=True)
class Ruler:
    """Success of guesses of the original from a released vector, on public data."""

    of: Annotated[str, Meta(description="The public words or texts that are guessed.")]
    choices: Annotated[int, Meta(description="Number of these words or texts.")]
    draws: Annotated[int, Meta(description="Number of guesses.")]
    baseline: Annotated[
        Share, Meta(description="Success of the best guess without a vector.")
    ]
    nearest: Annotated[Share, Meta(description="Success of the nearest word or text.")]
    best: Annotated[
        Share | None,
        Meta(
            description=(
                "Success of the Bayes-optimal guess under the noise and the "
                "frequencies of words; null if the noise has no density."
            )
        ),
    ]
    low: Annotated[Share, Meta(description="Lower 95% limit of the better of the two.")]
    high: Annotated[
        Share, Meta(description="Upper 95% limit of the better of the two.")
    ]


@dataclass(frozen=True, slots=True)
class Measures:
    """Figures about public data."""

    distortion: Annotated[
        Distortion, Meta(description="Errors of distances and inner products.")
    ]
    noise_lengths: Annotated[
        tuple[float, float, float],
        Meta(description="Quantiles 5%, 50% and 95% of the length of the noise."),
    ]
    ruler: Annotated[Ruler, Meta(description="Success of guesses of the original.")]
