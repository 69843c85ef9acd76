"""The statement of a run: its fields, and how they follow from the settings.

Every sentence is written to be true by itself; what is not covered stands beside it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Annotated, Literal

from msgspec import Meta

from dptext.guarantees import adjacency, uneven, wording
from dptext.guarantees.terms import Claim, Loss, Nats, Terms, unresolved
from dptext.types import Guarantee


@dataclass(frozen=True, slots=True)
class Statement:
    """What a run promises; delta is 0 but for notion "eps-delta".

    epsilon is per word at level "word", of a whole text at level "text", and at level
    "words" the n replaced words of a text lose n times epsilon, whatever changes; the
    loss is that of one word at level "word", of a text in which one word is replaced at
    level "text", and for each replaced word of the text at level "words". strategy
    "record" or "data-set": equal words are drawn once. translation says what epsilon
    counts in the lexicon's own distance where the metric is another.
    """

    notion: Literal["LDP", "metric-DP", "eps-delta", "none"]
    metric: str
    epsilon: Nats
    unit: str
    delta: Annotated[float, Meta(ge=0, le=1)]
    level: Literal["word", "text", "words"]
    sentence: str
    loss: Loss
    worst_loss: Nats | None
    adjacency: tuple[str, ...]
    covered: tuple[str, ...]
    text_level: str
    conditions: tuple[str, ...]
    not_covered: tuple[str, ...]
    source: str
    resolution: Nats | None = field(default=None)
    strategy: Literal["token", "record", "data-set"] = "token"
    translation: str = ""


def build(promise: Guarantee, terms: Terms) -> Statement:
    """Return the statement of a run with one mechanism and one budget.

    promise is the mechanism's guarantee at the epsilon that bounds all of the budget's
    (dptext.guarantees.account).
    """
    alike = adjacency.alike(terms.policy, terms.strategy)
    words = adjacency.covered(terms.policy)
    apart = uneven.claim(promise, terms, words, alike)
    claim = apart or _claim(promise, terms, words, alike)
    notion = claim.notion
    return Statement(
        notion=notion,  # type: ignore[arg-type]
        metric=claim.metric,
        epsilon=claim.epsilon,
        unit=promise.unit,
        delta=promise.delta,
        level=claim.level,  # type: ignore[arg-type]
        sentence=claim.sentence,
        loss=claim.loss,
        worst_loss=(
            None if notion == "none" or math.isinf(claim.worst) else claim.worst
        ),
        adjacency=alike,
        covered=words,
        text_level=claim.text_level,
        conditions=wording.conditions(notion, promise, terms),
        not_covered=(
            *adjacency.not_covered(terms.policy),
            *wording.not_covered(apart.notion if apart else promise.notion, terms),
        ),
        source=promise.source,
        resolution=terms.resolution,
        strategy=terms.strategy,  # type: ignore[arg-type]
        translation=terms.translation,
    )


def _claim(
    promise: Guarantee, terms: Terms, words: tuple[str, ...], alike: tuple[str, ...]
) -> Claim:
    """Return what holds when each word, or each text in equal parts, has epsilon."""
    notion = "none" if terms.key == "seed" else promise.notion
    worst = terms.epsilon * promise.reach
    if notion != "none" and unresolved(terms, worst):
        notion = "none"
    loss = _loss(promise, terms)
    return Claim(
        notion=notion,
        metric=promise.metric,
        epsilon=terms.epsilon,
        level=terms.level,
        worst=worst,
        loss=loss,
        sentence=wording.sentence(notion, promise, terms, loss, words, alike),
        text_level=wording.text_level(notion, promise, terms),
    )


def _loss(promise: Guarantee, terms: Terms) -> Loss:
    if promise.notion in ("LDP", "eps-delta"):
        return Loss(terms.epsilon, terms.epsilon, terms.epsilon)
    near, middle, far = (
        terms.epsilon * min(distance, promise.reach)
        for distance in (terms.nearest, terms.median, terms.diameter)
    )
    return Loss(near, middle, far)
