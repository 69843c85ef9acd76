"""Exact losses of pairs of inputs, tallied against a claim.

Of all pairs of V and the unknown word, where P(y|x) ~ exp(-eta t(x, y) / 2): t is a
metric and every word an output, so that of two words
    L(x, x') = eta t(x, x') / 2 + ln Z_x' - ln Z_x,
in O(V^2). The unknown word is an input but no output: its losses are the largest
differences of rows. eta is epsilon, or the raised `scale`; the claim is epsilon t.
Each pair of words is computed once for both orders, in tiles that stay in a cache.
Of other mechanisms: exact output distributions of chosen inputs, every ordered pair.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dptext.guarantees.audit.findings import (
    ROUNDING,
    TOLERANCE,
    AuditResult,
    ProgramTest,
    Published,
    chosen,
    label,
)
from dptext.mechanisms import ExponentialMechanism, Mechanism, TextMechanism
from dptext.types import Floats, Ids, Notion

# Two inputs and an output.
Pair = tuple[int, int, int]


def over(loss: Floats, bound: Floats) -> Floats:
    """Return loss / bound; 0 under no bound, inf for a loss where none is allowed."""
    if bound.min(initial=math.inf) > 0.0 and math.isfinite(bound.max(initial=0.0)):
        return loss / bound  # nearly always: the rest takes as long as the distances
    none = np.where(loss > ROUNDING, math.inf, 0.0)
    real = (bound > 0.0) & np.isfinite(bound)
    return np.divide(loss, bound, out=np.where(bound <= 0.0, none, 0.0), where=real)


def excess(loss: Floats, bound: Floats) -> float:
    """Return the nats by which a loss is above its bound, more than rounding allows."""
    with np.errstate(invalid="ignore"):
        above = loss - bound * (1.0 + TOLERANCE)
    # fmax passes over inf - inf: where nothing is promised nothing is exceeded.
    return float(np.fmax.reduce(above, initial=-math.inf)) - ROUNDING


class Extreme(NamedTuple):
    """The pair that goes farthest by some measure, its output, loss and bound."""

    measure: float = -math.inf
    a: int = 0
    b: int = 0
    output: int = 0
    loss: float = -math.inf
    bound: float = math.inf


class LossTally:
    """The largest loss and the largest ratios met so far, of ordered pairs.

    A pair is two inputs and the output that tells them apart best; of texts, inputs are
    their numbers.
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
        """Take in pairs (n,): losses, and the outputs that show them.

        claim (n,): the mechanism's bounds, where they are known already.
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
            largest = _largest(over(loss, stated), loss, stated, named)
            self._published = max(self._published, largest, key=_measure)
            self._beyond = max(self._beyond, excess(loss, stated))

    def take_losses(
        self, loss: Floats, claim: Floats, named: Callable[[int], Pair]
    ) -> None:
        """Take in losses and their bounds (n,); named says of which pair they are."""
        worst = _largest(loss, loss, claim, named)
        self.worst = max(self.worst, worst, key=_measure)
        ratio = _largest(over(loss, claim), loss, claim, named)
        self._ratio = max(self._ratio, ratio, key=_measure)
        self._excess = max(self._excess, excess(loss, claim))

    def take_pair(self, pair: tuple[int, int], loss: float, output: int) -> None:
        """Take in one ordered pair."""
        a, b = (np.array([row], np.int32) for row in pair)
        self.take(a, b, np.array([loss]), np.array([output]))

    def finding(
        self, method: str, inputs: int, *, by: str = "exact losses"
    ) -> AuditResult:
        """Draw up an audit; by says what the losses are."""
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


_measure = itemgetter(0)


def _largest(
    measure: Floats, loss: Floats, bound: Floats, named: Callable[[int], Pair]
) -> Extreme:
    at = int(measure.argmax())
    return Extreme(float(measure[at]), *named(at), float(loss[at]), float(bound[at]))


_ROWS, _COLUMNS = 256, 1024
# Rows, columns and eta t / 2 between them.
Tile = tuple[slice, slice, Floats]


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
    tally.take(words, last, ahead - step, words, unknown * factor)
    tally.take(last, words, behind + step, words, unknown * factor)
    for rows, columns, half in _tiles(mechanism, epsilon):
        gap = log_z[columns][None, :] - log_z[rows][:, None]

        def named(at: int, tile: Tile = (rows, columns, gap)) -> Pair:
            """Name a pair in the order of its larger loss, which x itself shows."""
            row, column = np.unravel_index(at, tile[2].shape)
            x, other = int(tile[0].start + row), int(tile[1].start + column)
            x, other = (x, other) if tile[2][row, column] >= 0.0 else (other, x)
            return x, other, x

        loss = np.abs(gap)
        loss += half
        half *= factor
        tally.take_losses(loss.ravel(), half.ravel(), named)
    tally.pairs = size * (size + 1)
    if size in (tally.worst.a, tally.worst.b):
        pair = np.array([tally.worst.a, tally.worst.b])
        mine, theirs = mechanism.metric(epsilon, pair, 0, size)
        tally.worst = tally.worst._replace(output=int((theirs - mine).argmax()))
    method = "exact: all pairs of V and the unknown word, by the identity"
    return tally.finding(method, size + 1)


def _tiles(mechanism: ExponentialMechanism, epsilon: float) -> Iterator[Tile]:
    """Yield all pairs of words once; square tiles on the diagonal hold them twice."""
    size, half = mechanism.space.size, 0.5 * mechanism.scale(epsilon)
    for begin in range(0, size, _ROWS):
        end = min(begin + _ROWS, size)
        rows = np.arange(begin, end)
        for left, right in pairwise([begin, *range(end, size, _COLUMNS), size]):
            if left < right:
                tile = mechanism.metric(epsilon, rows, left, right)
                tile *= half
                yield slice(begin, end), slice(left, right), tile


def _sums(
    mechanism: ExponentialMechanism, epsilon: float, unknown: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return ln Z of the words, and max over y of ln w(y|x) / w(y|unknown) and back.

    unknown (V,) is eta t / 2 of the unknown word; all returned are (V,).
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
    """Audit every ordered pair of about count inputs; all of V where it is as small."""
    inputs = chosen(mechanism, count)
    log_probs = mechanism.log_probs(inputs, np.full(len(inputs), epsilon))
    tally = LossTally(mechanism, epsilon)
    compare(log_probs, inputs, tally)
    return tally.finding("exact: chosen inputs, all outputs", len(inputs))


def audit_texts(
    mechanism: TextMechanism, epsilon: float, log_probs: Floats
) -> AuditResult:
    """Audit the rows of public texts, (m, V), that a mechanism of texts offers."""
    tally = LossTally(mechanism, epsilon, of_texts=True)
    compare(log_probs, np.arange(len(log_probs), dtype=np.int32), tally)
    method = "exact: public example texts, all outputs"
    drawn = ProgramTest(False, False, "a mechanism of whole texts is not drawn from")
    return replace(tally.finding(method, len(log_probs)), program=drawn)


def compare(log_probs: Floats, inputs: Ids, tally: LossTally) -> None:
    """Take the losses of all pairs of rows of log-probabilities (n, V).

    An output that has no chance from one of two inputs is an infinite loss; one that
    has none from either is none.
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
