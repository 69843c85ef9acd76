"""Inputs and draws of an audit, its tests with error rates, and its findings."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from dptext.guarantees import binomial
from dptext.mechanisms import Mechanism
from dptext.types import Eps, Floats, Ids, Ints, Points

# The chance that the program is called wrong although it follows its formula, for all
# tests of an audit together.
ALARM = 1e-3
POWER = 0.95
_SEED = 1
# Words in a batch, as many as in a batch of a release.
BATCH = 2**17
DrawWords = Callable[[Ids, Eps], Ids]
# Noisy vectors, with the positions in the batch that they are of.
DrawPoints = Callable[[Ids, Eps], Iterator[tuple[Ints, Points]]]
# Tells people about each step.
Progress = Callable[[str], None]
# Levels of the quantiles of noise, and points of a numerical integral.
LEVELS = np.array(
    [1e-3, 0.01, 0.05, *np.arange(0.1, 0.95, 0.1).round(1), 0.95, 0.99, 0.999]
)
_POINTS = 200_001


@dataclass(frozen=True, slots=True)
class Deviation:
    """The event that is the strongest evidence against the program."""

    event: str
    #: Probability of the event in one draw, by the formula.
    probability: float
    draws: int
    #: Draws in which it happened.
    count: int
    #: Chance of a count as far from the expected one.
    p_value: float


@dataclass(frozen=True, slots=True)
class Power:
    """The smallest deviation of an event that is detected with 95% power."""

    event: str
    probability: float
    draws: int
    #: By how much its probability would have to be higher, or, where missing, its
    #: probability by the formula.
    smallest: float
    #: The deviation is that the event never happens.
    missing: bool = False


@dataclass(frozen=True, slots=True)
class ProgramTest:
    """Results of testing the program against its formula."""

    tested: bool
    refuted: bool
    method: str
    draws: int = 0
    tests: int = 0
    epsilons: tuple[float, ...] = ()
    #: Bounds the chance of a false alarm of all tests together.
    alarm: float = ALARM
    power: tuple[Power, ...] = ()
    #: The most extreme one, where refuted.
    deviation: Deviation | None = None
    #: Parts that were not tested.
    untested: tuple[str, ...] = ()
    #: Number of calls in which the draws were made.
    batches: int = 0


class MultipleTests:
    """The tests of an audit, which share the rate of false alarms.

    Counts are of independent draws whose probabilities may differ; then the binomial
    tails at the mean probability bound the true ones (Hoeffding 1956), so all tests are
    exact or err on the side of the program.
    """

    def __init__(self) -> None:
        self.count = 0
        self.worst: Deviation | None = None
        self.power: list[Power] = []

    def take(
        self,
        counts: Ints,
        draws: Ints | int,
        chances: Floats,
        alarm: float,
        named: Callable[[int], str] | str,
        *,
        among: int | None = None,
    ) -> None:
        """Test counts (m,) out of `draws` against their probabilities, both tails.

        named: names each event, or all; among: the number of events from which these
        were picked, m by default.
        """
        every = np.broadcast_arrays(counts, draws, chances)
        counts, n, p = (each.ravel() for each in every)
        number = 2 * (among if among is not None else len(counts))
        self.count += number
        if not len(counts):
            return
        level = alarm / number
        for index in _suspects(counts, n, p, level):
            k, size, chance = int(counts[index]), int(n[index]), float(p[index])
            value = tail(k, size, chance)
            if value <= level and (self.worst is None or value < self.worst.p_value):
                event = named if isinstance(named, str) else named(index)
                self.worst = Deviation(
                    event=event, probability=chance, draws=size, count=k, p_value=value
                )

    def fail(self, event: str, draws: int, count: int) -> None:
        """Record a test of an event that must never happen."""
        self.count += 1
        if self.worst is None or self.worst.p_value > 0.0:
            self.worst = Deviation(
                event=event, probability=0.0, draws=draws, count=count, p_value=0.0
            )

    def finds(self, event: str, p: float, n: int, level: float) -> None:
        """Compute the excess probability of an event that the tests would detect."""
        self.power.append(Power(event, p, n, excess(p, n, level)))

    def finds_missing(self, event: str, n: int, level: float) -> None:
        """State from which probability on a never-seen event would be detected."""
        chance = -float(np.expm1(np.log(level) / n))
        self.power.append(Power(event, chance, n, chance, missing=True))

    def conclude(
        self, method: str, draws: int, epsilons: tuple[float, ...], *untested: str
    ) -> ProgramTest:
        """Return the findings of the tests for these draws and epsilons."""
        return ProgramTest(
            tested=True,
            refuted=self.worst is not None,
            method=method,
            draws=draws,
            tests=self.count,
            epsilons=epsilons,
            power=tuple(self.power),
            deviation=self.worst,
            untested=untested,
        )


def _suspects(counts: Ints, n: Ints, p: Floats, level: float) -> list[int]:
    """Return the events whose tails may be below the level, by Chernoff's bound.

    exp(-n KL(k/n, p)) is at most sqrt(8 n) times the tail and never below it.
    """
    share = counts / np.maximum(n, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        up = np.where(share > 0.0, share * np.log(share / p), 0.0)
        down = (1.0 - share) * (np.log1p(-share) - np.log1p(-p))
        bound = -n * (up + np.where(share < 1.0, down, 0.0))
    bound = np.where(np.isnan(bound), 0.0, bound)
    # Where the formula says always or never, a single exception is enough.
    never = ((p <= 0.0) & (counts > 0)) | ((p >= 1.0) & (counts < n))
    bound[never] = -np.inf
    near = bound < np.log(level) + 0.5 * np.log(8.0 * n + 8.0)
    return list(map(int, np.flatnonzero(near)))


def tail(k: int, n: int, p: float) -> float:
    """Return the binomial tail probability on the side of k, including k."""
    if k > n * p:
        return binomial.at_least(k, n, p)
    return binomial.at_most(k, n, p)


def excess(p: float, n: int, level: float) -> float:
    """Return the smallest d at which p + d is detected with 95% power, 1 if none."""
    first = int(n * p) + 1

    def shows(count: int) -> bool:
        return binomial.at_least(count, n, p) <= level

    high = first + bisect_left(range(first, n + 1), True, key=shows)
    if high > n:
        return 1.0
    least, most = p, 1.0
    for _ in range(60):
        middle = (least + most) / 2.0
        often = binomial.at_least(high, n, middle) >= POWER
        least, most = (least, middle) if often else (middle, most)
    return most - p


@dataclass(frozen=True, slots=True)
class Published:
    """A paper's claim compared with the losses; dptext does not claim it."""

    source: str
    refuted: bool
    #: Evidence against it: exact losses, proof or samples.
    by: str
    #: The largest loss over the published bound of any pair.
    ratio: float
    #: The pair of that ratio.
    pair: tuple[str, str]
    #: The loss of that pair.
    loss: float
    #: The published bound of that pair.
    bound: float


@dataclass(frozen=True, slots=True)
class AuditResult:
    """Results of an audit; losses in nats, inf if an output has only one input.

    All fields except `program` compare the claim with the formula.
    """

    method: str
    inputs: int
    pairs: int
    #: The largest loss, a lower bound when sampled.
    worst: float
    #: Its ordered pair of inputs.
    worst_pair: tuple[str, str]
    #: The output that tells them apart.
    worst_output: str
    claim_of_worst: float
    #: The largest loss over claim of any pair.
    ratio: float
    ratio_pair: tuple[str, str]
    #: Share of ordered pairs with an infinite loss.
    infinite: float
    #: Whether dptext claims anything.
    claims: bool
    #: Whether the loss of a pair exceeds the claim.
    refuted: bool
    #: Of a lower bound from samples.
    confidence: float | None = None
    #: A proven lower bound on the loss of proven_pair.
    proven: float | None = None
    proven_pair: tuple[str, str] | None = None
    #: The largest lower bound that rests on samples alone.
    sampled: float | None = None
    sampled_pair: tuple[str, str] | None = None
    sampled_output: str | None = None
    sampled_pairs: int = 0
    published: Published | None = None
    #: The program held against the formula.
    program: ProgramTest | None = None

    @property
    def failed(self) -> bool:
        """Return whether dptext's claim, the published claim or the program failed."""
        if self.program is not None and self.program.refuted:
            return True
        return self.refuted or (self.published is not None and self.published.refuted)


def label(mechanism: Mechanism, row: int) -> str:
    """Name an input."""
    words = mechanism.space.lexicon.words
    return "<unknown word>" if row in (-1, len(words)) else words[row]


def all_inputs(mechanism: Mechanism) -> Ids:
    """Return all words, then the unknown word: (V + 1,)."""
    return np.append(np.arange(mechanism.space.size), -1).astype(np.int32)


def choose_inputs(mechanism: Mechanism, count: int) -> Ids:
    """Choose test inputs: the unknown word; frequent, random, rare and close words."""
    size = mechanism.space.size
    if size + 1 <= count:
        return all_inputs(mechanism)
    rng = np.random.default_rng(_SEED)
    quarter = count // 4
    picked = [-1, *range(quarter), *rng.choice(size, quarter, replace=False).tolist()]
    near = mechanism.space.lexicon.orders[np.array(picked[: 2 * quarter]), 1]
    last = size - 1 - np.arange(count - 3 * quarter - 1)
    rows = np.concatenate((picked, near.astype(np.int64), last))
    return np.unique(rows).astype(np.int32)


def mixed_batches(
    count: int, times: int, batch: int, rng: np.random.Generator
) -> Iterator[tuple[int, Ints]]:
    """Yield positions of all inputs, `times` over, in batches: (turn, (m,))."""
    for turn in range(times):
        order = rng.permutation(count)
        for begin in range(0, count, batch):
            yield turn, order[begin : begin + batch]


@dataclass(frozen=True, slots=True)
class AuditDraws:
    """Public randomness for a mechanism; each call draws anew, as one batch."""

    #: Draws words: ids (n,), eps (n,) -> (n,) words.
    words: DrawWords
    #: Draws the points of noise mechanisms.
    points: DrawPoints | None
    #: For a strategy that draws equal words once: ids (n,), epsilon, count -> (count,
    #: n), the words that each of so many records (or runs) releases.
    released: Callable[[Ids, float, int], Ids] | None = None
    #: Name of the strategy.
    strategy: str = "token"
    #: Returns the number of batches drawn so far.
    batches: Callable[[], int] = lambda: 0


def draw_points(draw: DrawPoints, row: int, epsilon: float, count: int) -> Points:
    """Draw `count` points for a word."""
    ids, eps = np.full(count, row, np.int32), np.full(count, epsilon)
    return np.concatenate([points for _, points in draw(ids, eps)])


def gamma_quantiles(shape: float) -> Floats:
    """Return the quantiles of Gamma(shape, 1) at LEVELS, for shape >= 1/2.

    Uses the density of the square root, 2 s^(2 shape - 1) exp(-s^2), which is smooth.
    """
    middle = math.sqrt(shape)
    s = np.linspace(max(middle - 10.0, 0.0), middle + 10.0, _POINTS)
    with np.errstate(divide="ignore", invalid="ignore"):
        log = (2.0 * shape - 1.0) * np.log(s) - s**2
    log[np.isnan(log)] = 0.0  # 0 ln 0
    return _inverse(s, log) ** 2


def projection_quantiles(width: int) -> Floats:
    """Return quantiles of a coordinate of a random unit vector of this width.

    In one dimension the coordinate is -1 or 1, so the only quantile left is 0. With
    t = sin(phi) the density is cos(phi)^(width - 2), smooth also in two dimensions.
    """
    if width == 1:
        return np.zeros(1)
    phi = np.linspace(-math.pi / 2.0, math.pi / 2.0, _POINTS)
    with np.errstate(divide="ignore"):
        log = (width - 2.0) * np.log(np.maximum(np.cos(phi), 1e-300))
    return np.sin(_inverse(phi, log))


def _inverse(points: Floats, log: Floats) -> Floats:
    """Return the quantiles of a density from its logarithm at points."""
    density = np.exp(log - log.max())
    steps = np.diff(points) * (density[1:] + density[:-1]) / 2.0
    below = np.concatenate(([0.0], np.cumsum(steps)))
    below /= below[-1]
    inside = np.flatnonzero(np.diff(below, prepend=-1.0) > 0.0)
    return np.asarray(np.interp(LEVELS, below[inside], points[inside]))
