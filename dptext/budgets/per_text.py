"""A public total per text, in equal parts for the words that are replaced in it.

The parts depend on nothing but the number of those words, which the output shows anyway
(docs/guarantees.md, 5).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from msgspec import Meta

from dptext.types import Eps, Words

LEVEL = "text"
DEPENDS_ON_TEXT = False


@dataclass(frozen=True, slots=True)
class Params:
    """epsilon of a whole text."""

    epsilon: Annotated[float, Meta(gt=0, le=1e6)]


def spread(params: Params, words: Words) -> Eps:
    """Return each word's part of its text's total, (n,) float64."""
    counts = np.bincount(words.texts, minlength=len(words.ends))
    parts: Eps = params.epsilon / counts[words.texts]
    return parts
