"""Regularised Mahalanobis noise: Laplace noise stretched along the words' spread.

M = lam S + (1 - lam) I, S the public covariance of the V word vectors scaled to trace
d; z = v + r M^(1/2) u, r ~ Gamma(d, 1 / eps), u a uniform direction.

Guarantee: epsilon * d_RM (metric DP) for each word, whatever mapping follows, with
d_RM(x, x') = sqrt((v - v')' M^-1 (v - v')). In the Euclidean distance epsilon counts
max d_RM / d_2 times, at most 1 / sqrt(1 - lam).
Known as: Regularized Mahalanobis.
Source: Xu et al. 2020, algorithm 1, arXiv:2010.11947; docs/guarantees.md, 2.
Known gaps: continuous noise in floating point; of a word only the word is released,
never the noisy vector (dptext embed releases vectors, rounded to a grid). An epsilon
here and the same epsilon of laplace speak of two metrics.
Example: dptext sanitize reviews.jsonl --field text --mechanism mahalanobis --epsilon 50
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, ClassVar

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dptext import cache, mechanisms, noise
from dptext.mechanisms import Aim, Family
from dptext.mechanisms.laplace import RadialNoise
from dptext.randomness import RandomBits
from dptext.spaces import Geometry, Space, cached_geometry, cached_lipschitz
from dptext.types import Constant, Eps, Floats, Guarantee, Inputs, MetricKind, blocks

_BLOCK = 4096
# With more rows than this, the Euclidean factor is bounded by M's least eigenvalue.
_PAIRED = 2**16


@dataclass(frozen=True, slots=True)
class Params(mechanisms.Params):
    """Settings of Mahalanobis noise."""

    family: ClassVar[Family] = Family.NOISE

    #: 0 is Laplace noise; towards 1 the noise follows the covariance of the words.
    lam: Annotated[float, Meta(ge=0, lt=1)] = 0.2

    def prepare(self, space: Space, aim: Aim) -> Mahalanobis:
        """Compute the covariance of the V word vectors and the roots of M."""
        width = space.vectors.shape[1]
        spread = covariance(space.vectors[: space.size])
        trace = float(np.trace(spread))
        # If all words coincide no direction is preferred.
        scaled = spread * (width / trace) if trace > 0.0 else np.eye(width)
        mixed = self.lam * scaled + (1.0 - self.lam) * np.eye(width)
        values, axes = np.linalg.eigh(mixed)
        # Rounding may give the covariance a negative eigenvalue.
        values = np.maximum(values, 1.0 - self.lam)
        root = (axes * np.sqrt(values)) @ axes.T
        inverse = (axes / np.sqrt(values)) @ axes.T
        return Mahalanobis(
            params=self,
            space=space,
            measured=space,
            stretch=1.0,
            root=root,
            inverse=inverse,
            least=float(values.min()),
        )


@dataclass(frozen=True, eq=False)
class Mahalanobis(RadialNoise):
    """Mahalanobis noise with the roots of M."""

    params: Params
    #: M^(1/2): (d, d).
    root: Floats = field(repr=False)
    #: M^(-1/2): (d, d).
    inverse: Floats = field(repr=False)
    #: The least eigenvalue of M.
    least: float

    @property
    def _key(self) -> tuple[object, ...]:
        """Return what the metric depends on other than lexicon and space."""
        return ("mahalanobis", self.params.lam)

    def whitened(self, rows: NDArray[np.floating]) -> NDArray[np.floating]:
        """Transform rows so that their Euclidean distance is d_RM: (n, d)."""
        return rows @ self.inverse.astype(rows.dtype)

    def vectors(self) -> Floats:
        """Return all vectors whitened, in float64: (V + 1, d)."""
        return noise.multiply(self.space.vectors, self.inverse)

    @cached_property
    def geometry(self) -> Geometry:
        """Return the public distances over V in d_RM, with diameter rounded up."""
        measured = cached_geometry(
            self.space, lambda: self.vectors().astype(np.float32), *self._key
        )
        # Whitened vectors are measured in single precision.
        longest = np.linalg.norm(self.space.vectors, axis=1).max()
        slack = 2.0**-22 * float(longest) / math.sqrt(self.least)
        return Geometry(measured.nearest, measured.median, measured.diameter + slack)

    def euclidean_factor(self, inputs: Inputs) -> Constant:
        """Return the factor of epsilon for Euclidean distance, rounded up.

        For words it is the largest d_RM / d_2 over all pairs. For other inputs, and for
        vocabularies of more than 65,535 words, it is 1 / sqrt of M's least eigenvalue.
        """
        if inputs is not Inputs.WORDS or len(self.space.vectors) > _PAIRED:
            return Constant((1.0 + 1e-9) / math.sqrt(self.least), Inputs.VECTORS)
        return self._factor_of_words

    @cached_property
    def _factor_of_words(self) -> Constant:
        digest, identity = self.space.lexicon.digest, self.space.identity
        key = cache.key_of("euclidean", digest, identity, *self._key)
        return cached_lipschitz(key, "factor", self.space.vectors, self.vectors)

    def guarantee_over(self, inputs: Inputs, epsilon: float) -> Guarantee:
        """Return the guarantee: metric DP in the Mahalanobis distance, with its factor.

        Means are no farther apart than words.
        """
        lam = self.params.lam
        factor = math.ceil(self.euclidean_factor(inputs).over(inputs) * 1e4) / 1e4
        metric = replace(
            self.space.distance,
            kind=MetricKind.MAHALANOBIS,
            name=f"regularised Mahalanobis distance (lambda {lam:g}), which is at most "
            f"{factor:.4f} times the {self.space.metric}",
            identity=f"{self.space.identity}, lambda {lam!r}",
        )
        source = "Xu et al. 2020, algorithm 1"
        return Guarantee.metric_dp(metric, self.geometry.diameter, source, factor)

    def noise(self, eps: Eps, bits: RandomBits) -> Floats:
        """Return elliptical noise: eps (n,) -> (n, d)."""
        return noise.multiply(noise.radial(bits, len(self.root), eps), self.root)


def covariance(vectors: NDArray[np.float32]) -> Floats:
    """Return the covariance of rows: (n, d) -> (d, d), in float64."""
    mean = vectors.mean(axis=0, dtype=np.float64)
    total = np.zeros((len(mean), len(mean)))
    for part in blocks(len(vectors), _BLOCK):
        gap = vectors[part] - mean
        total += gap.T @ gap
    return total / len(vectors)
