from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest

from dptext import registry, spaces
from dptext.spaces import Space
from dptext.types import Inputs
from tests import small

pytestmark = pytest.mark.quick

LEXICON = small.cloud(40, 5, listed=6, seed=21)
SETTINGS = [{"low": -0.1}, {"low": -0.2}, {"low": -0.1, "high": 0.1}]


def placed(name: str, **params: Any) -> Space:
    """Put the lexicon into a space with parameters."""
    module: Any = registry.find("spaces", name)
    return spaces.prepare(LEXICON, name, module.Params(**params))


def test_results_are_kept_by_parameters() -> None:
    """Spaces that differ in parameters alone share no geometry, order or constant."""
    clipped = [placed("clip", **params) for params in SETTINGS]
    assert len({space.geometry.diameter for space in clipped}) == len(clipped)
    assert len({space.identity for space in clipped}) == len(clipped)
    for params, space in zip(SETTINGS, clipped, strict=True):
        again = placed("clip", **params)
        assert again.geometry == space.geometry
        assert again.lipschitz.over(Inputs.WORDS) == space.lipschitz.over(Inputs.WORDS)
        np.testing.assert_array_equal(again.neighbours[0], space.neighbours[0])
        gaps = np.linalg.norm(space.vectors[:, None] - space.vectors[None], axis=2)
        assert space.geometry.diameter == pytest.approx(gaps.max(), rel=1e-6)


def test_a_space_without_parameters_is_known_by_its_name() -> None:
    """Shipped results of such a space stay valid."""
    assert placed("identity").identity == "identity"
    assert placed("unit").identity == "unit"


def test_the_original_space_holds_the_vectors_as_they_are() -> None:
    """Every space leads back to the lexicon's own distances."""
    np.testing.assert_array_equal(placed("clip").original.vectors, LEXICON.vectors)
    identity = placed("identity")
    assert identity.original is identity


@pytest.mark.parametrize(
    ("name", "constant"),
    [
        ("unit", 2.5349),
        ("ball", 1.0),
        ("interval", 43.9050),
        ("observed-range", 125.8031),
        ("clip", 1.0),
        ("jl", 1.9),
        ("identity", None),
    ],
)
def test_the_printed_constants_stand_beside(name: str, constant: float | None) -> None:
    """The sensitivity thesis, table 5.2."""
    assert placed(name).published == constant


def test_the_translation_shows_both_constants(monkeypatch: pytest.MonkeyPatch) -> None:
    """The exact one, rounded up, beside the printed one; nothing where none is due."""
    space = placed("interval")
    line = space.translated()
    printed = re.search(r"at most ([\d.]+) times", line)
    assert printed is not None
    assert (
        space.lipschitz.over(Inputs.WORDS)
        <= float(printed[1])
        <= space.lipschitz.over(Inputs.WORDS) + 2e-4
    )
    assert line.endswith("printed in the source is 43.905.")
    assert "Euclidean distance of the lexicon's vectors" in line
    assert placed("identity").translated() == ""
    assert space.translated(math.inf) == ""
    # A metric of half as much again as the space's distance counts for both.
    both = re.search(r"epsilon counts at most ([\d.]+) times", space.translated(1.5))
    assert both is not None
    assert (
        1.5 * space.lipschitz.over(Inputs.WORDS)
        <= float(both[1])
        <= 1.5 * space.lipschitz.over(Inputs.WORDS) + 2e-4
    )
    monkeypatch.setattr(spaces, "_PAIRED", 10)
    assert space.translated() == ""
