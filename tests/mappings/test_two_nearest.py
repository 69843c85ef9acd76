"""One of the two nearest words of each point."""

from __future__ import annotations

import numpy as np
import pytest

from dptext.mappings import Index, two_nearest
from tests import distributions

# Words at 0, 1 and 3 on a line; the last row is for unknown words.
VECTORS = np.array([[0.0], [1.0], [3.0], [9.0]], np.float32)
INDEX = Index(VECTORS, 3)


@pytest.mark.parametrize(("t", "word"), [(0.0, 1), (1.0, 2)])
def test_the_ends_of_t_take_the_nearest_or_the_second(t: float, word: int) -> None:
    """At 1.8 the nearest word is that at 1, the second that at 3."""
    points = np.full((50, 1), 1.8, np.float32)
    words = two_nearest.Params(t).prepare(INDEX).find(points, distributions.bits(50))
    assert set(words.tolist()) == {word}


@pytest.mark.parametrize("t", [0.25, 0.5, 0.75])
def test_the_share_of_the_nearest_follows_the_distances(t: float) -> None:
    """(1 - t) far / (t near + (1 - t) far), by 20,000 draws (alarm 1e-6)."""
    size = 20_000
    points = np.full((size, 1), 1.8, np.float32)
    near, far = 0.8, 1.2
    share = (1 - t) * far / (t * near + (1 - t) * far)
    words = two_nearest.Params(t).prepare(INDEX).find(points, distributions.bits(size))
    hits = np.array([(words == 1).sum(), (words == 2).sum()])
    assert hits.sum() == size
    low, high = distributions.limits(hits, size, distributions.ALARM)
    assert low[0] < share < high[0]


def test_a_point_on_a_word_stays_there() -> None:
    """Nothing is nearer than a distance of 0."""
    points = np.full((100, 1), 3.0, np.float32)
    words = two_nearest.Params().prepare(INDEX).find(points, distributions.bits(100))
    assert set(words.tolist()) == {2}
