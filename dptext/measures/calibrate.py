"""Finds the epsilon at which the best attacker's success meets a target.

With exact log-probabilities, a grid is searched upwards for the first epsilon whose
success exceeds the target, since success need not grow with epsilon for every
mechanism, and the answer is checked with all inputs: if one check takes seconds, the
search uses an estimate.

For noise, success grows with epsilon (more noise is noise on top of less), so the limit
above it is found by bisection with the same draws throughout; then a few epsilons,
fixed in advance, are tried upwards on separate draws until the first whose upper limit
exceeds the target. The last one that met it is returned: it is too large with at most
half the rate at which the limits are wrong.

A cached epsilon is only a proposal: the success at it is measured anew, and
if that exceeds the target, the search is repeated.

A risk is chosen for a target of whole-text attackers from a ladder: the risks at
which attackers were measured with the settings.
"""

from __future__ import annotations

import contextlib
import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from dptext import cache
from dptext.attackers import ngrams
from dptext.errors import LexiconError, UsageError
from dptext.lexicons import store
from dptext.measures import bayes_risk, sampled_risk
from dptext.measures.sampled_risk import Wins, sampled_games, wins_of_points
from dptext.mechanisms import Mechanism, RiskEstimate
from dptext.run.interface import option
from dptext.types import Floats, Ints, JsonObject, Lexicon

Success = Callable[[float], float]
# No smaller epsilon is searched for with exact log-probabilities.
LEAST = 1e-4
# Draws of the search, and the epsilons that are then tried, as shares of its result: a
# few where the first almost surely meets the target.
_SEARCH_DRAWS = 8000
_TRIED = (0.7, 0.9, 0.95, 0.98, 1.0)
_TRIED_NEAR = (0.9, 0.96, 1.0)
# Plays that say where to search, and how far around that.
_FEW, _WIDER = 1000, 1.3
_LEAST, _MOST = 1e-6, 1e6
# What decides the result besides the channel, the prior and the target.
SETTINGS = (_SEARCH_DRAWS, _TRIED, _TRIED_NEAR, _FEW, _WIDER)
# The search looks at this many inputs first; all are looked at in the end.
_QUICK = 400
# Up to this many words every step of a search is exact.
_EXACT = 2048
# An estimate is corrected so many times; nearer to the target than this is enough.
_TURNS, _ENOUGH = 4, 1e-3
_GRID = np.geomspace(1e-2, 400.0, 60)
# Figures of attackers on public corpora lie in JSON: `attackers` and `written` by all
# that decides them (dptext.measures.context_risk), and `ladders`, which say for the
# settings of a profile, all but its budget and decoder, at which risks there are such
# figures. Those of the built-in lexicon ship (python -m tools.attackers), an adapted
# one has its own beside it.
ATTACKERS_FILE = "attackers.json"


def crossing_near(success: Success, target: float, point: float, top: float) -> float:
    """Return a crossing near a point, to 1e-4, or `top` if there is none."""
    if success(point) > target:
        return _down(success, target, point, 1e-4)
    low, step = point, 0.005
    while low < top:
        high = min(low * (1.0 + step), top)
        if success(high) > target:
            return _halve(success, target, low=low, high=high, tolerance=1e-4)
        low, step = high, min(2.0 * step, 0.5)
    return top


def first_crossing(
    success: Success,
    target: float,
    grid: list[float],
    tolerance: float,
    drift: float = math.inf,
) -> float | None:
    """Return the last point before success first exceeds target, None if never.

    If success grows at most like exp(drift epsilon), points that certainly meet the
    target are skipped.
    """
    low = safe = 0.0
    for point in grid:
        if point > safe:
            risk = success(point)
            if risk > target:
                return _halve(success, target, low=low, high=point, tolerance=tolerance)
            safe = point + math.log(target / risk) / drift if risk else point
        low = point
    return None


def _down(success: Success, target: float, top: float, tolerance: float) -> float:
    """Return the first point below `top` that meets the target, in growing steps."""
    high, step = top, 0.01
    while high > LEAST:
        low = high * (1.0 - step)
        if success(low) <= target:
            return _halve(success, target, low=low, high=high, tolerance=tolerance)
        high, step = low, min(2.0 * step, 0.5)
    return 0.0


def _halve(
    success: Success, target: float, low: float, high: float, tolerance: float
) -> float:
    """Bisect between low, with success at most target, and high, with more."""
    while high - low > tolerance * high and high > LEAST:
        middle = (low + high) / 2.0
        low, high = (low, middle) if success(middle) > target else (middle, high)
    return low


def search_by_samples(mechanism: Mechanism, target: float, prior: Floats) -> float:
    """Return about the largest epsilon with a risk of at most target.

    Raises UsageError if every epsilon has a larger risk.
    """
    sample = sampled_games(prior, _SEARCH_DRAWS, "search")
    draws = sampled_risk.DRAWS

    def limit(wins: int) -> float:
        return sampled_risk.limits_from_counts(wins, draws)[1]

    # The largest count of wins of the last check with a limit that meets the target.
    goal = bisect_right(range(1, draws), target, key=limit)

    def won(epsilon: float, plays: Ints) -> Wins:
        part = sample.take(plays)
        return np.asarray(wins_of_points(mechanism, epsilon, prior, part)[0])

    crossing = _crossing(won, goal / draws)
    if crossing is None:
        raise _beyond(target, _MOST)
    about, shares = crossing
    # Separate draws, those that measure a risk, so that a report agrees.
    epsilon = 0.0
    for share in shares:
        tried = round_down(share * about)
        if bayes_risk.success(mechanism, tried, prior) > target:
            break
        epsilon = tried
    if not epsilon:
        raise UsageError(
            f"risk {100 * target:.4g}% is too near to the success of a guess without "
            f"any output, {100 * float(prior.max()):.4g}%, to be met reliably with "
            f"{draws:,} draws; give a larger risk"
        )
    return epsilon


def _beyond(target: float, most: float) -> UsageError:
    return UsageError(
        f"risk {target:.2%} cannot be met: with these parameters no epsilon up to "
        f"{most:g} makes a guess succeed that often; give a smaller risk"
    )


def _crossing(
    won: Callable[[float, Ints], Wins], goal: float
) -> tuple[float, tuple[float, ...]] | None:
    """Return where wins reach a goal, at most 1% low, and which shares to test.

    None beyond the largest epsilon. A few games show where to look. More noise is noise
    on top of less: games won, or lost, at both ends of an interval are assumed
    to be so within it, and only the others are played. That is true of nearly all;
    the epsilon found is only the first to test. The shares, upwards, are
    few if the first is almost surely met. They depend only on the draws of the
    search, not on those of the tests.
    """
    few, every = np.arange(_FEW), np.arange(_SEARCH_DRAWS)
    about = _bisect(lambda at: float(won(at, few).mean()) <= goal, 1.0, 1.1)
    if about is None:
        return None
    low, high = about / _WIDER, about * _WIDER
    at_low, at_high = won(low, every), won(high, every)
    while at_low.mean() > goal and low > _LEAST:
        high, at_high = low, at_low
        low = low / _WIDER
        at_low = won(low, every)
    while at_high.mean() <= goal and high <= _MOST:
        low, at_low = high, at_high
        high = high * _WIDER
        at_high = won(high, every)
    if high > _MOST:
        return None

    def between(epsilon: float, one: Wins, other: Wins) -> Wins:
        """Play the games that are won at only one end."""
        wins: Wins = one.copy()
        plays = np.flatnonzero(one != other)
        if len(plays):
            wins[plays] = won(epsilon, plays)
        return wins

    outer = at_low, at_high
    while high > low * 1.01:
        middle = math.sqrt(low * high)
        wins = between(middle, at_low, at_high)
        if wins.mean() <= goal:
            low, at_low = middle, wins
        else:
            high, at_high = middle, wins
    spread = goal * (1.0 - goal) * (1.0 / _SEARCH_DRAWS + 1.0 / sampled_risk.DRAWS)
    near = between(_TRIED_NEAR[0] * low, *outer).mean()
    sure = near <= goal - 3.0 * math.sqrt(spread)
    return low, _TRIED_NEAR if sure else _TRIED


def _bisect(below: Callable[[float], bool], start: float, ratio: float) -> float | None:
    """Return the largest value for which `below` is true, to a ratio, or None."""
    low = high = start
    if below(start):
        high *= 4.0
        while below(high):
            low, high = high, high * 4.0
            if low > _MOST:
                return None
    else:
        low /= 4.0
        while low > _LEAST and not below(low):
            low, high = low / 4.0, low
    while high > low * ratio:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if below(middle) else (low, middle)
    return low


def round_down(value: float) -> float:
    """Round down for display: to three decimals, below 1 to four digits.

    Values above a million are not rounded.
    """
    if value > _MOST:
        return value
    digits = 3 if value >= 1.0 else 3 - math.floor(math.log10(value))
    return round(math.floor(value * 10.0**digits) / 10.0**digits, digits)


def epsilon_for(mechanism: Mechanism, target: float, prior: Floats) -> float:
    """Return about the largest epsilon whose success stays at most target.

    Raises UsageError when the target is below the success of a guess without any
    output, or above the success at every epsilon, and for a mechanism that has neither
    exact log-probabilities nor an upper limit.
    """
    if not mechanism.has_log_probs and not mechanism.has_log_density:
        raise UsageError(
            f"{mechanism.name} has neither an exact output distribution nor an upper "
            f"limit of the risk; give {option('epsilon')} instead of a risk"
        )
    baseline = float(prior.max())
    if not baseline < target < 1.0:
        raise UsageError(
            f"risk {100 * target:.6g}% is out of reach: a guess without any output "
            f"already succeeds for up to {math.ceil(1000 * baseline) / 10:g}% of "
            "words; give a risk above that and below 100%"
        )
    search = _search if mechanism.has_log_probs else search_by_samples
    decisive = ["calibrate", 2, *mechanism.identity, cache.digest(prior), target]
    if not mechanism.has_log_probs:
        decisive += [sampled_risk.DRAWS, *SETTINGS]
    kept = cache.numbers(
        cache.key_of(*decisive),
        lambda: {"epsilon": search(mechanism, target, prior)},
        lambda kept: bayes_risk.success(mechanism, kept["epsilon"], prior) <= target,
        f"finding the epsilon of {mechanism.name} for risk {target:.3g}",
    )
    return float(kept["epsilon"])


def _search(mechanism: Mechanism, target: float, prior: Floats) -> float:
    size = len(prior)
    grid = [point for point in _GRID.tolist() if mechanism.is_defined(point)]

    def success(inputs: int) -> Success:
        def best_guess(epsilon: float) -> float:
            # Below the smallest epsilon there is nothing to be guessed from.
            if not mechanism.is_defined(epsilon):
                return 0.0
            best = bayes_risk.best_guesses(mechanism, prior, epsilon, min(inputs, size))
            return float(best.max(axis=0).sum())

        return best_guess

    largest = _largest(mechanism, success, target=target, prior=prior, grid=grid)
    if largest is None:
        raise _beyond(target, _GRID[-1])
    if largest < LEAST:
        raise UsageError(
            f"risk {100 * target:.4g}% is out of reach: a guess succeeds for "
            f"{100 * success(size)(LEAST):.4g}% of words even at epsilon {LEAST:g}, "
            f"and for {100 * float(prior.max()):.4g}% without any output; give a "
            "larger risk"
        )
    epsilon = round_down(largest)
    if not mechanism.is_defined(epsilon):
        raise UsageError(
            f"risk {target:.2%} is out of reach: at the smallest epsilon for which "
            f"{mechanism.name} is defined more guesses succeed; give a larger risk"
        )
    return epsilon


def _largest(
    mechanism: Mechanism,
    success: Callable[[int], Success],
    target: float,
    prior: Floats,
    grid: list[float],
) -> float | None:
    """Search by estimate or on a grid; success(n) considers the first n inputs."""
    size = len(prior)
    every = success(size)
    risk_estimate = mechanism.risk_estimate(prior) if size > _EXACT else None
    if risk_estimate is not None:
        return _by_estimate(risk_estimate, every, target, grid)
    if mechanism.has_best_guesses or size <= _QUICK:
        return first_crossing(every, target, grid, 1e-4)
    # More inputs are more guesses to choose from, so success can only be larger.
    crossing = first_crossing(success(_QUICK), target, grid, 2e-3)
    top = grid[-1] if crossing is None else crossing
    if every(top) <= target:
        return crossing
    return _down(every, target, top, 1e-3)


def _by_estimate(
    risk_estimate: RiskEstimate, every: Success, target: float, grid: list[float]
) -> float | None:
    """Find a point that meets the target by an estimate; None if all points do.

    However good the estimate is, `every` decides.
    """
    success = risk_estimate.success
    point = first_crossing(
        success, target, grid=grid, tolerance=5e-3, drift=risk_estimate.drift
    )
    if point is None and every(grid[-1]) <= target:
        return None
    point = grid[-1] if point is None else point
    risk_estimate.learn(point)
    wanted, best = target * (1.0 - 1e-4), 0.0
    for _ in range(_TURNS):
        point = round_down(max(crossing_near(success, wanted, point, grid[-1]), LEAST))
        risk = every(point)
        if risk <= target:
            best = max(best, point)
            if risk >= target * (1.0 - _ENOUGH):
                return best
        wanted = success(point) * (target / risk) * (1.0 - 1e-4)
    if best:
        return best
    while point >= LEAST and every(point) > target:
        point *= 0.98
    return point


@dataclass(frozen=True, slots=True)
class Rung:
    """A measured risk in a ladder: its epsilon and the keys of its figures.

    attackers: the key of its figures in `attackers`; written: the key of those measured
    with the profile's decoder in `written`.
    """

    epsilon: float
    attackers: str
    written: str


def shipped_attackers() -> Path:
    """Return the file of shipped attacker figures."""
    return cache.shipped_file().with_name(ATTACKERS_FILE)


def attacker_figures(lexicon: Lexicon, part: str, key: str) -> Any:
    """Look up a key in the shipped figures, then in those stored with the lexicon.

    The latter are for the lexicon together with the pair model it was built with, not
    for others of the same names.
    """
    for path in (shipped_attackers(), *_attackers_files(lexicon)):
        known = (cache.shipped_entry(path, part) or {}).get(key)
        if known is not None:
            return known
    return None


def _attackers_files(lexicon: Lexicon) -> Iterator[Path]:
    """Yield the files of figures stored with a lexicon, whatever its name here."""
    for each in store.stored_in(store.user_folder()):
        path = each / ATTACKERS_FILE
        if path.is_file() and store.is_name(each.name):
            with contextlib.suppress(LexiconError):
                if store.read_meta(each).digest == lexicon.digest:
                    if ngrams.has_own_pairs(lexicon):
                        yield path


# Settings of tokens that decide names, numbers and forms alone, not the draws of words.
_OF_FORMS = ("repeat", "years")


def measured_tokens(tokens: Mapping[str, object]) -> JsonObject:
    """Return the token settings for which figures are measured.

    Lists of copied words are removed: figures are measured on public texts without
    them. Patterns of a keep list remain, as they may match anything.
    """
    listed = tokens.get("keep")
    names_words = isinstance(listed, Mapping) and "patterns" not in listed
    left_out = (*_OF_FORMS, "words", *(("keep",) if names_words else ()))
    return {key: value for key, value in tokens.items() if key not in left_out}


def ladder_key(settings: Mapping[str, object], lexicon: Lexicon) -> str:
    """Return the name of the ladder for a profile's settings."""
    rest = {k: v for k, v in settings.items() if k not in ("budget", "decoder")}
    if isinstance(tokens := rest.get("tokens"), Mapping):
        rest["tokens"] = measured_tokens(tokens)
    return cache.key_of("ladder", 2, lexicon.digest, rest)


def rungs(lexicon: Lexicon, key: str) -> dict[float, Rung]:
    """Return the measured risks of a ladder, empty if there are none.

    Figures that another version of dptext stored with a lexicon are ignored.
    """
    figures = attacker_figures(lexicon, "ladders", key) or {}
    try:
        return msgspec.convert(figures, dict[float, Rung], strict=False)
    except msgspec.ValidationError:
        return {}


def risk_for(settings: Mapping[str, object], lexicon: Lexicon, target: float) -> float:
    """Return the largest measured risk at which attackers guess at most target.

    The strongest attacker counts, by the upper limit, over all kinds of text. Raises
    UsageError if nothing was measured with these settings, or all risks exceed it.
    """
    measured = {}
    for risk, rung in rungs(lexicon, ladder_key(settings, lexicon)).items():
        corpora = attacker_figures(lexicon, "attackers", rung.attackers) or []
        highs = [r["classes"][0]["high"] for each in corpora for r in each["readings"]]
        if highs:
            measured[risk] = max(highs)
    if not measured:
        raise UsageError(
            "attacker-risk: no attacker was measured with these settings and lexicon "
            f"{lexicon.name!r}; use dptext calibrate {option('public-text')}, or "
            "give a risk"
        )
    met = [risk for risk, high in measured.items() if high <= target]
    if not met:
        raise UsageError(
            f"attacker-risk {target:.2%}: at the smallest measured risk attackers find "
            f"up to {measured[min(measured)]:.2%}; give a larger share, or a risk"
        )
    return max(met)
