"""The search for the nearest words: exact, and the same on every device."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from dptext import pipeline, profile
from dptext.errors import UsageError
from dptext.mappings import Index
from dptext.run.choices import Choices, read_keys
from tests import small

# torch's name of the processor: the search of a graphics processor without one.
TORCH = "cpu:0"


def in_float64(
    vectors: NDArray[np.float32], points: NDArray[np.float32], count: int
) -> NDArray[np.int64]:
    """Return the nearest words by a full product in float64, the smaller id first."""
    wide = vectors.astype(np.float64)
    scores = points.astype(np.float64) @ wide.T - (wide**2).sum(axis=1) / 2.0
    return np.argsort(-scores, axis=1, kind="stable")[:, :count]


def close_words(size: int, width: int) -> NDArray[np.float32]:
    """Return vectors of which many are as near to a point as float32 can tell."""
    rng = np.random.default_rng(7)
    vectors = rng.normal(size=(size, width)).astype(np.float32)
    twins = vectors[: size // 2]
    vectors[size - len(twins) :] = twins * np.float32(1.0 + 2.0**-22)
    return vectors


def index(vectors: NDArray[np.float32], device: str) -> Index:
    """Return the search on a device, of all rows."""
    if device != "cpu":
        pytest.importorskip("torch")
    return Index(vectors, len(vectors)).on(device)


@pytest.mark.parametrize("device", ["cpu", TORCH])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_float64_decides_where_single_precision_cannot(device: str, count: int) -> None:
    """Pairs of words that differ by a unit in the last place, in several tiles."""
    vectors = close_words(1500, 24)
    points = np.random.default_rng(1).normal(size=(700, 24)).astype(np.float32) * 9
    wanted = in_float64(vectors, points, count)
    np.testing.assert_array_equal(index(vectors, device).nearest(points, count), wanted)
    # The test can fail: products in single precision alone choose other words.
    halves = (vectors.astype(np.float64) ** 2).sum(axis=1) / 2.0
    scores = points @ vectors.T - halves.astype(np.float32)
    assert (scores.argmax(axis=1) != wanted[:, 0]).any()


@pytest.mark.parametrize("device", ["cpu", TORCH])
@pytest.mark.parametrize(
    ("size", "count"), [(1, 1), (2, 2), (5, 3), (300, 299), (390, 2), (800, 780)]
)
def test_few_words_of_which_many_are_asked_for(
    device: str, size: int, count: int
) -> None:
    """Fewer tiles than words that are asked for, and no more words than those."""
    vectors = close_words(size, 6)
    points = np.random.default_rng(2).normal(size=(40, 6)).astype(np.float32)
    wanted = in_float64(vectors, points, count)
    np.testing.assert_array_equal(index(vectors, device).nearest(points, count), wanted)


@pytest.mark.parametrize("device", ["cpu", TORCH])
def test_of_equal_words_in_other_tiles_the_smaller_id_comes_first(device: str) -> None:
    """The same vectors again 1,000 words later."""
    half = np.random.default_rng(3).normal(size=(1000, 8)).astype(np.float32)
    points = np.random.default_rng(4).normal(size=(40, 8)).astype(np.float32)
    first = index(np.vstack((half, half)), device).nearest(points, 2)
    np.testing.assert_array_equal(first[:, 1], first[:, 0] + 1000)


@pytest.mark.parametrize("device", ["cpu", TORCH])
@pytest.mark.parametrize("size", [1, 2, 512, 513])
def test_more_words_than_there_are_give_all(device: str, size: int) -> None:
    """Every word once, whether it is in the first tile or in the last."""
    vectors = np.random.default_rng(5).normal(size=(size, 3)).astype(np.float32)
    nearest = index(vectors, device).nearest(vectors[:2], size + 5)
    assert nearest.shape == (min(2, size), size)
    assert (np.sort(nearest, axis=1) == np.arange(size)).all()


@pytest.mark.parametrize("device", ["cpu", TORCH])
def test_points_far_away_and_words_at_0_are_no_exception(device: str) -> None:
    """Noise of an absurdly small epsilon; a lexicon without any direction."""
    vectors = close_words(600, 5)
    points = np.random.default_rng(6).normal(size=(9, 5)).astype(np.float32) * 1e14
    wanted = in_float64(vectors, points, 1)
    np.testing.assert_array_equal(index(vectors, device).nearest(points, 1), wanted)
    nowhere = index(np.zeros((700, 5), np.float32), device)
    assert (nowhere.nearest(points, 2) == [0, 1]).all()


@pytest.mark.parametrize("device", ["cuda:99", "abacus", "meta"])
def test_a_device_that_is_not_there_is_an_error_of_one_line(device: str) -> None:
    """It says which setting, and why."""
    pytest.importorskip("torch")
    with pytest.raises(UsageError, match=f"^mapping.device: {device} cannot be used: "):
        Index(np.ones((2, 2), np.float32), 2).on(device)


def test_where_words_are_sought_changes_no_nonce() -> None:
    """The same identity, so that keyed draws are the same on another device."""
    pytest.importorskip("torch")
    settings = {"mechanism": "laplace", "budget": {"name": "uniform", "epsilon": 8}}
    lexicon = small.cloud(40, 4)

    def built(device: str) -> str:
        mapping = {"name": "nearest", "device": device}
        recipe = profile.resolved({**settings, "mapping": mapping}, "x", "y")
        return pipeline.build(recipe, lexicon).identity

    assert built("cpu") == built(TORCH)


def test_settings_of_the_mapping_go_with_another_mechanism() -> None:
    """--mechanism laplace --set mapping.device=cuda: the usual mapping, there."""
    keys = read_keys(["mapping.device=cuda"])
    over = Choices(overrides=keys, mechanism="laplace").keys
    assert over["mapping"] == {"name": "nearest", "device": "cuda"}
