"""Tests the program against its formula: draws of words and of noise.

Words and noisy vectors are drawn on the release path, inputs and epsilons mixed in
one batch. Every input is drawn a few times; the greatest outliers are also chosen
and drawn again.

For words, counts are compared with the exact distribution of each input:
- pairs: every output of every chosen input, too many and too few;
- outputs: every word, over all chosen inputs together (a word never written);
- relations: copies of the input, of its neighbours in the vocabulary, in the batch and
  by meaning, where a mistake or a leak would show;
- levels: the share of outputs below given probabilities (a wrong epsilon).
At small epsilons a copy is rare, so that one in ten thousand shows. Small batches come
first: the many draws after them would show a fault that begins late.

For noise:
- standard: if the mechanism gives its noise as a direction and an amount
  (`standard_noise`), amounts against their Gamma distribution, directions against the
  uniform one (coordinates, random projections, products of neighbours in the batch),
  each word alone as well;
- length: if the claim is epsilon times the distance of the space, noise with one
  density for all words, with an epsilon-Lipschitz logarithm, is, on every ray, no
  shorter than Gamma(d, 1/epsilon) in the likelihood-ratio order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dptext.guarantees.audit import findings
from dptext.guarantees.audit.findings import (
    ALARM,
    BATCH,
    AuditDraws,
    DrawPoints,
    MultipleTests,
    ProgramTest,
    Progress,
    all_inputs,
    choose_inputs,
    draw_points,
    label,
    mixed_batches,
)
from dptext.mechanisms import Mechanism, NoiseMechanism
from dptext.types import Eps, Floats, Ids, Ints, Points, blocks

_SEED = 2
# Parts of the epsilon that is audited, and of the draws that each gets.
_PARTS = ((1.0, 0.4), (0.25, 0.2), (1.0 / 64.0, 0.4))
# Draws of every input, how many of those that stand out are drawn again, how often, and
# how many of these are tested.
_SCREEN, _SECOND, _AGAIN, _STANDING_OUT = 32, 8192, 128, 16
_SMALL_BATCHES = 400
_LEVELS = -np.array([0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0, 12.0, 16.0])
_COPIES = "copies of the input"
_RARE = 1e-3
_RARE_COPIES = "copies of the input where at most one in a thousand is due"
# Up to this many rows of probabilities are held at once.
_ROWS = 256
_RANDOM, _NOISE_SEED = 16, 4
_BATCH = 2**14
_CHOSEN, _TURNS, _EXTREME = 64, 8, 32
_NOISE_PARTS = (1.0, 0.25)
# Noise that is not much larger than the rounding of a vector is not looked at.
_ROUNDED = 2.0**-10


@dataclass(frozen=True, slots=True)
class DrawnGroup:
    """Draws at a single epsilon."""

    name: str
    epsilon: float
    #: Positions in the chosen words: (n,).
    inputs: Ints
    #: Drawn words: (n,).
    outputs: Ids
    #: The word that follows in the batch: (n,).
    next_in_batch: Ids
    #: The first word of the batch: (n,).
    first_in_batch: Ids
    power: bool = field(default=False, kw_only=True)


def choose_outliers(
    mechanism: Mechanism, draws: AuditDraws, ladder: tuple[float, ...]
) -> Ids:
    """Choose inputs most or least often copied, or most often one other word.

    There are two rounds: a few draws of every input, then more for the outliers, so
    that a fault of some points in one word of a large vocabulary is not lost in chance.
    """
    every = all_inputs(mechanism)
    rng = np.random.default_rng(_SEED)
    picked = []
    for epsilon in {ladder[0], ladder[-1]}:
        for measure in _rank(every, epsilon, draws=draws, times=_SCREEN, rng=rng):
            some = np.sort(every[measure[:_SECOND]])
            again = _rank(some, epsilon, draws=draws, times=_AGAIN, rng=rng)
            picked += [some[each[:_STANDING_OUT]] for each in again]
            picked.append(every[measure[: _STANDING_OUT // 4]])
    return np.unique(np.concatenate(picked))


def _rank(
    ids: Ids, epsilon: float, draws: AuditDraws, times: int, rng: np.random.Generator
) -> tuple[Ints, Ints, Ints]:
    """Return positions sorted by most copies, fewest copies, and one other word."""
    drawn = np.empty((times, len(ids)), np.int32)
    for turn, part in mixed_batches(len(ids), times, BATCH, rng):
        drawn[turn, part] = draws.words(ids[part], np.full(len(part), epsilon))
    copies = (drawn == ids).sum(axis=0)
    drawn = np.where(drawn == ids, -np.arange(1, times + 1)[:, None], drawn)
    drawn.sort(axis=0)
    same = np.zeros(len(ids), np.int64)
    for lag in range(1, times):
        same[(drawn[lag:] == drawn[:-lag]).any(axis=0)] = lag
    most, fewest, one_word = -copies, copies, -same
    ranked = [
        np.argsort(each, kind="stable").astype(np.int64)
        for each in (most, fewest, one_word)
    ]
    return ranked[0], ranked[1], ranked[2]


def _in_batches(
    draws: AuditDraws, ids: Ids, batches: Iterable[tuple[Ints, Eps]]
) -> list[NDArray[Any]]:
    """Draw batches of positions and epsilons; return them with a group's data."""
    drawn = []
    for rows, eps in batches:
        words = ids[rows]
        outputs = draws.words(words, eps)
        first = words[:1].repeat(len(words))
        drawn.append((eps, rows, outputs, np.roll(words, -1), first))
    return [np.concatenate(column) for column in zip(*drawn, strict=True)]


def draw_mixed(
    ladder: tuple[float, ...], draws: AuditDraws, ids: Ids, number: int
) -> Iterator[DrawnGroup]:
    """Draw random chosen words, with epsilons mixed in each batch."""
    rng = np.random.default_rng(_SEED + 1)
    shares = np.array([part for _, part in _PARTS[: len(ladder)]])
    shares /= shares.sum()
    epsilons = np.array(ladder)
    batches = (
        (rng.integers(0, len(ids), size), rng.choice(epsilons, size, p=shares))
        for size in (part.stop - part.start for part in blocks(number, BATCH))
    )
    eps, *columns = _in_batches(draws, ids, batches)
    for each in ladder:
        parts = (column[eps == each] for column in columns)
        yield DrawnGroup(f"epsilon {each:.6g}", each, *parts, power=True)


def few(ids: Ids, epsilon: float, draws: AuditDraws) -> DrawnGroup:
    """Draw in batches of one to four words."""
    rng = np.random.default_rng(_SEED + 2)
    sizes = (1 + number % 4 for number in range(_SMALL_BATCHES))
    batches = (
        (rng.integers(0, len(ids), size), np.full(size, epsilon)) for size in sizes
    )
    _, *columns = _in_batches(draws, ids, batches)
    return DrawnGroup(f"epsilon {epsilon:.6g}, small batches", epsilon, *columns)


def draw_as_released(
    draws: AuditDraws, ids: Ids, epsilon: float, number: int
) -> DrawnGroup:
    """Draw as the strategy does: each word once per record or run."""
    assert draws.released is not None
    times = max(1, number // len(ids))
    outputs = draws.released(ids, epsilon, times).reshape(-1)
    rows = np.tile(np.arange(len(ids)), times)
    following, first = np.roll(ids, -1)[rows], ids[:1].repeat(len(rows))
    name = f"epsilon {epsilon:.6g}, strategy {draws.strategy}"
    return DrawnGroup(
        name=name,
        epsilon=epsilon,
        inputs=rows,
        outputs=outputs,
        next_in_batch=following,
        first_in_batch=first,
    )


def _relations(
    mechanism: Mechanism, ids: Ids, group: DrawnGroup
) -> tuple[list[str], Ints]:
    """Return outputs that a bug or leak would show, by name, -1 if none: (r, n).

    The last relation, where copies are rare, is filled in from the exact distributions
    later.
    """
    words = ids[group.inputs].astype(np.int64)
    orders = mechanism.space.lexicon.orders
    after = np.where(words + 1 < mechanism.space.size, words + 1, -1)
    relations: dict[str, NDArray[np.integer]] = {
        _COPIES: words,
        "copies of the next word in the batch": group.next_in_batch,
        "copies of the first word in the batch": group.first_in_batch,
        "the word after the input in the vocabulary": after,
        "the word before the input in the vocabulary": words - 1,
    }
    for rank in range(1, min(3, orders.shape[1])):
        relations[f"the word at rank {rank + 1} of the input"] = orders[words, rank]
    relations[_RARE_COPIES] = np.full(len(words), -1)
    return list(relations), np.stack(list(relations.values()), dtype=np.int64)


def audit_words(
    mechanism: Mechanism,
    epsilon: float,
    draws: AuditDraws,
    inputs: int,
    number: int,
    progress: Progress,
) -> ProgramTest:
    """Test the program against its formula by `number` draws of chosen words."""
    # The epsilon to audit, and smaller ones for which the mechanism is defined.
    ladder: tuple[float, ...] = (epsilon,)
    if not mechanism.params.needs_one_epsilon:
        smaller = (epsilon * part for part, _ in _PARTS[1:])
        ladder += tuple(each for each in smaller if mechanism.is_defined(each))
    tests = MultipleTests()
    ids = choose_inputs(mechanism, inputs)
    screening = ""
    if mechanism.space.size + 1 > inputs:
        listed = " and ".join(f"{value:.4g}" for value in ladder)
        progress(f"drawing every word {_SCREEN} times at epsilon {listed}")
        ids = np.unique(
            np.concatenate((ids, choose_outliers(mechanism, draws, ladder)))
        )
        screening = (
            f", {_SCREEN} draws of each of the {mechanism.space.size + 1:,} inputs and "
            f"{_AGAIN} more of some {_SECOND:,} to find those that stand out"
        )
    progress(f"drawing {len(ids):,} words {number:,} times, epsilons mixed")
    first = few(ids, ladder[-1], draws)
    groups = [*draw_mixed(ladder, draws, ids, number), first]
    strategy = ""
    if draws.released is not None:
        groups.append(draw_as_released(draws, ids, epsilon, number // 8))
        strategy = f", also by the strategy {draws.strategy}"
    progress("comparing the counts with the exact output distributions")
    for group in groups:
        _hold(tests, mechanism, ids=ids, group=group, alarm=ALARM / len(groups))
    inputs_said = f"{len(ids):,} inputs against their exact output distributions"
    return tests.conclude(
        inputs_said + screening + strategy,
        sum(len(group.outputs) for group in groups),
        ladder,
    )


def _hold(
    tests: MultipleTests,
    mechanism: Mechanism,
    ids: Ids,
    group: DrawnGroup,
    alarm: float,
) -> None:
    """Test a group's draws against the exact distribution of each input.

    Pairs get two fifths of the false-alarm rate; outputs, relations and levels a fifth
    each.
    """
    size, total, fifth = mechanism.space.size, len(group.outputs), alarm / 5.0
    outside = (group.outputs < 0) | (group.outputs >= size)
    if outside.any():
        tests.fail("an output that is not a word", total, int(outside.sum()))
        return
    names, relations = _relations(mechanism, ids, group)
    due = np.zeros(len(names))
    levels = np.exp(_LEVELS)
    expected, below = np.zeros(size), np.zeros(len(levels))
    chances_of_drawn = np.empty(total)
    counts = np.bincount(group.inputs, minlength=len(ids))
    for part in blocks(len(ids), _ROWS):
        begin = part.start
        probs = mechanism.probs(ids[part], group.epsilon)
        draws = np.flatnonzero(group.inputs // _ROWS == begin // _ROWS)
        rows = group.inputs[draws] - begin
        outputs, share = group.outputs[draws], 2.0 * fifth * len(probs) / len(ids)
        named = partial(_becomes, mechanism, ids[part], group.name)
        _test_pairs(tests, probs, rows, outputs, alarm=share, named=named)
        expected += counts[part] @ probs
        chances_of_drawn[draws] = probs[rows, outputs]
        for number, level in enumerate(levels):
            inside = np.where(probs <= level, probs, 0.0).sum(axis=1)
            below[number] += counts[part] @ np.minimum(inside, 1.0)
        for number, targets in enumerate(relations):
            known = targets[draws] >= 0
            at = draws[known]
            chances = probs[rows[known], targets[at]]
            due[number] += chances.sum()
            if number == 0:
                # Where a copy is rare one in ten thousand shows at any epsilon.
                at = at[chances <= _RARE]
                relations[-1, at] = targets[at]
    tests.take(
        np.bincount(group.outputs, minlength=size),
        total,
        chances=np.clip(expected / total, 0.0, 1.0),
        alarm=fifth,
        named=lambda at: f"outputs {label(mechanism, at)!r}, {group.name}",
    )
    targeted = (relations >= 0).sum(axis=1)
    hits = (relations == group.outputs).sum(axis=1)
    rates = np.minimum(due / np.maximum(targeted, 1), 1.0)
    events = [f"{name}, {group.name}" for name in names]
    tests.take(hits, targeted, chances=rates, alarm=fifth, named=events.__getitem__)
    below /= total
    # Rounding of a sum over V, where an output is always or never so rare.
    sure = np.abs(below - np.round(below)) < 1e-9
    tests.take(
        (chances_of_drawn <= levels[:, None]).sum(axis=1),
        total,
        chances=np.where(sure, np.round(below), below),
        alarm=fifth,
        named=lambda at: f"outputs rarer than {levels[at]:.2g}, {group.name}",
    )
    if group.power:
        for at in (0, -1):
            n, level = int(targeted[at]), fifth / (2.0 * len(names))
            if n:
                tests.finds(events[at], float(rates[at]), n, level)
        missing = f"a word never written, {group.name}"
        tests.finds_missing(missing, total, fifth / (2.0 * size))
        rare = f"one output of one input that should be rare, {group.name}"
        of_pair = 2.0 * fifth / (2.0 * len(ids) * size)
        tests.finds(rare, 1.0 / size, int(np.median(counts)), of_pair)


def _becomes(mechanism: Mechanism, inputs: Ids, group: str, row: int, word: int) -> str:
    before, after = label(mechanism, inputs[row]), label(mechanism, word)
    return f"{before!r} becomes {after!r}, {group}"


def _test_pairs(
    tests: MultipleTests,
    probs: Floats,
    rows: Ints,
    outputs: Ids,
    *,
    alarm: float,
    named: Callable[[int, int], str],
) -> None:
    """Test every drawn output of some inputs, and those expected but not drawn.

    probs (m, V) are exact; rows (n,) index the input of each of the outputs (n,);
    named: names a row and an output.
    """
    size = probs.shape[1]
    counts = np.bincount(rows, minlength=len(probs))
    hits = np.bincount(rows * size + outputs, minlength=probs.size)
    # An output that was never drawn can only be too rare if it was expected often.
    often = (probs * counts[:, None]).ravel() > 10.0
    looked = np.flatnonzero((hits > 0) | often)
    tests.take(
        hits[looked],
        counts[looked // size],
        chances=probs.ravel()[looked],
        alarm=alarm,
        named=lambda at: named(*divmod(int(looked[at]), size)),
        among=probs.size,
    )


@dataclass(slots=True)
class _CountsBelow:
    """Counts of values below known quantiles, per variable: hits (m, levels)."""

    event: str
    quantiles: Floats
    hits: Ints
    draws: int = 0

    def take(self, values: Floats) -> None:
        """Count values of each variable: (n, m)."""
        self.draws += len(values)
        for level, quantile in enumerate(self.quantiles):
            self.hits[:, level] += (values <= quantile).sum(axis=0)


class NoiseCounts:
    """Counts of noise below known quantiles, at a single epsilon.

    amounts (words, levels) of draws (words,); directions have a width, 0 if unknown.
    """

    def __init__(self, epsilon: float, words: int, shape: float, width: int) -> None:
        self.epsilon = epsilon
        self._steps = findings.gamma_quantiles(shape)
        self._amounts = np.zeros((words, len(findings.LEVELS)), np.int64)
        self._draws = np.zeros(words, np.int64)
        self._turns = findings.LEVELS if width != 1 else np.array([0.5])
        self._directions: tuple[_CountsBelow, ...] = ()
        if width:
            rng = np.random.default_rng(_NOISE_SEED + 2)
            axes = rng.normal(size=(width, _RANDOM))
            self._axes = axes / np.linalg.norm(axes, axis=0)
            turns = findings.projection_quantiles(width)
            self._directions = tuple(
                _CountsBelow(event, turns, np.zeros((count, len(turns)), np.int64))
                for event, count in (
                    ("a coordinate or projection of the direction", width + _RANDOM),
                    ("a projection of the direction of short noise", _RANDOM),
                    ("the product of two directions in a batch", 1),
                )
            )

    def take(self, rows: Ints, amounts: Floats, directions: Floats | None) -> None:
        """Count noise draws: words and amounts (n,), directions (n, d) if known."""
        self._draws += np.bincount(rows, minlength=len(self._draws))
        for level, step in enumerate(self._steps):
            below = rows[amounts <= step]
            self._amounts[:, level] += np.bincount(below, minlength=len(self._draws))
        if directions is None:
            return
        projections = np.hstack([directions, directions @ self._axes])
        median = self._steps[len(self._steps) // 2]
        # Each pair of neighbours once: draws that share no word are independent.
        even = len(directions) // 2 * 2
        near = np.einsum("nd,nd->n", directions[0:even:2], directions[1:even:2])
        every, short, products = self._directions
        every.take(projections)
        short.take(projections[amounts <= median, -_RANDOM:])
        products.take(near[:, None])

    def test(
        self, tests: MultipleTests, mechanism: NoiseMechanism, ids: Ids, alarm: float
    ) -> None:
        """Test all counts; if lengths are only bounded, a long one is no fault."""
        levels, at = findings.LEVELS, f"epsilon {self.epsilon:.6g}"

        def name_all(i: int) -> str:
            return f"noise below its quantile {levels[i]:g}, {at}"

        def name_word(i: int) -> str:
            word = label(mechanism, ids[i // len(levels)])
            quantile = f"{levels[i % len(levels)]:g}, {at}"
            return f"noise of {word!r} below its quantile {quantile}"

        total = self._draws.sum(keepdims=True)
        for hits, n, named in (
            (self._amounts.sum(axis=0), total, name_all),
            (self._amounts, self._draws[:, None], name_word),
        ):
            if not self._directions:
                # A bound from above: fewer short lengths than that are no deviation.
                hits = np.maximum(hits, np.floor(n * levels).astype(int))
            tests.take(hits, n, chances=levels, alarm=alarm / 4.0, named=named)
        level = alarm / 8.0 / len(levels)
        tests.finds(f"noise below its median, {at}", 0.5, int(total[0]), level)
        for below in self._directions:
            name = f"{below.event}, {at}"
            tests.take(
                below.hits,
                below.draws,
                chances=self._turns,
                alarm=alarm / 6.0,
                named=name,
            )
        for every in self._directions[:1]:
            side = f"one side of a coordinate of the direction, {at}"
            tests.finds(side, 0.5, every.draws, alarm / 12.0 / every.hits.size)


def audit_noise(
    mechanism: NoiseMechanism,
    epsilon: float,
    draw: DrawPoints,
    number: int,
    progress: Progress,
) -> ProgramTest:
    """Test the noise with `number` draws."""
    exact = type(mechanism).standard_noise is not NoiseMechanism.standard_noise
    # Else the claim must be epsilon times the distance of the space.
    promise = mechanism.guarantee(epsilon)
    if not exact and not promise.counts(mechanism.space.distance):
        untested = ("the noise itself: its distribution is not known to the audit",)
        return ProgramTest(False, False, "no formula of the noise", untested=untested)
    if not _fine(draw_points(draw, 0, epsilon, 64)):
        untested = ("the noise itself: it is lost in the rounding of the vectors",)
        return ProgramTest(False, False, "noise too small", untested=untested)
    ids = choose_inputs(mechanism, _CHOSEN)
    if mechanism.space.size + 1 > _CHOSEN:
        progress(f"drawing every word {_TURNS} times at epsilon {epsilon:.4g}")
        ids = np.unique(np.concatenate((ids, _extreme(mechanism, draw, epsilon))))
    progress(f"drawing {len(ids)} words {number:,} times, epsilons mixed")
    tallies = _tally(mechanism, epsilon, draw=draw, ids=ids, number=number)
    tests = MultipleTests()
    for tally in tallies:
        tally.test(tests, mechanism, ids, ALARM / len(tallies))
    method = (
        f"amount and direction of the noise of {len(ids)} words"
        if exact
        else f"length of the noise of {len(ids)} words against the least that a claim "
        "at every distance allows (noise of one density for all words)"
    )
    return tests.conclude(method, number, tuple(each.epsilon for each in tallies))


def _standard(
    mechanism: NoiseMechanism, ids: Ids, points: Points, eps: Eps
) -> tuple[Floats | None, Floats, float]:
    """Return directions (n, j) if known, amounts (n,) and their Gamma shape."""
    standard = mechanism.standard_noise(ids, points, eps)
    if standard is not None:
        return standard
    noise = points.astype(np.float64) - mechanism.space.vectors[ids]
    return None, eps * np.linalg.norm(noise, axis=1), float(noise.shape[1])


def _fine(points: Points) -> bool:
    """Return whether noise is well above float32 rounding and below its limit."""
    spread = np.abs(points - np.median(points, axis=0)).mean()
    length = float(np.abs(points).max())
    # Points that all coincide are no rounded noise: that is for the tests.
    return bool(
        spread == 0.0 or (spread * _ROUNDED > length * 2.0**-24 and length < 1e12)
    )


def _extreme(mechanism: NoiseMechanism, draw: DrawPoints, epsilon: float) -> Ids:
    """Choose the words with the shortest or longest noise on average."""
    every = all_inputs(mechanism)
    sums = np.zeros(len(every))
    rng = np.random.default_rng(_NOISE_SEED)
    for _, part in mixed_batches(len(every), _TURNS, _BATCH, rng):
        eps = np.full(len(part), epsilon)
        for at, points in draw(every[part], eps):
            amounts = _standard(mechanism, every[part[at]], points, eps[at])[1]
            sums[part[at]] += amounts
    order = np.argsort(sums, kind="stable")
    return every[np.concatenate((order[:_EXTREME], order[-_EXTREME:]))]


def _tally(
    mechanism: NoiseMechanism, epsilon: float, draw: DrawPoints, ids: Ids, number: int
) -> list[NoiseCounts]:
    """Draw random words, with epsilons mixed in each batch, and count."""
    rng = np.random.default_rng(_NOISE_SEED + 1)
    ladder = [epsilon * part for part in _NOISE_PARTS]
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
                width = 0 if directions is None else directions.shape[1]
                tallies = [
                    NoiseCounts(value, len(ids), shape, width) for value in ladder
                ]
            for each, tally in enumerate(tallies):
                chosen = which[at] == each
                turned = None if directions is None else directions[chosen]
                tally.take(rows[at][chosen], amounts[chosen], turned)
    return tallies
