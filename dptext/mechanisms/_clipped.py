"""What mechanisms share whose noise hides the largest distance of clipped vectors."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, ClassVar, Literal

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dptext import mechanisms, noise
from dptext.mechanisms import Family, NoiseMechanism
from dptext.spaces import Geometry, Space, geometry_of
from dptext.types import Constant, Guarantee, Inputs


@dataclass(frozen=True, slots=True)
class Params(mechanisms.Params):
    """clip: C.

    sensitivity: the largest distance of clipped vectors, exact over the "vocabulary"
    or, whatever the vocabulary, the "worst" case 2 C.
    """

    family: ClassVar[Family] = Family.NOISE

    clip: Annotated[float, Meta(ge=1e-9, le=1e9)] = 1.0
    sensitivity: Literal["vocabulary", "worst"] = "vocabulary"

    def clipped(self, space: Space) -> NDArray[np.float32]:
        """Return c of every row: (V + 1, d)."""
        return clip(space.vectors.astype(np.float64), self.clip).astype(np.float32)


def clip(vectors: NDArray[np.float64], longest: float) -> NDArray[np.float64]:
    """Return c(v) = v min(1, C / |v|) of each row: (n, d)."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    clipped: NDArray[np.float64] = vectors / np.maximum(1.0, lengths / longest)
    return clipped


@dataclass(frozen=True, eq=False)
class Clipped(NoiseMechanism):
    """clipped (V + 1, d) float32: c of every row."""

    params: Params
    clipped: NDArray[np.float32] = field(repr=False)

    @property
    def width(self) -> int:
        """Return the number of dimensions."""
        return int(self.clipped.shape[1])

    @property
    def output_vectors(self) -> NDArray[np.float32]:
        """Return where the words lie before noise: the clipped vectors."""
        return self.clipped

    @property
    def inputs(self) -> NDArray[np.float32]:
        """Return the clipped vectors: means of them are no farther apart."""
        return self.clipped

    def position(self, vectors: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return c of vectors: (n, d)."""
        return clip(vectors, self.params.clip)

    @cached_property
    def _geometry(self) -> Geometry:
        return geometry_of(
            self.space,
            lambda: self.clipped,
            "gaussian",
            float(self.params.clip),
        )

    def geometry(self, epsilon: float) -> Geometry:
        """Return the public distances over V of the clipped vectors."""
        return self._geometry

    @cached_property
    def _largest(self) -> Constant:
        """Return the largest distance; within a hull it is that of two corners."""
        if self.params.sensitivity == "worst":
            # Clipped vectors are rounded to float32.
            most = 2.0 * self.params.clip * (1.0 + 2.0**-22)
            return Constant(most, Inputs.VECTORS)
        # Where all vectors coincide there is nothing to hide, and no step of 0.
        most = self._geometry.diameter or self.params.clip
        return Constant(most * (1.0 + 1e-12), Inputs.MEANS)

    @property
    def sensitivity(self) -> float:
        """Return the largest distance that the noise must hide, rounded up."""
        return self._largest.over(Inputs.WORDS)

    def guarantee_over(self, inputs: Inputs, epsilon: float) -> Guarantee:
        """Return the guarantee of words where the noise hides other inputs, too."""
        self._largest.over(inputs)
        return self.guarantee(epsilon)

    @cached_property
    def longest(self) -> float:
        """Return the largest coordinate that a clipped vector can have."""
        if self.params.sensitivity == "worst":
            return self.params.clip
        return float(np.abs(self.clipped).max())

    def unrounded(self, step: float) -> float:
        """Return what quotients in double precision add to the distance of two vectors.

        In each coordinate. 0 up to 2^22 steps: these are within 1e-9 of a step, which
        is taken off where a grid is chosen.
        """
        return self.longest * 2.0**-51 if self.longest > step * 2.0**22 else 0.0

    def on_grid(
        self, ids: NDArray[np.integer], steps: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Round the clipped vectors of words to whole steps (n,): (n, d) of these."""
        return noise.whole_steps(self.clipped[ids], steps[:, None])
