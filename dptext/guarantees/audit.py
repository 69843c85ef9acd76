"""Is the claim true? The exact worst loss of a mechanism, or a bound from samples.

Three ways, the first that fits:
- identity: for P(y|x) ~ exp(-eps t(x, y) / 2) with a metric t, all pairs of V by
  L(x, x') = eps t(x, x') / 2 + ln Z_x' - ln Z_x, in O(V^2);
- subset: exact laws of chosen inputs over all outputs, every ordered pair of them;
- samples: a lower bound for noise mechanisms; it can refute a claim, never prove one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dptext.guarantees.binomial import limits
from dptext.mechanisms import Channel
from dptext.types import Eps, Ids

# Rounding that an exact audit forgives, relative to the claim and in nats (distances
# of near words are differences of nearly equal numbers).
TOLERANCE = 1e-9
_ROUNDING = 1e-9
_SEED = 1

Draw = Callable[[Ids], Ids]


@dataclass(frozen=True, slots=True)
class Finding:
    """What an audit found; losses in nats, inf for an output that only one input has.

    worst the largest loss (a lower bound when sampled) with its ordered pair of inputs
    and the output that tells them apart; ratio the largest loss over claim of any pair;
    infinite the share of audited ordered pairs with an infinite loss; refuted whether a
    pair exceeds its claim.
    """

    method: str
    inputs: int
    pairs: int
    worst: float
    worst_pair: tuple[str, str]
    worst_output: str
    claim_of_worst: float
    ratio: float
    ratio_pair: tuple[str, str]
    infinite: float
    claims: bool
    refuted: bool
    confidence: float | None = None


def audit(
    channel: Channel,
    epsilon: float,
    draw: Draw,
    *,
    inputs: int = 200,
    runs: int = 20000,
) -> Finding:
    """Audit a mechanism at an epsilon.

    draw runs mechanism and mapping once for each id given; inputs is how many words a
    subset holds; runs how often each of a few words is drawn for a noise mechanism.
    """
    if getattr(channel.module, "METRIC_LAW", False):
        return _identity(channel, epsilon)
    if not channel.exact:
        return _proven(channel, _samples(channel, epsilon, draw, runs))
    return _proven(channel, _subset(channel, epsilon, inputs))


def _proven(channel: Channel, found: Finding) -> Finding:
    """Take in what a mechanism's author proved of its worst loss, where it is more."""
    least = getattr(channel.module, "least_loss", None)
    proven = least(channel.state) if least else -math.inf
    if proven <= found.worst:
        return found
    return replace(
        found,
        method=f"{found.method}; the worst loss is a proven lower bound",
        worst=proven,
        worst_pair=("some word", "another"),
        worst_output="",
        claim_of_worst=math.inf,
        refuted=found.refuted or found.claims,
    )


def claimed(channel: Channel, epsilon: float, a: Ids, b: Ids) -> NDArray[np.float64]:
    """Return the claimed bound on the loss of pairs of inputs, (n,) nats.

    The mechanism's own where it gives one (`claimed`), else epsilon times its reach.
    """
    module = channel.module
    if hasattr(module, "claimed"):
        bound: NDArray[np.float64] = module.claimed(channel.state, epsilon, a, b)
        return bound
    promise = module.guarantee(channel.state, epsilon)
    reach = promise.reach if promise.notion != "none" else math.inf
    return np.full(len(a), epsilon * reach)


def _claims(channel: Channel, epsilon: float) -> bool:
    notion: str = channel.module.guarantee(channel.state, epsilon).notion
    return notion != "none"


def _word(channel: Channel, row: int) -> str:
    words = channel.space.lexicon.words
    return "<unknown word>" if row in (-1, len(words)) else words[row]


def _identity(channel: Channel, epsilon: float) -> Finding:
    """Audit all ordered pairs of V by the identity."""
    size = channel.space.size
    log_z = np.empty(size)
    blocks = _blocks(size)
    for part in blocks:
        law = _log_weights(channel, part, epsilon)
        top = law.max(axis=1)
        law -= top[:, None]
        log_z[part] = np.log(np.exp(law, out=law).sum(axis=1)) + top
    best = _Best()
    for part in blocks:
        best.take_half(part, -_log_weights(channel, part, epsilon), log_z)
    return best.finding(
        channel, epsilon, "exact: all pairs of V, by the identity", size, size**2 - size
    )


class _Best:
    """The largest loss and the largest ratio met so far."""

    def __init__(self) -> None:
        self.worst = (-math.inf, 0, 0, 0, math.inf)
        self.ratio = (-math.inf, 0, 0)
        self.excess = -math.inf
        self.infinite = 0

    def take(
        self,
        rows: NDArray[Any],
        columns: NDArray[Any],
        loss: NDArray[np.float64],
        ratio: NDArray[np.float64],
        claim: NDArray[np.float64],
    ) -> None:
        """Take in a block of losses (rows, columns) of inputs against inputs."""
        place = np.unravel_index(int(loss.argmax()), loss.shape)
        if loss[place] > self.worst[0]:
            x, other = int(rows[place[0]]), int(columns[place[1]])
            self.worst = (float(loss[place]), x, other, x, float(claim[place]))
        place = np.unravel_index(int(ratio.argmax()), ratio.shape)
        if ratio[place] > self.ratio[0]:
            pair = int(rows[place[0]]), int(columns[place[1]])
            self.ratio = (float(ratio[place]), *pair)
        with np.errstate(invalid="ignore"):
            over = loss - claim * (1.0 + TOLERANCE) - _ROUNDING
        self.excess = max(self.excess, float(np.nan_to_num(over, nan=0.0).max()))
        self.infinite += int(np.isinf(loss).sum())

    def take_half(
        self,
        rows: NDArray[np.int64],
        half: NDArray[np.float64],
        log_z: NDArray[np.float64],
    ) -> None:
        """Take in rows of eps t / 2 against all of V; the claim is eps t.

        The larger loss of a pair is half + |ln Z - ln Z'|, whichever its order.
        """
        begin = int(rows[0])
        half = half[:, begin:]
        half[np.arange(len(rows)), np.arange(len(rows))] = math.inf
        loss = log_z[begin:][None, :] - log_z[rows][:, None]
        np.abs(loss, out=loss)
        # loss / claim = 1/2 + |ln Z - ln Z'| / claim
        ratio = loss / half
        place = np.unravel_index(int(ratio.argmax()), ratio.shape)
        pair = self._ordered(rows, begin, place, log_z)
        value = 0.5 + float(ratio[place]) / 2.0
        if value > self.ratio[0]:
            self.ratio = (value, *pair)
        over = float(loss[place]) - float(half[place]) * (1.0 + 2.0 * TOLERANCE)
        self.excess = max(self.excess, over - _ROUNDING)
        half[np.isinf(half)] = 0.0
        loss += half
        place = np.unravel_index(int(loss.argmax()), loss.shape)
        if loss[place] > self.worst[0]:
            pair = self._ordered(rows, begin, place, log_z)
            claim = 2.0 * float(half[place])
            self.worst = (float(loss[place]), *pair, pair[0], claim)

    @staticmethod
    def _ordered(
        rows: NDArray[np.int64],
        begin: int,
        place: tuple[Any, ...],
        log_z: NDArray[np.float64],
    ) -> tuple[int, int]:
        """Return the pair in the order of the larger loss: ln Z' - ln Z > 0."""
        x, other = int(rows[place[0]]), begin + int(place[1])
        return (x, other) if log_z[other] >= log_z[x] else (other, x)

    def finding(
        self, channel: Channel, epsilon: float, method: str, inputs: int, pairs: int
    ) -> Finding:
        """Return the end of an exact audit."""
        loss, x, other, output, claim = self.worst
        claims = _claims(channel, epsilon)
        return Finding(
            method=method,
            inputs=inputs,
            pairs=pairs,
            worst=loss,
            worst_pair=(_word(channel, x), _word(channel, other)),
            worst_output=_word(channel, output),
            claim_of_worst=claim,
            ratio=self.ratio[0],
            ratio_pair=(_word(channel, self.ratio[1]), _word(channel, self.ratio[2])),
            infinite=self.infinite / pairs if pairs else 0.0,
            claims=claims,
            refuted=claims and self.excess > 0.0,
        )


def _subset(channel: Channel, epsilon: float, count: int) -> Finding:
    """Audit every ordered pair of chosen inputs over all outputs."""
    chosen = subset(channel, count)
    law = _log_weights(channel, chosen, epsilon)
    law -= law.max(axis=1, keepdims=True)
    law -= np.log(np.exp(law).sum(axis=1))[:, None]
    best = _Best()
    every = np.arange(len(chosen))
    for row in every:
        with np.errstate(invalid="ignore"):
            gaps = law[row][None, :] - law
        gaps[:, np.isneginf(law[row])] = -math.inf
        loss = gaps.max(axis=1)
        output = int(gaps[int(loss.argmax())].argmax())
        mine = np.repeat(chosen[row : row + 1], len(chosen))
        claim = claimed(channel, epsilon, mine, chosen)
        finite = (claim > 0) & np.isfinite(claim)
        ratio = np.divide(loss, claim, out=np.zeros_like(loss), where=finite)
        before = best.worst[0]
        best.take(chosen[row : row + 1], chosen, loss[None], ratio[None], claim[None])
        if best.worst[0] > before:
            best.worst = (*best.worst[:3], output, best.worst[4])
    pairs = len(chosen) * (len(chosen) - 1)
    return best.finding(
        channel, epsilon, "exact: chosen inputs, all outputs", len(chosen), pairs
    )


def subset(channel: Channel, count: int) -> Ids:
    """Choose inputs: the unknown word, frequent, random, rare and near words."""
    size = channel.space.size
    if size + 1 <= count:
        return np.append(np.arange(size), -1).astype(np.int32)
    rng = np.random.default_rng(_SEED)
    quarter = count // 4
    picked = [-1, *range(quarter), *rng.choice(size, quarter, replace=False).tolist()]
    near = channel.space.lexicon.orders[np.array(picked[: 2 * quarter]), 1]
    last = size - 1 - np.arange(count - 3 * quarter - 1)
    rows = np.concatenate((picked, near.astype(np.int64), last))
    return np.unique(rows).astype(np.int32)


def _samples(channel: Channel, epsilon: float, draw: Draw, runs: int) -> Finding:
    """Bound the loss of a few near pairs from below (Clopper-Pearson, split samples).

    Half of the runs choose the output words that tell a pair apart most, the other half
    tests them; all limits hold together with 95% confidence.
    """
    inputs = subset(channel, 24)
    inputs = inputs[inputs >= 0][:16]
    near = channel.space.lexicon.orders[inputs, 1].astype(np.int32)
    pairs = [(int(a), int(b)) for a, b in zip(inputs, near, strict=True) if a != b]
    alpha = 0.05 / (2 * len(pairs) * _EVENTS)
    found = {row: draw(np.full(runs, row, np.int32)) for row in {*inputs, *near}}
    best: tuple[float, int, int, int] = (0.0, *pairs[0], pairs[0][0])
    ratio: tuple[float, int, int] = (0.0, *pairs[0])
    for a, b in [*pairs, *((b, a) for a, b in pairs)]:
        loss, output = _lower(found[a], found[b], channel.space.size, alpha)
        claim = float(claimed(channel, epsilon, np.array([a]), np.array([b]))[0])
        best = max(best, (loss, a, b, output))
        ratio = max(ratio, (loss / claim if claim > 0 else 0.0, a, b))
    claims = _claims(channel, epsilon)
    pair = np.array([best[1]]), np.array([best[2]])
    return Finding(
        method=f"lower bound: {len(pairs)} near pairs, {runs} draws of each word",
        inputs=len(found),
        pairs=2 * len(pairs),
        worst=best[0],
        worst_pair=(_word(channel, best[1]), _word(channel, best[2])),
        worst_output=_word(channel, best[3]),
        claim_of_worst=float(claimed(channel, epsilon, *pair)[0]),
        ratio=ratio[0],
        ratio_pair=(_word(channel, ratio[1]), _word(channel, ratio[2])),
        infinite=0.0,
        claims=claims,
        refuted=claims and ratio[0] > 1.0,
        confidence=0.95,
    )


_EVENTS = 4


def _lower(a: Ids, b: Ids, size: int, alpha: float) -> tuple[float, int]:
    """Return ln(p_lo / q_hi) of the best of a few events, and its output word."""
    half = len(a) // 2
    first = np.bincount(a[:half], minlength=size) + 0.5
    second = np.bincount(b[:half], minlength=size) + 0.5
    events = np.argsort(np.log(first / second) * np.sqrt(first))[::-1][:_EVENTS]
    best = (0.0, int(events[0]))
    for output in events.tolist():
        low, _ = limits(int((a[half:] == output).sum()), len(a) - half, alpha)
        _, high = limits(int((b[half:] == output).sum()), len(b) - half, alpha)
        if low > 0.0:
            best = max(best, (math.log(low / high), output))
    return best


def _log_weights(channel: Channel, ids: NDArray[Any], epsilon: float) -> Any:
    eps: Eps = np.full(len(ids), epsilon)
    return channel.module.log_weights(channel.state, ids.astype(np.int32), eps)


def _blocks(size: int) -> list[NDArray[np.int64]]:
    step = max(1, 2**20 // size)
    return [np.arange(begin, min(begin + step, size)) for begin in range(0, size, step)]
