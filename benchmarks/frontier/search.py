"""The epsilon of a mechanism at a risk or a worst loss, from public data alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import cache
from typing import Any

import numpy as np

from benchmarks.frontier.setup import (
    AUDITED,
    AUDITS,
    IN_CONTEXT,
    MECHANISMS,
    RISK_OF_WEIGHTS,
    SAME_KIND,
    build,
)
from benchmarks.private_rows import read_rows
from dptext.arrays import Likeliest
from dptext.attackers import ngrams
from dptext.attackers.channel import Channel, InputCandidates
from dptext.attackers.contexts import TextKind
from dptext.attackers.reader import SameKindAttacker
from dptext.errors import DptextError
from dptext.exponential import losses
from dptext.measures import bayes_risk, context_risk, public
from dptext.measures.context_risk import Success
from dptext.mechanisms.santext import SanText
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.types import Floats, Ids, Record
from tools import attackers

# Public rows on which the risk in context of rank is set: training rows of AG News.
TRAINING = ("agnews_train19k", 4000, 4600)
# Rows on which it is set by the attacker of the kind, who counted pairs of other ones.
UNREAD = ("agnews_test5600", 3000, 3600)
# Rows of each kind of text that the attacker of the kind reads.
READ = {
    "news": ("agnews_test5600", 0, 300),
    "reviews": ("imdb_5k", 0, 60),
    "sentences": ("sst2_dev", 0, 600),
}
# Of mechanisms without a closed form so many inputs are tried, and so many at once.
_INPUTS, _AT_ONCE = 15_000, 64


def read(sanitizer: Pipeline, rows: tuple[str, int, int]) -> tuple[float, ...]:
    """Return what an attacker of pairs finds of all and of content words of rows."""
    file, begin, end = rows
    texts = [(str(row["text"]),) for row in read_rows(file)[begin:end]]
    named = [r for r in context_risk.available(sanitizer) if r.name == "ngram"]
    randomness = sanitizer.randomness(RunKey.from_seed(11))
    attack = context_risk.attack_records(sanitizer, named, [texts], randomness)
    (reading,) = attack.result()
    return tuple(each.success for each in reading.classes[:2])


@cache
def _learned(kind: str) -> TextKind:
    """Return what half a million words of a kind tell, over the pairs that ship."""
    sanitizer = build({"name": "rank"}, {"epsilon": 8.0})
    shipped = ngrams.find_model(ngrams.ENGLISH, sanitizer.channel)
    return attackers.counted(attackers.KINDS[kind], sanitizer).kind(shipped)


class PartialChannel(Channel):
    """The likeliest inputs of some outputs among the most frequent words.

    Of a mechanism without a closed form all inputs of all outputs take minutes.
    """

    def __init__(self, channel: Channel, outputs: Ids) -> None:
        super().__init__(
            **{each.name: getattr(channel, each.name) for each in fields(Channel)}
        )
        object.__setattr__(self, "outputs", np.unique(outputs))

    def candidates(
        self, epsilon: float, count: int, inputs: Floats | None = None
    ) -> InputCandidates:
        """Return the inputs of the outputs; any other output has the first word."""
        prior = self.inputs if inputs is None else inputs
        size, outputs = len(prior) - 1, vars(self)["outputs"]
        likeliest = Likeliest(len(outputs), count)
        order = np.append(np.argsort(-prior[:size], kind="stable")[:_INPUTS], size)
        for start in range(0, len(order), _AT_ONCE):
            rows = order[start : start + _AT_ONCE]
            rows = rows[prior[rows] > 0.0]
            ids = np.where(rows < size, rows, -1).astype(np.int32)
            eps = np.full(len(ids), epsilon)
            logs = self.mechanism.log_probs(ids, eps)[:, outputs]
            likeliest.add(rows, prior[rows], logs)
        table, log_probs = np.zeros((size, count), np.int32), np.zeros((size, count))
        log_probs[:, 1:] = -np.inf
        table[outputs], log_probs[outputs] = likeliest.result()
        return InputCandidates(table, log_probs, np.isfinite(log_probs))


def read_same_kind(
    sanitizer: Pipeline, rows: dict[str, tuple[str, int, int]]
) -> dict[str, tuple[Success, ...]]:
    """Return what the attacker of the kind finds of rows of kinds, by class of word."""
    texts = {
        kind: [str(row["text"]) for row in read_rows(file)[begin:end]]
        for kind, (file, begin, end) in rows.items()
    }
    randomness = sanitizer.randomness(RunKey.from_seed(11))
    channel = sanitizer.channel
    if sanitizer.mechanism.name != "rank":
        drawn = [
            sanitizer.draws(
                [Record(n, (text,), None) for n, text in enumerate(each)], randomness
            ).drawn
            for each in texts.values()
        ]
        channel = PartialChannel(channel, np.concatenate(drawn))
    classes = {}
    for kind, each in texts.items():
        attacker = SameKindAttacker(channel, _learned(kind))
        records = [(text,) for text in each]
        parts = [records[at : at + 100] for at in range(0, len(each), 100)]
        attack = context_risk.attack_records(sanitizer, [attacker], parts, randomness)
        (reading,) = attack.result()
        classes[kind] = reading.classes
    return classes


class Search:
    """The epsilons of one mechanism, level by level."""

    def __init__(self, name: str) -> None:
        self.mechanism = dict(MECHANISMS[name])
        self._worst: dict[float, float] = {}

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
        elif kind == "context":
            mechanism, epsilon = self._in_context(
                IN_CONTEXT, lambda sanitizer: read(sanitizer, TRAINING)[0]
            )
        elif kind == "kind":
            mechanism, epsilon = self._in_context(
                SAME_KIND,
                lambda sanitizer: (
                    read_same_kind(sanitizer, {"news": UNREAD})["news"][0].success
                ),
            )
        else:
            mechanism, epsilon = self._at_risk(float(value[:-1]) / 100)
        sanitizer = build(mechanism, {"epsilon": epsilon})
        risk, _ = public.measure_risk(sanitizer)
        shown = None if risk is None else risk.success
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

    def _at_risk(self, risk: float) -> tuple[dict[str, Any], float]:
        sanitizer = build(self.mechanism, {"epsilon": 1.0})
        guess = float(
            bayes_risk.prior_of_replaced(
                sanitizer.lexicon, sanitizer.profile.tokens
            ).max()
        )
        if risk <= guess:
            msg = f"below the {guess:.1%} of a guess without any output"
            raise DptextError(msg)
        if sanitizer.mechanism.has_log_probs and not math.isfinite(
            _claimed(sanitizer, 1.0)
        ):
            least = build(self.mechanism, {"epsilon": 0.01})
            lowest, _ = public.measure_risk(least)
            if lowest is not None and lowest.success > risk:
                msg = f"its candidates alone give {lowest.success:.0%} of words away"
                raise DptextError(msg)
        sanitizer = build(self.mechanism, {"risk": risk})
        return _fixed(sanitizer, self.mechanism), sanitizer.budget.description.high

    def _at_loss(self, loss: float) -> tuple[dict[str, Any], float]:
        if self.mechanism["name"] == "rank":
            sanitizer = build(self.mechanism, {"risk": RISK_OF_WEIGHTS[loss]})
            return _fixed(sanitizer, self.mechanism), loss
        claimed = _claimed(build(self.mechanism, {"epsilon": 1.0}), 1.0)
        if not math.isfinite(claimed):
            msg = "the loss of a word has no bound"
            raise DptextError(msg)
        if self.mechanism["name"] not in AUDITED:
            return self.mechanism, loss / claimed
        return self.mechanism, _crossing(self.worst, AUDITS, loss)

    def _in_context(
        self, wanted: float, finds: Callable[[Pipeline], float]
    ) -> tuple[dict[str, Any], float]:
        """Return the settings at which an attacker finds so many words.

        Those of rank are searched. Of the others the attacker finds no less than a
        guess of each word alone, so they are compared at that risk alone.
        """
        if self.mechanism["name"] != "rank":
            raise DptextError(
                "as at a risk of 20%, of which the attacker finds no less"
            )
        low, high = 0.08, wanted
        for _ in range(6):
            middle = round((low + high) / 2, 4)
            sanitizer = build(self.mechanism, {"risk": middle})
            if finds(sanitizer) > wanted:
                high = middle
            else:
                low = middle
        return self._at_risk(low)

    def worst(self, epsilon: float) -> float:
        """Return a bound on the worst loss of two words; between points, by lines.

        eps D / 2 + max ln Z - min ln Z, with the largest distance D: about what an
        audit of all pairs finds, at a part of its cost.
        """
        for point in AUDITS:
            if point not in self._worst:
                mechanism = build(self.mechanism, {"epsilon": point}).mechanism
                assert isinstance(mechanism, SanText)
                weights = mechanism.distribution.at(point)
                spread = np.ptp(np.log(losses.sums_of_all_words(weights, np.float32)))
                largest = mechanism.space.geometry.diameter
                self._worst[point] = float(point * largest / 2 + spread)
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
    settings: Any = sanitizer.profile.settings()["mechanism"]
    return {**settings, "name": "rank"}


def _claimed(sanitizer: Pipeline, epsilon: float) -> float:
    promise = sanitizer.mechanism.guarantee(epsilon)
    return float(promise.worst(epsilon)) if promise.notion != "none" else math.inf


def find_epsilons(name: str, wanted: list[str]) -> dict[str, Any]:
    """Return the result of each level."""
    search = Search(name)
    return {level: search.at(level) for level in wanted}
