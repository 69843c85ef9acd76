"""Tests a claim against the formula: losses of pairs of inputs.

For all pairs of words and the unknown word, if P(y|x) ~ exp(-eta t(x, y) / 2): t is a
metric and every word an output, so for two words
    L(x, x') = eta t(x, x') / 2 + ln Z_x' - ln Z_x,
in O(V^2). The unknown word is an input but not an output: its losses are the largest
differences of rows. eta is epsilon, or the raised `scale`; the claim is epsilon t.
Each pair of words is computed once for both orders, in tiles that stay in a cache.
For other mechanisms: exact output distributions of chosen inputs, every ordered pair.

For a noise mechanism, lower bounds:
- formula: if it gives `log_density`, the loss at the vectors themselves, where noise
  with one peak loses most;
- black box: how well the side of a plane across the line between two words shows which
  of them was the input (Clopper-Pearson, thresholds from half of the draws).

For a mechanism that can only be sampled: the outputs that best distinguish a pair.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dptext.errors import UsageError
from dptext.guarantees import binomial
from dptext.guarantees.audit.findings import (
    ALARM,
    AuditResult,
    DrawPoints,
    DrawWords,
    ProgramTest,
    Published,
    choose_inputs,
    draw_points,
    label,
)
from dptext.mechanisms import ExponentialMechanism, Mechanism, NoiseMechanism
from dptext.types import Floats, Ids, Notion, blocks

# Two inputs and an output.
Pair = tuple[int, int, int]
# Rounding that an exact audit forgives, relative to the claim and in nats (distances
# of near words are differences of nearly equal numbers).
_TOLERANCE = _ROUNDING = 1e-9
# All limits of an audit by draws hold together with this confidence.
_CONFIDENCE = 1.0 - ALARM
_BY_SAMPLES = f"samples, {_CONFIDENCE:.1%} confidence"
_ROWS, _COLUMNS = 256, 1024
_SEED = 5
_PAIRS, _FAR, _CANDIDATES, _PILOT = 8, 2, 24, 256
_EVENTS, _WORDS = 4, 400
# Quantiles, as shares of the draws, at which a plane is tried.
_SHARES = np.concatenate((np.linspace(0.02, 0.98, 49), [0.99, 0.995, 0.999]))
# Rounding of density ratios: relative, for pairs that are not much nearer than most.
_SLACK, _NEAREST = 1e-6, 1e-3
_TOO_FEW = "audit: a lower bound from draws needs a lexicon of two words"


def _ratio_to(loss: Floats, bound: Floats) -> Floats:
    """Return loss / bound: 0 if there is no bound, inf for a loss where it is 0."""
    if bound.min(initial=math.inf) > 0.0 and math.isfinite(bound.max(initial=0.0)):
        return loss / bound  # nearly always: the rest takes as long as the distances
    none = np.where(loss > _ROUNDING, math.inf, 0.0)
    real = (bound > 0.0) & np.isfinite(bound)
    return np.divide(loss, bound, out=np.where(bound <= 0.0, none, 0.0), where=real)


def _excess(loss: Floats, bound: Floats) -> float:
    """Return the nats by which a loss exceeds its bound, beyond rounding."""
    with np.errstate(invalid="ignore"):
        excess = loss - bound * (1.0 + _TOLERANCE)
    # fmax passes over inf - inf: where nothing is promised nothing is exceeded.
    return float(np.fmax.reduce(excess, initial=-math.inf)) - _ROUNDING


class Extreme(NamedTuple):
    """The pair that is most extreme by some measure: its output, loss and bound."""

    measure: float = -math.inf
    a: int = 0
    b: int = 0
    output: int = 0
    loss: float = -math.inf
    bound: float = math.inf

    def or_farther(
        self, measure: Floats, loss: Floats, bound: Floats, named: Callable[[int], Pair]
    ) -> Extreme:
        """Return the most extreme of this pair and others, (n,), named by `named`."""
        at = int(measure.argmax())
        if not measure[at] > self.measure:
            return self
        losses = float(loss[at]), float(bound[at])
        return Extreme(float(measure[at]), *named(at), *losses)


class LossTally:
    """The largest loss and the largest ratios of ordered pairs so far.

    A pair is two inputs and the output that best distinguishes them; texts are given by
    number.
    """

    def __init__(
        self, mechanism: Mechanism, epsilon: float, *, of_texts: bool = False
    ) -> None:
        self._of_texts = of_texts
        self._mechanism = mechanism
        self._epsilon = epsilon
        self._promise = mechanism.guarantee(epsilon)
        self._claims = self._promise.notion is not Notion.NONE
        self.worst, self._ratio, self._published = Extreme(), Extreme(), Extreme()
        self._excess = self._beyond = -math.inf
        self.pairs = 0
        self._infinite = 0

    def take(
        self,
        a: NDArray[np.integer],
        b: NDArray[np.integer],
        loss: Floats,
        output: NDArray[np.integer],
        claim: Floats | None = None,
    ) -> None:
        """Record pairs (n,): losses and the outputs that show them.

        claim (n,): the mechanism's bounds, if already known.
        """

        def named(at: int) -> Pair:
            return int(a[at]), int(b[at]), int(output[at])

        inputs = a.astype(np.int32), b.astype(np.int32)
        if claim is None:
            claim = self._mechanism.claimed_loss(*inputs, self._epsilon)
        self.pairs += len(loss)
        self._infinite += int(np.isinf(loss).sum())
        self.take_losses(loss, claim, named)
        if self._claims:
            return
        stated = self._mechanism.published_loss(*inputs, self._epsilon)
        if stated is not None:
            ratio = _ratio_to(loss, stated)
            self._published = self._published.or_farther(ratio, loss, stated, named)
            self._beyond = max(self._beyond, _excess(loss, stated))

    def take_losses(
        self, loss: Floats, claim: Floats, named: Callable[[int], Pair]
    ) -> None:
        """Record losses and their bounds (n,); named gives their pairs."""
        self.worst = self.worst.or_farther(loss, loss, claim, named)
        self._ratio = self._ratio.or_farther(_ratio_to(loss, claim), loss, claim, named)
        self._excess = max(self._excess, _excess(loss, claim))

    def take_pair(self, pair: tuple[int, int], loss: float, output: int) -> None:
        """Record one ordered pair."""
        a, b = (np.array([row], np.int32) for row in pair)
        self.take(a, b, np.array([loss]), np.array([output]))

    def finding(
        self, method: str, inputs: int, *, by: str = "exact losses"
    ) -> AuditResult:
        """Return the audit result; `by` names the kind of losses."""
        stated, published = self._published, None
        if stated.measure > -math.inf:
            published = Published(
                source=self._promise.source,
                refuted=self._beyond > 0.0,
                by=by,
                ratio=stated.measure,
                pair=self._labels(stated),
                loss=stated.loss,
                bound=stated.bound,
            )
        return AuditResult(
            method=method,
            inputs=inputs,
            pairs=self.pairs,
            worst=self.worst.loss,
            worst_pair=self._labels(self.worst),
            worst_output=label(self._mechanism, self.worst.output),
            claim_of_worst=self.worst.bound,
            ratio=self._ratio.measure,
            ratio_pair=self._labels(self._ratio),
            infinite=self._infinite / self.pairs if self.pairs else 0.0,
            claims=self._claims,
            refuted=self._claims and self._excess > 0.0,
            published=published,
        )

    def _labels(self, pair: Extreme) -> tuple[str, str]:
        if self._of_texts:
            return f"example text {pair.a + 1}", f"example text {pair.b + 1}"
        return label(self._mechanism, pair.a), label(self._mechanism, pair.b)


def audit_all_pairs(mechanism: ExponentialMechanism, epsilon: float) -> AuditResult:
    """Audit all ordered pairs of the V + 1 inputs."""
    eta, size = mechanism.scale(epsilon), mechanism.space.size
    factor = 2.0 * epsilon / eta
    unknown = 0.5 * eta * mechanism.metric(epsilon, np.array([-1]), 0, size)[0]
    log_z, ahead, behind = _sums(mechanism, epsilon, unknown)
    tally = LossTally(mechanism, epsilon)
    top = -unknown.min()
    step = log_z - (math.log(np.exp(-unknown - top).sum()) + top)
    words, last = np.arange(size), np.full(size, size)
    # The output of the worst pair is looked up at the end, if it is one of these.
    tally.take(words, last, loss=ahead - step, output=words, claim=unknown * factor)
    tally.take(last, words, loss=behind + step, output=words, claim=unknown * factor)
    for rows, columns, half in _tiles(mechanism, epsilon):
        gap = log_z[columns][None, :] - log_z[rows][:, None]
        loss = np.abs(gap)
        loss += half
        half *= factor
        named = partial(_in_tile, gap, rows.start, columns.start)
        tally.take_losses(loss.ravel(), half.ravel(), named)
    tally.pairs = size * (size + 1)
    if size in (tally.worst.a, tally.worst.b):
        pair = np.array([tally.worst.a, tally.worst.b])
        losses, others = mechanism.metric(epsilon, pair, 0, size)
        tally.worst = tally.worst._replace(output=int((others - losses).argmax()))
    method = "exact: all pairs of V and the unknown word, by the identity"
    return tally.finding(method, size + 1)


def _in_tile(gap: Floats, top: int, left: int, at: int) -> Pair:
    """Name a tile's pair so that x itself shows its larger loss."""
    row, column = divmod(at, gap.shape[1])
    x, other = top + row, left + column
    x, other = (x, other) if gap[row, column] >= 0.0 else (other, x)
    return x, other, x


def _tiles(
    mechanism: ExponentialMechanism, epsilon: float
) -> Iterator[tuple[slice, slice, Floats]]:
    """Yield rows, columns and eta t / 2 between them: each pair of words once.

    Square tiles on the diagonal contain pairs twice.
    """
    size, half = mechanism.space.size, 0.5 * mechanism.scale(epsilon)
    for rows in blocks(size, _ROWS):
        inputs = np.arange(rows.start, rows.stop)
        for columns in (rows, *blocks(size, _COLUMNS, rows.stop)):
            tile = mechanism.metric(epsilon, inputs, columns.start, columns.stop)
            tile *= half
            yield rows, columns, tile


def _sums(
    mechanism: ExponentialMechanism, epsilon: float, unknown: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return ln Z, and the extremes of ln w(y|x) / w(y|unknown) and its inverse.

    unknown (V,): eta t / 2 of the unknown word; all returned are (V,).
    """
    size = len(unknown)
    sums = np.zeros(size)
    ahead, behind = np.full((2, size), -math.inf)
    for rows, columns, tile in _tiles(mechanism, epsilon):
        gap = unknown[columns] - tile
        np.maximum(ahead[rows], gap.max(axis=1), out=ahead[rows])
        np.maximum(behind[rows], -gap.min(axis=1), out=behind[rows])
        square = columns.start == rows.start
        if not square:
            np.subtract(unknown[rows, None], tile, out=gap)
            np.maximum(ahead[columns], gap.max(axis=0), out=ahead[columns])
            np.maximum(behind[columns], -gap.min(axis=0), out=behind[columns])
        np.negative(tile, out=tile)
        np.exp(tile, out=tile)
        sums[rows] += tile.sum(axis=1)
        if not square:
            sums[columns] += tile.sum(axis=0)
    return np.log(sums), ahead, behind


def audit_rows(mechanism: Mechanism, epsilon: float, count: int) -> AuditResult:
    """Audit every ordered pair of about `count` inputs, or all V if fewer."""
    inputs = choose_inputs(mechanism, count)
    log_probs = mechanism.log_probs(inputs, np.full(len(inputs), epsilon))
    tally = LossTally(mechanism, epsilon)
    _compare(log_probs, inputs, tally)
    return tally.finding("exact: chosen inputs, all outputs", len(inputs))


def audit_texts(
    mechanism: Mechanism, epsilon: float, log_probs: Floats | None
) -> AuditResult:
    """Audit the rows (m, V) of public texts that a mechanism offers."""
    if log_probs is None:
        raise UsageError(
            f"{mechanism.name} looks at the whole text, so there is no table of "
            "words to audit: its epsilon rests on the range to which it cuts its "
            f"scores (see dptext list mechanisms {mechanism.name})"
        )
    tally = LossTally(mechanism, epsilon, of_texts=True)
    _compare(log_probs, np.arange(len(log_probs), dtype=np.int32), tally)
    method = "exact: public example texts, all outputs"
    drawn = ProgramTest(False, False, "a mechanism of whole texts is not drawn from")
    return replace(tally.finding(method, len(log_probs)), program=drawn)


def _compare(log_probs: Floats, inputs: Ids, tally: LossTally) -> None:
    """Record the losses of all pairs of rows of log-probabilities (n, V).

    An output with probability 0 from only one of two inputs is an infinite loss; one
    impossible from both has no loss.
    """
    written = np.flatnonzero(np.isfinite(log_probs).any(axis=0))
    logs = log_probs[:, written]
    for row in range(len(inputs) if len(inputs) > 1 else 0):
        others = np.delete(np.arange(len(inputs)), row)
        with np.errstate(invalid="ignore"):
            gaps = logs[row] - logs[others]
        gaps[:, np.isneginf(logs[row])] = -math.inf
        best = gaps.argmax(axis=1)
        loss = gaps[np.arange(len(others)), best]
        pair = np.repeat(inputs[row], len(others)), inputs[others]
        tally.take(*pair, loss, written[best])


def audit_pairs(
    mechanism: NoiseMechanism, epsilon: float, draw: DrawPoints, runs: int
) -> AuditResult:
    """Compute lower bounds on the losses of pairs."""
    if mechanism.space.size < 2:
        raise UsageError(_TOO_FEW)
    pairs = _pairs(mechanism, epsilon, draw)
    tally = LossTally(mechanism, epsilon)
    vectors, delta = mechanism.output_vectors, mechanism.guarantee(epsilon).delta
    alpha = ALARM / (2 * len(pairs) * _EVENTS)
    for a, b in pairs:
        line = vectors[b].astype(np.float64) - vectors[a]
        line /= float(np.linalg.norm(line)) or 1.0
        low, high = (draw_points(draw, row, epsilon, runs) @ line for row in (a, b))
        tally.take_pair((a, b), _by_sides(-low, -high, alpha, delta), a)
        tally.take_pair((b, a), _by_sides(high, low, alpha, delta), b)
    method = f"lower bound: {len(pairs)} pairs, {runs:,} draws of each word"
    plane = "a side of a plane between them"
    sampled = tally.finding(method, 2 * len(pairs), by=_BY_SAMPLES)
    sampled = replace(sampled, worst_output=plane)
    result = _by_formula(mechanism, epsilon, sampled) or sampled
    return _with_samples(result, sampled, len(pairs))


def _with_samples(
    result: AuditResult, sampled: AuditResult, pairs: int = 0
) -> AuditResult:
    """Add lower bounds from samples of pairs."""
    return replace(
        result,
        confidence=_CONFIDENCE,
        sampled=sampled.worst,
        sampled_pair=sampled.worst_pair,
        sampled_output=sampled.worst_output,
        sampled_pairs=pairs,
    )


def _by_formula(
    mechanism: NoiseMechanism, epsilon: float, sampled: AuditResult
) -> AuditResult | None:
    """Return the losses given by the density itself, None if there is none."""
    if not mechanism.has_log_density or mechanism.guarantee(epsilon).delta > 0.0:
        return None
    ids = choose_inputs(mechanism, _WORDS)
    vectors = mechanism.output_vectors[ids].astype(np.float64)
    density = mechanism.log_density(vectors, np.full(len(ids), epsilon), ids)
    losses = (np.diag(density)[:, None] - density).ravel() * (1.0 - _SLACK)
    a, b = np.repeat(ids, len(ids)), np.tile(ids, len(ids))
    claim = mechanism.claimed_loss(a, b, epsilon)
    clear = (a != b) & (claim > _NEAREST * float(np.median(claim)))
    tally = LossTally(mechanism, epsilon)
    if clear.any():
        tally.take(a[clear], b[clear], losses[clear], a[clear])
    if not tally.pairs:
        return None
    method = "formula: density ratios at the vectors of chosen words"
    result = tally.finding(method, len(ids))
    return replace(
        result,
        worst_output=f"a point at {result.worst_output}",
        refuted=result.refuted or sampled.refuted,
        published=sampled.published or result.published,
    )


def _pairs(
    mechanism: NoiseMechanism, epsilon: float, draw: DrawPoints
) -> list[tuple[int, int]]:
    """Pair words with others that draws can partly, but not surely, distinguish.

    Includes the two farthest pairs among a few hundred words.
    """
    rng = np.random.default_rng(_SEED)
    size = mechanism.space.size
    ids = choose_inputs(mechanism, max(4 * _PAIRS, 8))
    ids = ids[np.linspace(0, len(ids) - 1, _PAIRS).astype(int)]
    near = np.asarray(mechanism.space.lexicon.orders)[:, :4].astype(np.int32)
    pairs: list[tuple[int, int]] = []
    for row in np.unique(ids).tolist():
        others = np.concatenate((near[row], rng.integers(0, size, _CANDIDATES)))
        others = np.unique(others[others != row]).astype(np.int32)
        if len(others):
            best = _spread(
                mechanism, epsilon, draw=draw, row=row, others=others
            ).argmin()
            pairs.append((row, int(others[best])))
    some = choose_inputs(mechanism, _WORDS)
    wide = mechanism.output_vectors[some].astype(np.float64)
    squares = np.einsum("nd,nd->n", wide, wide)
    gaps = squares[:, None] + squares[None] - 2.0 * wide @ wide.T
    for _ in range(_FAR):
        a, b = np.unravel_index(int(gaps.argmax()), gaps.shape)
        gaps[[a, b]] = gaps[:, [a, b]] = -1.0
        if a != b:
            pairs.append((int(some[a]), int(some[b])))
    return list(dict.fromkeys(pairs))


def _spread(
    mechanism: NoiseMechanism, epsilon: float, draw: DrawPoints, row: int, others: Ids
) -> Floats:
    """Return how far the spread of ln p'/p is from one nat, else the distance."""
    vectors = mechanism.output_vectors
    if not mechanism.has_log_density:
        gap = vectors[others].astype(np.float64) - vectors[row]
        return np.asarray(np.linalg.norm(gap, axis=1))
    points = draw_points(draw, row, epsilon, _PILOT).astype(np.float64)
    words = np.append(others, row).astype(np.int32)
    density = mechanism.log_density(points, np.full(_PILOT, epsilon), words)
    spread = (density[:, :-1] - density[:, -1:]).std(axis=0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.abs(np.log(spread)))


def _by_sides(
    first_sides: Floats, second_sides: Floats, alpha: float, delta: float
) -> float:
    """Return ln((p - delta) / q) of the best event {side >= t}, with limits."""
    half = len(first_sides) // 2
    first = np.concatenate((first_sides[:half], second_sides[:half]))
    steps = np.unique(np.quantile(first, _SHARES))
    p = (first_sides[:half, None] >= steps).mean(axis=0) + 0.5 / half
    q = (second_sides[:half, None] >= steps).mean(axis=0) + 3.0 / half
    tested = first_sides[half:], second_sides[half:]
    return _best(
        p,
        q,
        tested=tested,
        hits=lambda side, at: side >= steps[at],
        alpha=alpha,
        delta=delta,
    )[0]


def _by_outputs(
    a: Ids, b: Ids, size: int, alpha: float, delta: float
) -> tuple[float, int]:
    """Return ln((p - delta) / q) of the best of a few outputs, and that output."""
    half = len(a) // 2
    p, q = (np.bincount(each[:half], minlength=size) + 0.5 for each in (a, b))
    tested = a[half:], b[half:]
    return _best(
        p,
        q,
        tested=tested,
        hits=lambda output, at: output == at,
        alpha=alpha,
        delta=delta,
    )


def _best(
    p: NDArray[np.floating],
    q: NDArray[np.floating],
    tested: tuple[NDArray[Any], NDArray[Any]],
    hits: Callable[[NDArray[Any], int], NDArray[np.bool_]],
    alpha: float,
    delta: float,
) -> tuple[float, int]:
    """Return ln((p - delta) / q), at least 0, of the best of a few events, and it.

    p and q (m,) select the events worth testing; tested: the draws left
    for tests, for both words; hits: the draws in which an event occurs.
    """
    events = np.argsort(np.log(p / q) * np.sqrt(p))[::-1][:_EVENTS].tolist()
    best = (0.0, events[0])
    for event in events:
        first, second = (int(hits(each, event).sum()) for each in tested)
        low = binomial.limits(first, len(tested[0]), alpha)[0]
        high = binomial.limits(second, len(tested[1]), alpha)[1]
        if low > delta:
            best = max(best, (math.log((low - delta) / high), event))
    return best


def audit_samples(
    mechanism: Mechanism, epsilon: float, draw: DrawWords, runs: int
) -> AuditResult:
    """Bound losses of a few near pairs below (Clopper-Pearson, split samples).

    Half of the runs choose the output words that best distinguish a pair, the other
    half tests them; all limits hold jointly with 99.9% confidence. With a claim of
    (epsilon, delta) it is ln((P(y|x) - delta) / P(y|x')) that must not exceed epsilon.
    """
    inputs = choose_inputs(mechanism, 24)
    inputs = inputs[inputs >= 0][:16]
    near = mechanism.space.lexicon.orders[inputs, 1].astype(np.int32)
    pairs = [(int(a), int(b)) for a, b in zip(inputs, near, strict=True) if a != b]
    if not pairs:
        raise UsageError(_TOO_FEW)
    alpha = (1.0 - _CONFIDENCE) / (2 * len(pairs) * _EVENTS)
    words = sorted({*inputs.tolist(), *near.tolist()})
    eps = np.full(runs, epsilon)
    drawn = {row: draw(np.full(runs, row, np.int32), eps) for row in words}
    size, delta = mechanism.space.size, mechanism.guarantee(epsilon).delta
    tally = LossTally(mechanism, epsilon)
    for a, b in [*pairs, *((b, a) for a, b in pairs)]:
        loss, output = _by_outputs(
            drawn[a], drawn[b], size=size, alpha=alpha, delta=delta
        )
        tally.take_pair((a, b), loss, output)
    method = f"lower bound: {len(pairs)} near pairs, {runs} draws of each word"
    result = tally.finding(method, len(words), by=_BY_SAMPLES)
    missing = "there is no exact output distribution of a vocabulary of this size"
    untested = ("the program: there is nothing exact to hold it against",)
    program = ProgramTest(False, False, missing, untested=untested)
    return replace(_with_samples(result, result), program=program)
