from __future__ import annotations

import numpy as np
import pytest

from dptext.spaces import ball, unit
from dptext.types import Inputs
from tests import prepared, small


def test_only_vectors_outside_the_ball_are_moved() -> None:
    """Those outside keep their direction and get length 1."""
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(200, 4)).astype(np.float32) * np.float32(0.6)
    moved = ball.Params().transform(vectors)
    outside = np.linalg.norm(vectors, axis=1) > 1
    assert 20 < outside.sum() < 180
    np.testing.assert_array_equal(moved[~outside], vectors[~outside])
    shortened = unit.Params().transform(vectors)[outside]
    np.testing.assert_array_equal(moved[outside], shortened)


@pytest.mark.parametrize("scale", [0.3, 1.0, 5.0])
def test_the_projection_never_parts_words(scale: float) -> None:
    """Its constant is at most 1, up to the rounding of vectors."""
    rng = np.random.default_rng(1)
    lexicon = small.lexicon(rng.normal(size=(300, 5)) * scale)
    assert prepared.space_of(lexicon, "ball").lipschitz.over(Inputs.WORDS) <= 1.0 + 1e-5


def test_long_vectors_alone_make_it_the_unit_space() -> None:
    """Where every norm is at least 1, unit and ball coincide, so do their constants."""
    rng = np.random.default_rng(2)
    vectors = rng.normal(size=(100, 30))
    vectors += 2.0
    lexicon = small.lexicon(vectors)
    one, other = (prepared.space_of(lexicon, name) for name in ("ball", "unit"))
    np.testing.assert_array_equal(one.vectors, other.vectors)
    assert one.lipschitz.over(Inputs.WORDS) == other.lipschitz.over(Inputs.WORDS) < 1.0
