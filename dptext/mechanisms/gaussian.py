"""Gaussian noise on clipped vectors, calibrated by the exact (epsilon, delta) formula.

c(x) = v min(1, C / |v|); z = c(x) + N(0, sigma^2 I); the mapping looks for the nearest
c(w). Two words at distance D = |c(x) - c(x')| differ by mu = D / sigma (Gaussian DP),
and delta(epsilon; mu) = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu).
sigma is the least for which this is at most delta at the largest D over V.

Guarantee: (epsilon, delta)-LDP over all of V and unknown words, and mu-Gaussian DP with
mu = (largest D) / sigma. n words that may all differ: mu sqrt(n); in general
sqrt(sum of D^2) / sigma. No amplification by sampling is claimed: a text's own release
hides neither who takes part nor the author of each output.
Source: Balle and Wang 2018, theorem 8, arXiv:1805.06530; Dong, Roth and Su 2019,
arXiv:1905.02383; docs/guarantees.md, 2.
Known gaps: continuous noise in floating point; of a word only the word is released,
never the noisy vector (dptext embed releases vectors, rounded to a grid). The
sensitivity of clipped vectors is up to 2 C, not the C of published clipping layers.
Example: dptext sanitize reviews.jsonl --field text --mechanism gaussian --epsilon 8
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, ClassVar, Literal

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dptext import mechanisms, noise
from dptext.arrays import evaluate_each
from dptext.mechanisms import Aim, Family, NoiseMechanism
from dptext.noise import largest_mu
from dptext.randomness import RandomBits
from dptext.spaces import Geometry, Space, cached_geometry
from dptext.types import Constant, Eps, Floats, Guarantee, Ids, Inputs, Ints, Notion


@dataclass(frozen=True, slots=True)
class ClippedParams(mechanisms.Params):
    """Settings of noise on clipped vectors."""

    family: ClassVar[Family] = Family.NOISE

    #: C, the largest length of a vector.
    clip: Annotated[float, Meta(ge=1e-9, le=1e9)] = 1.0
    #: The largest distance of clipped vectors: exact over the vocabulary, or the worst
    #: case 2 C, which holds for any vectors.
    sensitivity: Literal["vocabulary", "worst"] = "vocabulary"

    def clipped(self, space: Space) -> NDArray[np.float32]:
        """Return all vectors clipped: (V + 1, d)."""
        return clip(space.vectors.astype(np.float64), self.clip).astype(np.float32)


def clip(vectors: Floats, longest: float) -> Floats:
    """Return each row v scaled by min(1, C / |v|): (n, d)."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(1.0, lengths / longest))


@dataclass(frozen=True, eq=False)
class Clipped(NoiseMechanism):
    """Noise that hides the largest distance between clipped vectors."""

    params: ClippedParams
    #: (V + 1, d) float32.
    clipped: NDArray[np.float32] = field(repr=False)

    @property
    def width(self) -> int:
        """Return the number of dimensions."""
        return int(self.clipped.shape[1])

    @property
    def output_vectors(self) -> NDArray[np.float32]:
        """Return the clipped vectors; means are no farther apart."""
        return self.clipped

    def position(self, vectors: Floats) -> Floats:
        """Clip vectors: (n, d)."""
        return clip(vectors, self.params.clip)

    @cached_property
    def geometry(self) -> Geometry:
        """Return the public distances between clipped vectors over V."""
        return cached_geometry(
            self.space, lambda: self.clipped, "gaussian", float(self.params.clip)
        )

    @cached_property
    def _largest(self) -> Constant:
        """Return the largest distance between inputs, and which inputs it covers."""
        if self.params.sensitivity == "worst":
            # Rounding to float32 may lengthen clipped vectors.
            distance = 2.0 * self.params.clip * (1.0 + 2.0**-22)
            return Constant(distance, Inputs.VECTORS)
        # If all vectors coincide there is nothing to hide, but a step of 0 is no grid.
        distance = self.geometry.diameter or self.params.clip
        # Of means, too: two points of a convex hull are no farther apart than corners.
        return Constant(distance * (1.0 + 1e-12), Inputs.MEANS)

    @property
    def sensitivity(self) -> float:
        """Return the largest distance that the noise must hide, rounded up."""
        return self._largest.over(Inputs.WORDS)

    def guarantee_over(self, inputs: Inputs, epsilon: float) -> Guarantee:
        """Return the guarantee for words. Raises UnprovenError for other inputs."""
        self._largest.over(inputs)
        return self.guarantee(epsilon)

    @cached_property
    def longest(self) -> float:
        """Return the largest possible coordinate of a clipped vector."""
        if self.params.sensitivity == "worst":
            return self.params.clip
        return float(np.abs(self.clipped).max())

    def unrounded(self, step: float) -> float:
        """Bound the double-precision error of a coordinate, in steps.

        0 up to 2^22 steps: these errors are below 1e-9 of a step, which is subtracted
        when a grid is chosen.
        """
        return self.longest * 2.0**-51 if self.longest > step * 2.0**22 else 0.0


@dataclass(frozen=True, eq=False)
class Discrete(Clipped):
    """Noise in whole steps of a grid, to which clipped vectors are rounded."""

    @abstractmethod
    def steps(self, bits: RandomBits) -> Ints:
        """Draw noise in steps: (n, d)."""

    def centres(self, ids: Ids, eps: Eps) -> NDArray[np.floating]:
        """Return words' clipped vectors rounded to the grid: (n, d)."""
        steps = evaluate_each(self.step, eps)[:, None]
        return noise.round_to_steps(self.clipped[ids], steps) * steps

    def noise(self, eps: Eps, bits: RandomBits) -> Floats:
        """Return noise in whole steps: eps (n,) -> (n, d)."""
        return self.steps(bits) * evaluate_each(self.step, eps)[:, None]

    def release(
        self, positions: NDArray[np.floating], epsilon: float, bits: RandomBits
    ) -> NDArray[np.float32]:
        """Release vectors at one epsilon: (n, d) -> (n, d) float32 on the grid."""
        step = self.step(epsilon)
        steps = noise.round_to_steps(positions, step)
        return noise.round_to_grid(steps + self.steps(bits), step)


@dataclass(frozen=True, slots=True)
class Params(ClippedParams):
    """Settings of Gaussian noise."""

    #: For each word. Normals made of 52-bit uniforms end at 8.6 sigma, so that smaller
    #: deltas would not hold.
    delta: Annotated[float, Meta(ge=1e-12, lt=1)] = 1e-5

    def prepare(self, space: Space, aim: Aim) -> Gaussian:
        """Clip all vectors."""
        return Gaussian(self, space, self.clipped(space))


@dataclass(frozen=True, eq=False)
class Gaussian(Clipped):
    """Gaussian noise on the clipped vectors."""

    params: Params

    def guarantee(self, epsilon: float) -> Guarantee:
        """Return the guarantee: (epsilon, delta)-LDP over the whole vocabulary."""
        delta = self.params.delta
        promise = Guarantee.ldp("Balle and Wang 2018, theorem 8")
        mu = largest_mu(epsilon, delta)
        return replace(promise, notion=Notion.APPROXIMATE, delta=delta, mu=mu)

    def sigma(self, epsilon: float) -> float:
        """Return the noise's standard deviation per coordinate."""
        return self.sensitivity / largest_mu(epsilon, self.params.delta)

    def noise(self, eps: Eps, bits: RandomBits) -> Floats:
        """Return Gaussian noise: eps (n,) nats -> (n, d)."""
        return bits.normal(0, self.width) * evaluate_each(self.sigma, eps)[:, None]

    def spread(self, epsilon: float) -> float:
        """Return the standard deviation sigma."""
        return self.sigma(epsilon)

    def standard_noise(
        self, ids: Ids, points: NDArray[np.float32], eps: Eps
    ) -> tuple[Floats, Floats, float]:
        """Return unit directions and Gamma(d / 2) amounts |z|^2 / 2 sigma^2."""
        drawn = points.astype(np.float64) - self.centres(ids, eps)
        directions, lengths = noise.split_directions(
            drawn / evaluate_each(self.sigma, eps)[:, None]
        )
        return directions, lengths**2 / 2.0, drawn.shape[1] / 2.0

    def log_density(
        self, observed: NDArray[np.floating], eps: Eps, words: Ids
    ) -> NDArray[np.floating]:
        """Return -|z - c(v)|^2 / (2 sigma^2) for each point z and word v: (n, m)."""
        # All callers have one epsilon; of several the first is taken.
        centres = self.centres(words, np.repeat(eps[:1], len(words)))
        squares = noise.squared_distances(observed, centres)
        with np.errstate(divide="ignore"):
            return noise.apply_rates(squares, 0.5 / evaluate_each(self.sigma, eps) ** 2)
