"""P(y|x) of santext and tem by its definition, to check computed ones against."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dptext.exponential import TruncatedMetricMechanism
from dptext.types import Lexicon
from tests import distributions

RECIPES: list[tuple[str, dict[str, Any]]] = [
    ("santext", {}),
    ("tem", {"gamma": 0.8}),
    ("tem", {"gamma": 2.5}),
    ("tem", {"beta": 0.2}),
    ("tem", {"beta": 0.001}),
]


def distances(lexicon: Lexicon) -> NDArray[np.float64]:
    """Return d(x, y) for all inputs, the unknown one last, by direct differences."""
    wide = lexicon.vectors.astype(np.float64)
    gaps: NDArray[np.float64] = wide[:, None, :] - wide[None, :-1, :]
    return np.asarray(np.linalg.norm(gaps, axis=2))


def expected(
    mechanism: TruncatedMetricMechanism, epsilon: float
) -> NDArray[np.float64]:
    """Return P(y|x) of all inputs by its definition: (V + 1, V)."""
    t = distances(mechanism.space.lexicon)
    t = np.minimum(t, mechanism.truncation(epsilon))
    return distributions.normalised(-epsilon * t / 2.0)
