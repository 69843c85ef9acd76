"""Report figures for released vectors, measured on public words or texts.

At a small loss of a text, its noise is far larger than the distance between texts. The
usefulness of such vectors was measured on public news; these figures ship (python -m
benchmarks text_vectors), keyed by everything the vectors depend on. What a classifier
learns at one loss is an upper limit for every smaller loss.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from dptext import cache
from dptext.measures.bayes_risk import Share

TEXT_VECTORS_FILE = "text_vectors.json"
# Settings that decide a vector, beside the loss of a text.
_SETTINGS = ("space", "mechanism", "tokens")


@dataclass(frozen=True, slots=True, kw_only=True)
class Distortion:
    """Distances and inner products of released vectors versus noiseless ones."""

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
    """How often the original is guessed correctly from a released vector."""

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
        Share,
        Meta(description="Lower 95% confidence limit of the higher success rate."),
    ]
    high: Annotated[
        Share, Meta(description="Upper 95% limit of the better of both successes.")
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorMeasures:
    """Attacker and distance figures on public data."""

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


@dataclass(frozen=True, kw_only=True, slots=True)
class TopicAccuracy:
    """Accuracy of a linear classifier on the topics of public texts."""

    #: `text_vectors_key` of the settings.
    settings: str
    #: The largest loss between two texts, in nats.
    loss: float
    corpus: str
    texts: int
    #: How often the classifier is right; by chance; and on vectors without noise.
    accuracy: float
    chance: float
    original: float
    #: Standard deviations of a coordinate: of the noise, and of texts without it.
    noise: float
    spread: float


def text_vectors_key(settings: Mapping[str, Any], lexicon: str) -> str:
    """Return the key of figures: the release's settings and the lexicon's digest."""
    options = settings.get("embed")
    if not isinstance(options, Mapping):  # settings of a report may be anything
        return ""
    if options.get("public") is not None:
        return ""  # directions of other texts than those that were measured
    pool = options.get("pool")
    weight = options.get("sif") if pool == "sif" else None
    chosen = {name: settings.get(name) for name in _SETTINGS}
    return cache.key_of("text vectors", 1, lexicon, pool, weight, chosen)


def worth_of_texts(
    settings: Mapping[str, Any], lexicon: str, loss: float | None
) -> TopicAccuracy | None:
    """Return figures at the smallest measured loss that is at least `loss`, or None."""
    file = cache.shipped_file().with_name(TEXT_VECTORS_FILE)
    known = msgspec.convert(
        cache.shipped_entry(file, "measured") or [], tuple[TopicAccuracy, ...]
    )
    name = text_vectors_key(settings, lexicon)
    rows = [row for row in known if row.settings == name]
    larger = [row for row in rows if loss is not None and loss <= row.loss]
    return min(larger, key=lambda row: row.loss, default=None)
