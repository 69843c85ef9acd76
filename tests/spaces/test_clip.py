from __future__ import annotations

import numpy as np
import pytest

from dptext import spaces
from dptext.errors import UsageError
from dptext.spaces import clip
from dptext.types import Inputs
from tests import small

LEXICON = small.cloud(500, 6, seed=8)


def test_coordinates_are_brought_between_the_borders() -> None:
    """Coordinates between the borders stay."""
    vectors = LEXICON.vectors
    moved = clip.Params(-0.5, 1.0).transform(vectors)
    np.testing.assert_array_equal(moved, np.clip(vectors, -0.5, 1.0))
    assert moved.dtype == np.float32


def test_the_default_borders_are_percentiles_of_the_words() -> None:
    """One coordinate in a hundred is beyond each; unknown words have no say."""
    vectors = LEXICON.vectors.copy()
    vectors[-1] = 100.0
    low, high = clip.Params().borders(vectors)
    words = vectors[:-1]
    assert (words < low).mean() == pytest.approx(0.01, abs=1e-3)
    assert (words > high).mean() == pytest.approx(0.01, abs=1e-3)
    assert clip.Params(low=-9.0).borders(vectors) == (-9.0, high)
    assert clip.Params().transform(vectors).max() == np.float32(high)


def test_crossed_borders_are_refused() -> None:
    """The message names both."""
    with pytest.raises(UsageError, match=r"space\.low: 2 is above space\.high: 1"):
        clip.Params(2.0, 1.0).transform(LEXICON.vectors)


@pytest.mark.parametrize("borders", [(None, None), (0.5, 2.0), (-1.0, -0.5)])
def test_clipping_never_parts_words(borders: tuple[float, float]) -> None:
    """Its constant is at most 1, also where zero is outside the borders."""
    space = spaces.prepare(LEXICON, "clip", clip.Params(*borders))
    assert space.lipschitz.over(Inputs.WORDS) <= 1.0 + 1e-8
