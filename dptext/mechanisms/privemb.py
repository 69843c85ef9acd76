"""PrivEmb: a public random projection, then multivariate Laplace noise.

z = P v + noise, P (m, d) with entries N(0, 1/m) drawn from the public seed, density of
the noise ~ exp(-epsilon |noise| / L). m is given, or the least that beta and delta ask
for (as in the space jl). L is the exact constant of the matrix drawn, the largest
|P(v - v')| / |v - v'| over all pairs of the vocabulary ("vocabulary"); its spectral
norm, which holds for any vectors ("worst"); or 1 + beta ("published").

Guarantee: epsilon * d (metric DP) for each word, d the distance before the projection,
pure, whatever beta and delta; with "published" epsilon L / (1 + beta) * d.
Known as: PrivEmb.
Source: Feyisetan and Kasiviswanathan 2021 (PrivEmb), section 3: noise for 1 + beta, and
delta the chance that the matrix, before anybody looks at it, is no good; docs/embed.md.
Known gaps: continuous noise in floating point; of a word only the word is released,
never the noisy vector (dptext embed releases vectors, rounded to a grid).
Example: dptext sanitize reviews.jsonl --field text --mechanism privemb --epsilon 50
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Annotated, ClassVar, Literal

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dptext import cache, mechanisms, noise
from dptext.mechanisms import Aim, Family
from dptext.mechanisms.laplace import Laplace
from dptext.spaces import Geometry, Space, cached_lipschitz, jl
from dptext.types import Constant, Floats, Ids, Inputs


@dataclass(frozen=True, slots=True)
class Params(mechanisms.Params):
    """Settings of PrivEmb."""

    family: ClassVar[Family] = Family.NOISE

    #: m; None: the least that beta and delta require.
    dimensions: Annotated[int, Meta(ge=1)] | None = None
    beta: Annotated[float, Meta(gt=0, le=1e6)] = 0.9
    delta: Annotated[float, Meta(gt=0, lt=1)] = 1e-6
    #: Public; determines the matrix.
    seed: Annotated[int, Meta(ge=0, le=2**63 - 1)] = 0
    #: The factor L of the noise, as above.
    constant: Literal["vocabulary", "worst", "published"] = "vocabulary"

    def prepare(self, space: Space, aim: Aim) -> PrivEmb:
        """Draw the matrix and compute its constant."""
        rows, width = space.vectors.shape
        wanted = self.dimensions or jl.least_dimensions(
            rows, self.beta, self.delta, width
        )
        drawn = jl.matrix(self.seed, width, min(wanted, width))
        settings = {"of": space.identity, "seed": self.seed, "m": drawn.shape[1]}
        projected = replace(
            space,
            name="projected",
            metric=f"{space.metric}, projected",
            transformed=partial(_project, space, drawn),
            params=json.dumps(settings, sort_keys=True),
            published=None,
        )
        stretch = {
            "vocabulary": lambda: constant(space, projected).over(Inputs.WORDS),
            "worst": lambda: spectral(drawn).over(Inputs.VECTORS),
            "published": lambda: 1.0 + self.beta,
        }[self.constant]()
        return PrivEmb(
            params=self,
            space=projected,
            measured=space,
            stretch=stretch or 1.0,
            matrix=drawn,
        )


def _project(space: Space, drawn: Floats) -> NDArray[np.float32]:
    return noise.multiply(space.vectors, drawn).astype(np.float32)


def constant(space: Space, projected: Space) -> Constant:
    """Return the largest ratio of distances after and before, rounded up."""
    key = cache.key_of("privemb", space.lexicon.digest, projected.identity)
    return cached_lipschitz(key, "constant", space.vectors, lambda: projected.vectors)


def spectral(matrix: Floats) -> Constant:
    """Return the largest factor by which the matrix stretches a vector, rounded up."""
    return Constant(float(np.linalg.norm(matrix, 2)) * (1.0 + 1e-9), Inputs.VECTORS)


@dataclass(frozen=True, eq=False)
class PrivEmb(Laplace):
    """The PrivEmb mechanism with its projection matrix."""

    source: ClassVar[str] = "PrivEmb, section 3"

    params: Params
    #: The projection: (d, m).
    matrix: Floats = field(repr=False)

    @property
    def inputs(self) -> NDArray[np.float32]:
        """Return the vectors before the projection, which is linear: (V + 1, d)."""
        return self.measured.vectors

    @property
    def compared(self) -> NDArray[np.float32]:
        """Return the vectors before the projection."""
        return self.measured.vectors

    def position(self, vectors: Floats) -> Floats:
        """Project vectors: (n, d) -> (n, m)."""
        return noise.multiply(vectors, self.matrix)

    def constant(self, inputs: Inputs) -> Constant:
        """Return the matrix's Lipschitz constant: exact for pairs of words."""
        if inputs is Inputs.WORDS and self.params.constant != "worst":
            return self._constant_of_words
        return spectral(self.matrix)

    @cached_property
    def _constant_of_words(self) -> Constant:
        return constant(self.measured, self.space)

    @property
    def geometry(self) -> Geometry:
        """Return the public distances over V before the projection."""
        before, times = self.measured.geometry, self.factor(Inputs.WORDS)
        return Geometry(
            before.nearest * times, before.median * times, before.diameter * times
        )

    def claimed_loss(self, a: Ids, b: Ids, epsilon: float) -> Floats:
        """Return the loss bound for pairs of inputs: (n,) nats."""
        return super().claimed_loss(a, b, epsilon) * self.factor(Inputs.WORDS)
