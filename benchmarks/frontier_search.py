"""The epsilon of a mechanism at a risk or a worst loss, from public data alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from frontier_setup import (
    AUDITED,
    AUDITS,
    EPSILONS_OF_NOISE,
    MECHANISMS,
    RISK_OF_WEIGHTS,
    build,
)

from dptext.errors import DptextError
from dptext.guarantees import audit
from dptext.measures import guessing_rule, prior, public, sampled_risk
from dptext.pipeline import Pipeline


class Search:
    """The epsilons of one mechanism under one policy, level by level."""

    def __init__(self, policy: str, name: str) -> None:
        self.policy, self.mechanism = policy, dict(MECHANISMS[name])
        self._worst: dict[float, float] = {}
        self._attacked: dict[float, float] = {}

    def at(self, level: str) -> dict[str, Any]:
        """Return mechanism, epsilon, worst loss and risk; or the reason of none."""
        try:
            return self._at(level)
        except DptextError as error:
            return {"reason": str(error)}

    def _at(self, level: str) -> dict[str, Any]:
        kind, _, value = level.partition(" ")
        if kind == "loss":
            mechanism, epsilon = self._at_loss(float(value))
        else:
            mechanism, epsilon = self._at_risk(float(value[:-1]) / 100)
        sanitizer = self._build(mechanism, {"epsilon": epsilon})
        if sanitizer.mechanism.has_log_probs:
            risk, _ = public.risk_of(sanitizer)
            shown = None if risk is None else risk.success
        else:
            shown = self.attacked(epsilon)
        if kind == "loss":
            loss = float(value)
        elif mechanism["name"] in AUDITED:
            loss = self.worst(epsilon)
        else:
            loss = _claimed(sanitizer, epsilon)
        return {
            "mechanism": mechanism,
            "epsilon": round(epsilon, 6),
            "worst_loss": round(loss, 3) if math.isfinite(loss) else None,
            "risk": None if shown is None else round(shown, 4),
            "exact": sanitizer.mechanism.has_log_probs,
        }

    def _build(self, mechanism: dict[str, Any], budget: dict[str, Any]) -> Pipeline:
        return build(self.policy, mechanism, budget)

    def _at_risk(self, risk: float) -> tuple[dict[str, Any], float]:
        sanitizer = self._build(self.mechanism, {"epsilon": 1.0})
        guess = float(prior.replaced(sanitizer.lexicon, sanitizer.profile.tokens).max())
        if risk <= guess:
            msg = f"below the {guess:.1%} of a guess without any output"
            raise DptextError(msg)
        if not sanitizer.mechanism.has_log_probs:
            return self.mechanism, self._noise(risk)
        if not math.isfinite(_claimed(sanitizer, 1.0)):
            least = self._build(self.mechanism, {"epsilon": 0.01})
            lowest, _ = public.risk_of(least)
            if lowest is not None and lowest.success > risk:
                msg = f"its candidates alone give {lowest.success:.0%} of words away"
                raise DptextError(msg)
        sanitizer = self._build(self.mechanism, {"risk": risk})
        return _fixed(sanitizer, self.mechanism), sanitizer.budget.description.high

    def _at_loss(self, loss: float) -> tuple[dict[str, Any], float]:
        if self.mechanism["name"] == "rank":
            sanitizer = self._build(self.mechanism, {"risk": RISK_OF_WEIGHTS[loss]})
            return _fixed(sanitizer, self.mechanism), loss
        claimed = _claimed(self._build(self.mechanism, {"epsilon": 1.0}), 1.0)
        if not math.isfinite(claimed):
            msg = "the loss of a word has no bound"
            raise DptextError(msg)
        if self.mechanism["name"] not in AUDITED:
            return self.mechanism, loss / claimed
        return self.mechanism, _crossing(self.worst, AUDITS, loss)

    def _noise(self, risk: float) -> float:
        return _crossing(self.attacked, EPSILONS_OF_NOISE, risk)

    def attacked(self, epsilon: float) -> float:
        """Return how often the best attack known succeeds: its 95% lower limit."""
        if epsilon not in self._attacked:
            sanitizer = self._build(self.mechanism, {"epsilon": epsilon})
            words = prior.replaced(sanitizer.lexicon, sanitizer.profile.tokens)
            test = sampled_risk.plays(words, sampled_risk.DRAWS, "test")
            vectors, plays = sanitizer.mechanism.space.vectors, sampled_risk.plays
            right = guessing_rule.wins(
                vectors, epsilon, words, sanitizer.draw, test, plays
            )
            rate = max(sampled_risk.limits(right)[0], float(words.max()))
            self._attacked[epsilon] = rate
        return self._attacked[epsilon]

    def worst(self, epsilon: float) -> float:
        """Return the exact worst loss of two words; between audits, by lines."""
        for point in AUDITS:
            if point not in self._worst:
                sanitizer = self._build(self.mechanism, {"epsilon": point})
                self._worst[point] = float(
                    audit.audit(sanitizer.mechanism, point, None).worst
                )
        return float(np.interp(epsilon, AUDITS, [self._worst[p] for p in AUDITS]))


def _crossing(
    value: Callable[[float], float], points: Sequence[float], target: float
) -> float:
    """Return where a growing value crosses a target, between points by its logarithm.

    Raises DptextError where it does not up to the last.
    """
    before = points[0]
    for point in points:
        if value(point) >= target:
            if point == before:
                msg = f"{value(point):.0%} already at epsilon {point:g}"
                raise DptextError(msg)
            low, high = math.log(value(before)), math.log(value(point))
            share = (math.log(target) - low) / (high - low)
            return round(before + share * (point - before), 3)
        before = point
    msg = f"not reached up to epsilon {points[-1]:g}"
    raise DptextError(msg)


def _fixed(sanitizer: Pipeline, mechanism: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a mechanism as they ran."""
    if mechanism["name"] != "rank":
        return mechanism
    return {**sanitizer.profile.settings()["mechanism"], "name": "rank"}


def _claimed(sanitizer: Pipeline, epsilon: float) -> float:
    promise = sanitizer.mechanism.guarantee(epsilon)
    return float(promise.worst(epsilon)) if promise.notion != "none" else math.inf


def epsilons_of(policy: str, name: str, wanted: list[str]) -> dict[str, Any]:
    """Return the result of each level."""
    search = Search(policy, name)
    return {level: search.at(level) for level in wanted}
