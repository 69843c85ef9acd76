"""Figures of released vectors in reports, measured on public words or texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from dptext.measures.bayes_risk import Share


@dataclass(frozen=True, slots=True, kw_only=True)
class Distortion:
    """Distances and inner products of released vectors against those without noise."""

    # No row: a size of the sample.
    pairs: Annotated[int, Meta(description="Number of pairs compared.")]
    distance: Annotated[float, Meta(description="Mean distance without noise.")]
    expected_distance: Annotated[
        float, Meta(description="Mean of the distances that noise makes expected.")
    ]
    distance_error: Annotated[
        float, Meta(description="Mean absolute error of a distance.")
    ]
    corrected_error: Annotated[
        float,
        Meta(
            description=(
                "Mean absolute error of a distance after the expected part of the "
                "noise is subtracted."
            )
        ),
    ]
    product: Annotated[float, Meta(description="Mean absolute inner product.")]
    expected_product_error: Annotated[
        float,
        Meta(description="Expected standard deviation of the error of a product."),
    ]
    product_error: Annotated[
        float, Meta(description="Mean absolute error of an inner product.")
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorAttack:
    """How often a guess of the original from a released vector is right."""

    of: Annotated[str, Meta(description="Public words or texts to choose from.")]
    choices: Annotated[int, Meta(description="Number of them.")]
    # No row: a size of the sample.
    draws: Annotated[int, Meta(description="Number of guesses.")]
    baseline: Annotated[
        Share, Meta(description="Success of the best guess without the vector.")
    ]
    nearest: Annotated[
        Share, Meta(description="Success of the nearest word or text as a guess.")
    ]
    best: Annotated[
        Share | None,
        Meta(
            description=(
                "Success of the best guess under the noise distribution and word "
                "frequencies; null if the noise has no density."
            )
        ),
    ]
    low: Annotated[
        Share, Meta(description="Lower 95% limit of the better of both successes.")
    ]
    high: Annotated[
        Share, Meta(description="Upper 95% limit of the better of both successes.")
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorMeasures:
    """Figures of attackers and distances on public data."""

    distortion: Annotated[
        Distortion, Meta(description="Distances and inner products, and their errors.")
    ]
    noise_lengths: Annotated[
        tuple[float, float, float],
        Meta(description="Lengths of the noise: quantiles 5%, 50% and 95%."),
    ]
    ruler: Annotated[
        VectorAttack, Meta(description="Success of attackers with a list of choices.")
    ]
