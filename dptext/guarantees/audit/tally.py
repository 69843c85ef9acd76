"""The tally of pairs that an audit's finding is drawn up from."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dptext.guarantees.audit.finding import (
    ROUNDING,
    TOLERANCE,
    Finding,
    Published,
    claims,
    label,
)
from dptext.mechanisms import Mechanism


def over(loss: NDArray[np.float64], bound: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return loss / bound; 0 under no bound, inf for a loss where none is allowed."""
    none = np.where(loss > ROUNDING, math.inf, 0.0)
    real = (bound > 0.0) & np.isfinite(bound)
    return np.divide(loss, bound, out=np.where(bound <= 0.0, none, 0.0), where=real)


def excess(loss: NDArray[np.float64], bound: NDArray[np.float64]) -> float:
    """Return the nats by which a loss is above its bound, more than rounding allows."""
    with np.errstate(invalid="ignore"):
        above = loss - bound * (1.0 + TOLERANCE) - ROUNDING
    # inf - inf: where nothing is promised nothing is exceeded.
    return float(np.nan_to_num(above, nan=-math.inf, posinf=math.inf).max())


class Tally:
    """The largest loss and the largest ratios met so far, of ordered pairs."""

    def __init__(self, mechanism: Mechanism, epsilon: float) -> None:
        self._mechanism = mechanism
        self._epsilon = epsilon
        self.worst = (-math.inf, 0, 0, 0, math.inf)
        self.ratio = (-math.inf, 0, 0)
        self.excess = -math.inf
        self.pairs = 0
        self.infinite = 0
        self.published = (-math.inf, 0, 0, 0.0, math.inf)
        self.beyond: float | None = None

    def take(
        self,
        a: NDArray[np.integer],
        b: NDArray[np.integer],
        loss: NDArray[np.float64],
        output: NDArray[np.integer],
        claim: NDArray[np.float64] | None = None,
    ) -> None:
        """Take in pairs (n,): losses, and the outputs that show them.

        claim (n,): the bounds, where they are other than the mechanism's and the
        paper's.
        """
        stated = None
        if claim is None:
            inputs = a.astype(np.int32), b.astype(np.int32)
            claim = self._mechanism.claimed_loss(*inputs, self._epsilon)
            if not claims(self._mechanism, self._epsilon):
                stated = self._mechanism.published_loss(*inputs, self._epsilon)
        self.pairs += len(loss)
        self.infinite += int(np.isinf(loss).sum())
        position = int(loss.argmax())
        if loss[position] > self.worst[0]:
            named = int(a[position]), int(b[position]), int(output[position])
            self.worst = (float(loss[position]), *named, float(claim[position]))
        ratio = over(loss, claim)
        position = int(ratio.argmax())
        if ratio[position] > self.ratio[0]:
            self.ratio = (float(ratio[position]), int(a[position]), int(b[position]))
        self.excess = max(self.excess, excess(loss, claim))
        if stated is None:
            return
        ratio = over(loss, stated)
        position = int(ratio.argmax())
        if ratio[position] > self.published[0]:
            pair = int(a[position]), int(b[position])
            values = float(loss[position]), float(stated[position])
            self.published = (float(ratio[position]), *pair, *values)
        before = -math.inf if self.beyond is None else self.beyond
        self.beyond = max(before, excess(loss, stated))

    def take_pair(self, pair: tuple[int, int], loss: float, output: int) -> None:
        """Take in one ordered pair."""
        a, b = (np.array([row], np.int32) for row in pair)
        self.take(a, b, np.array([loss]), np.array([output]))

    def finding(
        self,
        method: str,
        inputs: int,
        *,
        named: Callable[[int], str] | None = None,
        by: str = "exact losses",
    ) -> Finding:
        """Draw up an audit; by says what the losses are."""
        mechanism = self._mechanism

        def name(row: int) -> str:
            return named(row) if named else label(mechanism, row)

        loss, x, other, output, claim = self.worst
        claiming = claims(mechanism, self._epsilon)
        return Finding(
            method=method,
            inputs=inputs,
            pairs=self.pairs,
            worst=loss,
            worst_pair=(name(x), name(other)),
            worst_output=label(mechanism, output),
            claim_of_worst=claim,
            ratio=self.ratio[0],
            ratio_pair=(name(self.ratio[1]), name(self.ratio[2])),
            infinite=self.infinite / self.pairs if self.pairs else 0.0,
            claims=claiming,
            refuted=claiming and self.excess > 0.0,
            published=self._published(by),
        )

    def _published(self, by: str) -> Published | None:
        if self.beyond is None:
            return None
        mechanism = self._mechanism
        ratio, a, b, loss, bound = self.published
        return Published(
            source=mechanism.guarantee(self._epsilon).source,
            refuted=self.beyond > 0.0,
            by=by,
            ratio=ratio,
            pair=(label(mechanism, a), label(mechanism, b)),
            loss=loss,
            bound=bound,
        )
