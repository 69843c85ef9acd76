"""The same epsilon for every word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from msgspec import Meta

from dptext.types import Eps, Words

LEVEL = "word"
DEPENDS_ON_TEXT = False


@dataclass(frozen=True, slots=True)
class Params:
    """epsilon per word; or risk, from which the epsilon is computed before the run."""

    epsilon: Annotated[float, Meta(gt=0, le=1e6)] | None = None
    risk: Annotated[float, Meta(gt=0, lt=1)] | None = None


def spread(params: Params, words: Words) -> Eps:
    """Return the epsilon of each word, (n,) float64."""
    assert params.epsilon is not None  # a risk has been turned into an epsilon by now
    return np.full(len(words.ids), params.epsilon)
