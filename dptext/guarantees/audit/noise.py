"""The program of a noise mechanism: the noise itself, held against what is known.

Points are drawn by the path of a release, words and epsilons mixed in one batch.
- standard: where the mechanism gives its noise as a direction and an amount
  (`standard`), amounts against their Gamma distribution, directions against the uniform
  one (coordinates, random projections, products of neighbours in the batch), each word
  alone as well; every word is drawn a few times, and those that stand out again;
- ratios: where it gives `log_density`, the density ratio of pairs of words, bin by bin:
  of the points with ln p'/p = t from either word, a share of 1 / (1 + e^-t) is from x';
- length: where the claim is epsilon times the distance of the space, noise of one
  density for all words whose logarithm is epsilon-Lipschitz is, on every ray, no
  shorter than Gamma(d, 1/epsilon) in the likelihood-ratio order.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dptext.guarantees.audit.draws import DrawPoints, Progress, points_of
from dptext.guarantees.audit.inputs import all_inputs, chosen, shuffled
from dptext.guarantees.audit.noise_counts import NoiseCounts
from dptext.guarantees.audit.program import ALARM, MultipleTests, Program
from dptext.mechanisms import NoiseMechanism
from dptext.types import Eps, Ids, Points

_SEED = 4
_BATCH = 2**14
_CHOSEN, _SCREEN, _STANDING_OUT = 64, 8, 32
_PARTS = (1.0, 0.25)
# Noise that is not much larger than the rounding of a vector is not looked at.
_ROUNDED = 2.0**-10


def audit(
    mechanism: NoiseMechanism,
    epsilon: float,
    draw: DrawPoints,
    number: int,
    progress: Progress,
    tests: MultipleTests,
) -> Program:
    """Test the noise by so many draws; the tests stays open for tests of pairs."""
    exact = mechanism.has_standard_noise
    if not exact and not dominated(mechanism, epsilon):
        untested = ("the noise itself: its distribution is not known to the audit",)
        return Program(False, False, "no formula of the noise", untested=untested)
    if not _fine(points_of(draw, 0, epsilon, 64)):
        untested = ("the noise itself: it is lost in the rounding of the vectors",)
        return Program(False, False, "noise too small", untested=untested)
    ids = chosen(mechanism, _CHOSEN)
    if mechanism.space.size + 1 > _CHOSEN:
        progress(f"drawing every word {_SCREEN} times at epsilon {epsilon:.4g}")
        extreme = _standing_out(mechanism, draw, epsilon)
        ids = np.unique(np.concatenate((ids, extreme)))
    progress(f"drawing {len(ids)} words {number:,} times, epsilons mixed")
    tallies = _tallied(mechanism, epsilon, draw, ids, number)
    for tally in tallies:
        tally.test(tests, mechanism, ids, ALARM / 2.0 / len(tallies))
    method = (
        f"amount and direction of the noise of {len(ids)} words"
        if exact
        else f"length of the noise of {len(ids)} words against the least that a claim "
        "at every distance allows (noise of one density for all words)"
    )
    epsilons = tuple(tally.epsilon for tally in tallies)
    return Program(True, False, method, draws=number, epsilons=epsilons)


def dominated(mechanism: NoiseMechanism, epsilon: float) -> bool:
    """Tell whether the claim is epsilon times the distance of the space."""
    return mechanism.guarantee(epsilon).counts(mechanism.space.distance)


def _standard(
    mechanism: NoiseMechanism, ids: Ids, points: Points, eps: Eps
) -> tuple[NDArray[np.float64] | None, NDArray[np.float64], float]:
    """Return directions (n, d) if they are known, amounts (n,) and their shape."""
    standard = mechanism.standard_noise(ids, points, eps)
    if standard is not None:
        return standard
    noise = points.astype(np.float64) - mechanism.space.vectors[ids]
    return None, eps * np.linalg.norm(noise, axis=1), float(noise.shape[1])


def _fine(points: Points) -> bool:
    """Tell whether noise is far above the rounding of float32 and below its limit."""
    spread = np.abs(points - np.median(points, axis=0)).mean()
    length = float(np.abs(points).max())
    # Points that all coincide are no rounded noise: that is for the tests.
    return bool(
        spread == 0.0 or (spread * _ROUNDED > length * 2.0**-24 and length < 1e12)
    )


def _standing_out(mechanism: NoiseMechanism, draw: DrawPoints, epsilon: float) -> Ids:
    """Choose the words whose noise is shortest or longest on average."""
    every = all_inputs(mechanism)
    sums = np.zeros(len(every))
    rng = np.random.default_rng(_SEED)
    for _, part in shuffled(len(every), _SCREEN, _BATCH, rng):
        eps = np.full(len(part), epsilon)
        for at, points in draw(every[part], eps):
            amounts = _standard(mechanism, every[part[at]], points, eps[at])[1]
            sums[part[at]] += amounts
    order = np.argsort(sums, kind="stable")
    return every[np.concatenate((order[:_STANDING_OUT], order[-_STANDING_OUT:]))]


def _tallied(
    mechanism: NoiseMechanism, epsilon: float, draw: DrawPoints, ids: Ids, number: int
) -> list[NoiseCounts]:
    """Draw the words at random, epsilons mixed in each batch."""
    rng = np.random.default_rng(_SEED + 1)
    ladder = [epsilon * part for part in _PARTS]
    tallies: list[NoiseCounts] = []
    for begin in range(0, number, _BATCH):
        size = min(_BATCH, number - begin)
        rows, which = rng.integers(0, len(ids), size), rng.integers(0, 2, size)
        eps = np.array(ladder)[which]
        for at, points in draw(ids[rows], eps):
            directions, amounts, shape = _standard(
                mechanism, ids[rows[at]], points, eps[at]
            )
            if not tallies:
                width = 0 if directions is None else points.shape[1]
                tallies = [
                    NoiseCounts(value, len(ids), shape, width) for value in ladder
                ]
            for each, tally in enumerate(tallies):
                mine = which[at] == each
                tally.take_amounts(rows[at][mine], amounts[mine])
                if directions is not None:
                    tally.take_directions(directions[mine], amounts[mine])
    return tallies
