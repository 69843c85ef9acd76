"""What is measured of a pipeline on public data alone: risk, N_w and S_w, changed words.

One definition for all who ask: a run, `check`, `plan`, `evaluate` and `compare`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dptext.measures import bayes_risk, deniability, prior
from dptext.measures.deniability import Deniability
from dptext.mechanisms import TextMechanism
from dptext.randomness import RunKey
from dptext.types import Eps, Ids, Record

if TYPE_CHECKING:
    from dptext.pipeline import Pipeline

NO_BAYES_RISK = "not measured (--no-bayes-risk)"
# Words drawn to see how many change.
_DRAWN = 20_000


@dataclass(frozen=True, slots=True)
class PublicMeasures:
    """What is measured on public data only: once, for all outputs of a run."""

    risk: bayes_risk.Risk | None
    risk_note: str
    deniability: Deniability | None

    @classmethod
    def of(cls, pipeline: Pipeline, with_risk: bool = True) -> PublicMeasures:
        """Measure; without the Bayes risk no risk."""
        risk, note = risk_of(pipeline) if with_risk else (None, NO_BAYES_RISK)
        return cls(risk, note, deniability_of(pipeline))


def risk_of(pipeline: Pipeline) -> tuple[bayes_risk.Risk | None, str]:
    """Measure the risk where every word is drawn alone, and at one epsilon."""
    if isinstance(pipeline.mechanism, TextMechanism):
        return None, f"not measured: {pipeline.mechanism.name} looks at the whole text"
    if pipeline.budget_description.kind != "word":
        return None, "not measured: epsilon differs from word to word"
    if pipeline.profile.strategy != "token":
        return None, (
            "not measured: the attacker of the Bayes risk sees one draw, and a word "
            "that is "
            "drawn once for all its places shows more"
        )
    epsilon = pipeline.budget_description.high
    words = prior.replaced(pipeline.lexicon, pipeline.profile.tokens)
    mapping = pipeline.profile.settings().get("mapping")
    risk = bayes_risk.measure(
        pipeline.mechanism, epsilon, words, pipeline.draw, mapping
    )
    return risk, bayes_risk.LIMITS


def deniability_of(pipeline: Pipeline) -> Deniability | None:
    """Measure N_w and S_w where one epsilon holds for every word."""
    if pipeline.budget_description.kind != "word" or isinstance(
        pipeline.mechanism, TextMechanism
    ):
        return None
    epsilon = pipeline.budget_description.high
    draw = public_draw(pipeline, epsilon)
    return deniability.measure(pipeline.mechanism, epsilon, draw)


def changed_of(pipeline: Pipeline) -> float | None:
    """Return the share of words of the prior that change, from public draws."""
    if pipeline.budget_description.kind != "word" or isinstance(
        pipeline.mechanism, TextMechanism
    ):
        return None
    weights = prior.replaced(pipeline.lexicon, pipeline.profile.tokens)
    # Evenly spaced quantiles: the same words each time, in proportion to the prior.
    positions = (np.arange(_DRAWN) + 0.5) / _DRAWN
    rows = np.minimum(np.searchsorted(np.cumsum(weights), positions), len(weights) - 1)
    ids: Ids = rows.astype(np.int32)
    drawn = public_draw(pipeline, pipeline.budget_description.high)(ids)
    return float((drawn != ids).mean())


def public_draw(pipeline: Pipeline, epsilon: float) -> Callable[[Ids], Ids]:
    """Return what draws once for each public word given, by public randomness.

    So that figures about the mechanism are the same each time; never for texts.
    """
    randomness = pipeline.randomness(RunKey.from_seed(0))

    def draw(ids: Ids) -> Ids:
        nonce = randomness.nonce(Record(0, (), None))
        bits = randomness.of([nonce], np.zeros(len(ids), np.int64))
        eps: Eps = np.full(len(ids), float(epsilon))
        return pipeline.draw(ids, eps, bits)

    return draw
