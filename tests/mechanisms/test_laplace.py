from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import integrate, special, stats

from dptext import randomness
from dptext.mappings import Index, nearest, two_nearest
from dptext.mechanisms import Aim, laplace
from dptext.spaces import Space
from dptext.types import Ids, Inputs, Lexicon
from tests import distributions, prepared, small

pytestmark = pytest.mark.quick

LINE = small.line(0.0, 1.0, 3.0)
NEAREST = [
    [0.8160602794, 0.1747819011, 0.0091578194],
    [0.1839397206, 0.7483926378, 0.0676676416],
    [0.0033689735, 0.0642986681, 0.9323323584],
]
TWO_NEAREST = [
    [0.6886283784, 0.2994065645, 0.0119650571],
    [0.2446837097, 0.6669058123, 0.0884104779],
    [0.0064238991, 0.1879117925, 0.8056643084],
]
TWO_NEAREST_075 = [0.5606077792, 0.4254020490, 0.0139901718]
POINTS = [0.0, 1.0, 3.0]


def plain(space: Space) -> laplace.Laplace:
    """Make the mechanism ready without calibration."""
    return laplace.Params().prepare(space, Aim())


def density(z: float, x: float, epsilon: float) -> float:
    """Return the density of one-dimensional Laplace noise around x."""
    return epsilon / 2.0 * float(np.exp(-epsilon * abs(z - x)))


def exact_nearest(x: float, epsilon: float) -> NDArray[np.float64]:
    """Return the law of the nearest of POINTS after noise, in closed form."""
    borders = [-np.inf, *((a + b) / 2 for a, b in pairwise(POINTS)), np.inf]
    below = stats.laplace.cdf(borders, loc=x, scale=1.0 / epsilon)
    return np.diff(below)


def exact_two(x: float, epsilon: float, t: float) -> NDArray[np.float64]:
    """Return the law of Vickrey's rule over all of POINTS, by quadrature."""
    law = np.zeros(3)
    cuts = sorted(
        {-40.0, 40.0, x, *POINTS, *[(a + b) / 2 for a in POINTS for b in POINTS]}
    )
    for low, high in pairwise(cuts):
        middle = (low + high) / 2.0
        first, second = np.argsort([abs(middle - p) for p in POINTS])[:2]

        def share(z: float, one: int = first, two: int = second) -> float:
            near, far = abs(z - POINTS[one]), abs(z - POINTS[two])
            return (1 - t) * far / (t * near + (1 - t) * far) * density(z, x, epsilon)

        taken = integrate.quad(share, low, high, epsabs=1e-14)[0]
        whole = integrate.quad(density, low, high, (x, epsilon), epsabs=1e-14)[0]
        law[first] += taken
        law[second] += whole - taken
    return law


def draw(lexicon: Lexicon, ids: Ids, eps: NDArray[np.float64], t: float | None) -> Ids:
    """Draw words: nearest, or one of two nearest at t."""
    space = prepared.space_of(lexicon)
    bits = distributions.bits(len(ids), seed=3)
    points = plain(space).sample(ids, eps, bits)
    index = Index(space.vectors, space.size)
    if t is None:
        return nearest.Params().prepare(index).find(points, bits)
    lanes = bits.since(randomness.MAPPING_LANE)
    return two_nearest.Params(t).prepare(index).find(points, lanes)


def test_the_closed_forms_are_the_published_vectors() -> None:
    """Nearest and first-or-second of {0, 1, 3} at epsilon 2."""
    for row, x in enumerate(POINTS):
        np.testing.assert_allclose(exact_nearest(x, 2.0), NEAREST[row], atol=1e-10)
        np.testing.assert_allclose(exact_two(x, 2.0, 0.5), TWO_NEAREST[row], atol=1e-9)
    np.testing.assert_allclose(exact_two(0.0, 2.0, 0.75), TWO_NEAREST_075, atol=1e-9)


@pytest.mark.parametrize("t", [None, 0.0, 0.5, 0.75, 1.0])
def test_draws_on_a_line_follow_the_law(t: float | None) -> None:
    """Noise and mapping against the closed form, epsilons mixed (alarm 1e-6)."""
    ids = np.tile(np.array([0, 1, 2, -1], np.int32), 12_000)
    eps = np.array([2.0, 0.7])[np.arange(len(ids)) // 4 % 2]
    drawn = draw(LINE, ids, eps, t)
    assert drawn.dtype == np.int32
    unknown = float(LINE.vectors[-1, 0])
    for row, x in ((0, 0.0), (1, 1.0), (2, 3.0), (-1, unknown)):
        for epsilon in (2.0, 0.7):
            law = exact_nearest(x, epsilon) if not t else exact_two(x, epsilon, t)
            mine = drawn[(ids == row) & (eps == epsilon)]
            distributions.assert_follows(mine, law / law.sum(), distributions.ALARM / 8)


@pytest.mark.parametrize("width", [1, 2, 3, 50, 51])
def test_the_length_is_gamma_and_the_direction_uniform(width: int) -> None:
    """|noise| ~ Gamma(d, 1/eps) and any axis of the direction is as it should be."""
    size, epsilon = 20_000, 3.0
    space = prepared.space_of(small.lexicon(np.zeros((2, width))))
    ids = np.zeros(size, np.int32)
    moved = plain(space).sample(ids, np.full(size, epsilon), distributions.bits(size))
    assert moved.shape == (size, width)
    assert moved.dtype == np.float32
    prepared.hold_spherical(moved.astype(np.float64), epsilon)


@pytest.mark.parametrize(
    ("width", "epsilon", "t", "expected"),
    [
        (1, 2.0, 0.5, 0.1839397206),
        (2, 2.0, 0.5, 0.2385130725),
        (50, 10.0, 1.0, 0.0797050343),
        (300, 10.0, 1.0, 0.2817434977),
        (300, 50.0, 1.0, 0.0020551088),
    ],
)
def test_projections_have_the_published_tail(
    width: int, epsilon: float, t: float, expected: float
) -> None:
    """P(<noise, u> >= t), by quadrature and by draws (1e-6)."""

    def tail(g: float) -> float:
        shape = (width + 1) / 2.0
        log_density = (shape - 1) * np.log(g) - g - special.gammaln(shape)
        return float(np.exp(log_density) * stats.norm.sf(epsilon * t / np.sqrt(2 * g)))

    peak = (width + 1) / 2.0
    spread = 12 * np.sqrt(peak) + 40
    low = max(peak - spread, 0.0)
    exact = integrate.quad(tail, low, peak + spread, points=[peak], limit=300)[0]
    assert exact == pytest.approx(expected, abs=2e-10)
    size = 20_000
    space = prepared.space_of(small.lexicon(np.zeros((1, width))))
    ids = np.zeros(size, np.int32)
    moved = plain(space).sample(
        ids, np.full(size, epsilon), distributions.bits(size, 5)
    )
    axis = np.ones(width) / np.sqrt(width)
    beyond = (moved @ axis >= t).astype(int)
    distributions.assert_follows(beyond, np.array([1 - exact, exact]))


@pytest.mark.parametrize("width", [1, 2, 7, 50])
def test_noise_is_the_same_to_the_last_bit_in_any_batch(width: int) -> None:
    """A word's noisy vector does not depend on the words drawn with it."""
    space = prepared.space_of(small.cloud(9, width))
    ids = np.arange(-1, 9, dtype=np.int32)
    prepared.hold_batches(plain(space), ids, np.linspace(0.5, 5.0, 10))


def test_noise_is_added_to_the_vector_of_the_word() -> None:
    """Same bits at two words differ by the difference of their vectors."""
    space = prepared.space_of(small.cloud(4, 3))
    eps = np.full(1, 2.0)
    moved = [
        plain(space).sample(np.array([row], np.int32), eps, distributions.bits(1))
        for row in (0, 2, -1)
    ]
    for row, other in ((0, 0), (2, 1), (-1, 2)):
        gap = moved[other] - moved[0]
        np.testing.assert_allclose(
            gap[0], space.vectors[row] - space.vectors[0], atol=1e-5
        )


@pytest.mark.parametrize("name", ["identity", "interval", "clip"])
def test_calibrated_noise_counts_the_lexicon_s_distance(name: str) -> None:
    """The noise is longer by the exact constant; reach and metric are the lexicon's."""
    lexicon = small.cloud(60, 4)
    space = prepared.space_of(lexicon, name)
    ids, eps = np.arange(-1, 60, dtype=np.int32), np.full(61, 3.0)
    mechanism = laplace.Params("lexicon").prepare(space, Aim())
    moved = mechanism.sample(ids, eps, distributions.bits(61))
    other = plain(space).sample(
        ids, eps / space.lipschitz.over(Inputs.WORDS), distributions.bits(61)
    )
    np.testing.assert_allclose(moved, other, rtol=1e-5, atol=1e-5)
    promise = mechanism.guarantee(3.0)
    assert promise.metric.name == "Euclidean distance of the lexicon's vectors"
    assert promise.max_distance == space.original.geometry.diameter
    assert mechanism.geometry == space.original.geometry
