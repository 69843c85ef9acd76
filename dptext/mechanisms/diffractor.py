"""1-Diffractor: noise on a word's place in one-dimensional chains of the vocabulary.

One of the chains is drawn for each word; with i the word's place on it,
geometric: the place written is i plus two-sided geometric noise, cut at the ends;
    P ~ exp(-eps |i - j| / scale), and the ends take what lies beyond them.
tem: P(j|i) ~ exp(-eps min(|i - j| / scale, gamma) / 2).

Guarantee: epsilon * D (metric DP), D the distance of the places over `scale`, the
largest over all chains; with tem epsilon * min(D, gamma). D is a number of places on a
greedy chain, not a distance in meaning. Unknown words have a place, so they are
covered.
Source: Meisenbacher, Chevli and Matthes, IWSPA 2024, arXiv:2405.01678.
Known gaps: words near in meaning may stand far apart on a chain, and then the loss
between them is large. The published code keeps stop words and unknown words (here a
setting of the tokens) and is seeded with 42 unless told otherwise.
Example: dptext sanitize reviews.jsonl --mechanism diffractor --epsilon 1
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dptext.mechanisms import _geometric
from dptext.mechanisms._chains import Chains
from dptext.randomness import RandomBits
from dptext.spaces import Geometry, Space
from dptext.types import Eps, Guarantee, Ids, VaryingEpsilon

FAMILY = "choice"
_ROWS = 32
_GAPS = (
    "The distance is a number of places on greedy chains of the vocabulary: words of "
    "near meaning may stand far apart on them.",
)


@dataclass(frozen=True, slots=True)
class Params:
    """chains are drawn by the public seed; scale divides the distance in places.

    gamma bounds the distance of tem; when absent it follows from beta and epsilon:
    beta bounds the probability of an output farther than gamma.
    """

    noise: Literal["geometric", "tem"] = "geometric"
    chains: Annotated[int, Meta(ge=1, le=64)] = 1
    scale: Annotated[float, Meta(ge=1e-12, le=1e12)] = 1.0
    gamma: Annotated[float, Meta(ge=1e-12, le=1e12)] | None = None
    beta: Annotated[float, Meta(ge=1e-15, lt=1)] = 0.001
    seed: Annotated[int, Meta(ge=0)] = 0


@dataclass(frozen=True, slots=True)
class State:
    """The chains, and epsilon * gamma where gamma follows from beta."""

    params: Params
    chains: Chains
    product: float


def prepare(params: Params, space: Space) -> State:
    """Build the chains, or take them from the cache."""
    chains = Chains.of(space, params.chains, params.seed)
    odds = (1.0 - params.beta) * (space.size - 1) / params.beta
    return State(params, chains, 2.0 * math.log(max(odds, 1.0 + 1e-9)))


def _gamma(state: State, eps: Eps) -> NDArray[np.float64]:
    given = state.params.gamma
    return state.product / eps if given is None else np.full(len(eps), given)


def guarantee(state: State, epsilon: float) -> Guarantee:
    """Return metric DP in the distance of places."""
    params = state.params
    metric = "distance of the two words' places on a public chain of the vocabulary"
    if params.chains > 1:
        metric += f", the largest over {params.chains} chains"
    if params.scale != 1.0:
        metric += f", divided by {params.scale:g}"
    max_distance = (state.chains.size - 1) / params.scale
    varying_epsilon, most, distance = None, math.inf, metric
    if params.noise == "tem":
        given = params.gamma
        if given is None:
            # Epsilon times gamma is the same for every epsilon.
            most, named = state.product, f"{_above(state.product)} / epsilon"
        else:
            max_distance, named = min(max_distance, given), _above(given)
        metric = f"min(D, {named}), D the {metric}"
        varying_epsilon = VaryingEpsilon(
            word=max_distance,
            total=max_distance,
            drift=max_distance / 2.0,
            most=most / 2.0,
        )
    return Guarantee(
        notion="metric-DP",
        metric=metric,
        unit="1/place" if params.scale == 1.0 else f"1/({params.scale:g} places)",
        max_distance=max_distance,
        source="Meisenbacher, Chevli and Matthes 2024",
        gaps=_GAPS,
        varying_epsilon=varying_epsilon,
        max_loss=most,
        distance=distance,
    )


def _above(value: float) -> str:
    """Write a distance with six digits, never rounded down."""
    short = f"{value:.6g}"
    return short if float(short) >= value else repr(value)


def claimed(state: State, epsilon: float, one: Ids, other: Ids) -> NDArray[np.float64]:
    """Return the bound on the loss of pairs of inputs, (n,) nats."""
    apart = state.chains.apart(one, other) / state.params.scale
    if state.params.noise == "tem":
        apart = np.minimum(apart, _gamma(state, np.array([epsilon])))
    bound: NDArray[np.float64] = epsilon * apart
    return bound


def geometry(state: State, epsilon: float) -> Geometry:
    """Return nearest, median and largest distance in the guarantee's own metric."""
    scale = state.params.scale
    nearest = float(np.median(state.chains.nearest())) / scale
    max_distance = guarantee(state, epsilon).max_distance
    median = state.chains.median() / scale
    return Geometry(min(nearest, max_distance), min(median, max_distance), max_distance)


def choose(state: State, ids: Ids, eps: Eps, bits: RandomBits) -> Ids:
    """Draw a word for each word: ids (n,), eps (n,) 1/place -> (n,) ids."""
    integers = bits.integers(0)
    chain = bits.below(integers[:, 0], state.params.chains)
    position = state.chains.positions[chain, ids].astype(np.int64)
    if state.params.noise == "geometric":
        up = (integers[:, 1] & np.uint64(1)).astype(bool)
        moved = _geometric.moved(
            position, eps / state.params.scale, up, state.chains.size, bits
        )
    else:
        moved = _tem(state, position, eps, bits)
    drawn: Ids = state.chains.words[chain, moved]
    return drawn


@dataclass(frozen=True, slots=True)
class _Window:
    """The law of tem in closed form: a floor for all of V, and what exceeds it near by.

    rate (n,) nats per place; floor (n,) the least weight; left, right (n,) places on
    either side that exceed it.
    """

    rate: NDArray[np.float64]
    floor: NDArray[np.float64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    size: int

    @classmethod
    def of(cls, state: State, position: NDArray[np.int64], eps: Eps) -> _Window:
        gamma, last = _gamma(state, eps), state.chains.size - 1
        max_distance = np.minimum(np.floor(gamma * state.params.scale), last).astype(
            np.int64
        )
        return cls(
            rate=eps / (2.0 * state.params.scale),
            floor=np.exp(eps * gamma / -2.0),
            left=np.minimum(position, max_distance),
            right=np.minimum(last - position, max_distance),
            size=state.chains.size,
        )

    def excess(self, count: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the sum of exp(-rate k) - floor over k = 1 ... count."""
        sums = np.expm1(-self.rate * count) / np.expm1(-self.rate)
        found: NDArray[np.float64] = sums * np.exp(-self.rate) - count * self.floor
        return np.maximum(found, 0.0)

    def total(self) -> NDArray[np.float64]:
        """Return the normaliser of each row."""
        own = 1.0 - self.floor
        sides = self.excess(self.left) + self.excess(self.right)
        total: NDArray[np.float64] = self.size * self.floor + own + sides
        return total


def _tem(
    state: State, position: NDArray[np.int64], eps: Eps, bits: RandomBits
) -> NDArray[np.int64]:
    """Draw a place: any at all, or itself, or one to its left or right."""
    window = _Window.of(state, position, eps)
    integers = bits.integers(1)
    uniform = RandomBits.unit(integers[:, 0])
    target = uniform * window.total() - window.size * window.floor
    anywhere = bits.below(integers[:, 1], window.size)
    beyond = target < 0.0
    target -= 1.0 - window.floor
    itself = target < 0.0
    left = window.excess(window.left)
    leftwards = target < left
    target = np.where(leftwards, target, target - left)
    most = np.where(leftwards, window.left, window.right)
    step = _steps(window, target, most)
    moved = position + np.where(leftwards, -step, step)
    return np.where(beyond, anywhere, np.where(itself, position, moved))


def _steps(
    window: _Window, target: NDArray[np.float64], most: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the first count whose excess is above the target, by halving: (n,)."""
    low: NDArray[np.int64] = np.minimum(1, most)
    high: NDArray[np.int64] = most.copy()
    for _ in range(int(most.max(initial=0)).bit_length()):
        middle = (low + high) // 2
        enough = window.excess(middle) > target
        high = np.where(enough, middle, high)
        low = np.where(enough, low, np.minimum(middle + 1, high))
    return high


def log_weights(state: State, ids: Ids, eps: Eps) -> NDArray[np.float64]:
    """Return ln P(y|x), the mean over the chains: (n, V) float64."""
    law: NDArray[np.float64] | None = None
    for number in range(state.params.chains):
        one = _log_law(state, number, ids, eps)
        law = one if law is None else np.logaddexp(law, one, out=law)
    assert law is not None
    law -= math.log(state.params.chains)
    return law


def _log_law(state: State, number: int, ids: Ids, eps: Eps) -> NDArray[np.float64]:
    positions = state.chains.positions[number].astype(np.int64)
    apart: NDArray[np.float64]
    apart = np.abs(positions[ids][:, None] - positions[None, :-1]) / state.params.scale
    if state.params.noise == "geometric":
        apart *= -eps[:, None]
        apart += _log_coefficients(state, eps)[:, positions[:-1]]
        return apart
    np.minimum(apart, _gamma(state, eps)[:, None], out=apart)
    apart *= (eps / -2.0)[:, None]
    apart -= np.log(_Window.of(state, positions[ids], eps).total())[:, None]
    return apart


def _log_coefficients(state: State, eps: Eps) -> NDArray[np.float64]:
    """Return ln P(place) + eps distance of the geometric law: (n, V) over places."""
    rate = eps / state.params.scale
    ends = -np.log1p(np.exp(-rate))
    if state.chains.size == 1:
        ends = np.zeros(len(eps))
    inside = ends + np.log(-np.expm1(-rate))
    out = np.repeat(inside[:, None], state.chains.size, axis=1)
    out[:, 0] = out[:, -1] = ends
    return out


def best_guesses(
    state: State,
    prior: NDArray[np.float64],
    epsilon: float,
    bands: list[tuple[int, int]],
) -> NDArray[np.float64]:
    """Return max of prior(x) P(y|x) over the x of each band: (bands, V).

    For one chain in O(V), by running maxima from either end of it; for several row by
    row, from tables of the law by the number of places.
    """
    if state.params.chains > 1:
        return _best_of_several(state, prior, epsilon, bands)
    eps, positions = (
        np.array([epsilon]),
        state.chains.positions[0, :-1].astype(np.int64),
    )
    geometric = state.params.noise == "geometric"
    rate = epsilon / (state.params.scale * (1.0 if geometric else 2.0))
    ramp = rate * np.arange(len(positions))
    each = np.repeat(eps, len(positions))
    with np.errstate(divide="ignore"):
        height = np.log(prior)
    if not geometric:
        height = height - np.log(_Window.of(state, positions, each).total())
    best = np.empty((len(bands), len(positions)))
    for number, (begin, end) in enumerate(bands):
        line = np.full(len(positions), -np.inf)
        line[positions[begin:end]] = height[begin:end]
        before = np.maximum.accumulate(line + ramp) - ramp
        after = np.maximum.accumulate((line - ramp)[::-1])[::-1] + ramp
        found = np.maximum(before, after)
        if geometric:
            found += _log_coefficients(state, eps)[0]
        else:
            floor = epsilon * float(_gamma(state, eps)[0]) / 2.0
            found = np.maximum(found, line.max() - floor)
        best[number] = np.exp(found)[positions]
    return best


def _best_of_several(
    state: State,
    prior: NDArray[np.float64],
    epsilon: float,
    bands: list[tuple[int, int]],
) -> NDArray[np.float64]:
    eps, size = np.array([epsilon]), state.chains.size
    geometric = state.params.noise == "geometric"
    steps = np.arange(size) / state.params.scale
    if geometric:
        table = np.exp(-epsilon * steps)
        ends = np.exp(_log_coefficients(state, eps)[0])
    else:
        table = np.exp(np.minimum(steps, _gamma(state, eps)) * epsilon / -2.0)
    best = np.zeros((len(bands), size))
    for number, (begin, end) in enumerate(bands):
        for start in range(begin, end, _ROWS):
            rows = slice(start, min(start + _ROWS, end))
            law = np.zeros((rows.stop - rows.start, size))
            for positions in state.chains.positions[:, :-1]:
                one = table[np.abs(positions[rows, None] - positions[None, :])]
                if geometric:
                    one *= ends[positions]
                else:
                    each = np.full(len(one), epsilon)
                    window = _Window.of(state, positions[rows].astype(np.int64), each)
                    one /= window.total()[:, None]
                law += one
            law *= prior[rows, None] / state.params.chains
            np.maximum(best[number], law.max(axis=0), out=best[number])
    return best


def resolution(state: State, epsilon: float) -> float:
    """Return how far finite uniforms may take the loss above its bound, in nats.

    geometric: every output keeps its probability to about 2^-50 of it for each place
    on the way, as long as exp(-eps / scale) is a number; tem: the rarest output has
    probability exp(-eps gamma / 2) / V, exact to 2^-52.
    """
    size = state.chains.size
    if state.params.noise == "geometric":
        if epsilon / state.params.scale > _geometric.STEEPEST:
            return math.inf
        return 2.0**-48 * (size + 128.0)
    loss = guarantee(state, epsilon).worst(epsilon)
    return float(2.0**-50 * size * np.exp(min(loss, 600.0) / 2.0))
