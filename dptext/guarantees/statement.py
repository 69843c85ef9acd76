"""The statement of a run: its fields, and how they follow from the settings.

Every sentence is written to be true by itself; what is not covered stands beside it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Annotated, Literal

from msgspec import Meta

from dptext.guarantees import adjacency, exposed, varying_epsilon, wording
from dptext.guarantees.terms import Claim, Loss, Nats, Terms, TextLoss, unresolved
from dptext.types import Guarantee


@dataclass(frozen=True, slots=True)
class Statement:
    """What a run promises; delta is 0 but for notion "eps-delta".

    epsilon is per word at level "word", of a whole text at level "text", and at level
    "words" the n replaced words of a text lose n times epsilon, whatever changes.
    worst_loss bounds the loss of one word at level "word", and of a whole text of any
    length at level "text". loss bounds that of one word that is changed, at level
    "words" for each replaced word of the text; with equal_parts it is for a text of one
    replaced word, and less in one of n. text_loss bounds a change of all words.
    strategy "record" or "data-set": equal words are drawn once. translation says what
    epsilon counts in the lexicon's own distance where the metric is another.
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
    text_loss: TextLoss
    equal_parts: bool
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
    """Return the statement of a run with one mechanism and one budget."""
    alike = adjacency.alike(terms.policy, terms.strategy)
    words = adjacency.covered(terms.policy)
    claim = _claim(promise, terms, wording.series(words), wording.series(alike))
    none = claim.notion == "none"
    return Statement(
        notion=claim.notion,  # type: ignore[arg-type]
        metric=claim.metric,
        epsilon=claim.epsilon,
        unit=promise.unit,
        delta=promise.delta,
        level=claim.level,  # type: ignore[arg-type]
        sentence=claim.sentence,
        loss=claim.loss,
        worst_loss=None if none or math.isinf(claim.worst) else claim.worst,
        text_loss=claim.text_loss,
        equal_parts=claim.equal_parts,
        adjacency=alike,
        covered=words,
        text_level=claim.text_level,
        conditions=wording.conditions(claim.notion, promise, terms),
        not_covered=(
            *adjacency.not_covered(terms.policy),
            *exposed.not_covered(promise.notion if none else claim.notion, terms),
        ),
        source=promise.source,
        resolution=terms.resolution,
        strategy=terms.strategy,  # type: ignore[arg-type]
        translation=terms.translation,
    )


def _claim(promise: Guarantee, terms: Terms, words: str, alike: str) -> Claim:
    """Return what holds, by the kind of budget and the notion of the mechanism."""
    spent = terms.budget_description
    # The most that a word loses, which must be resolved whatever a text loses.
    high = spent.high if spent.total is None else min(spent.high, spent.total)
    worst = spent.first + promise.worst(high)
    if terms.key == "seed" or promise.notion == "none" or unresolved(terms, worst):
        return _nothing(promise, terms, wording.none(promise, terms, worst))
    if spent.kind in ("word", "text") and not promise.context:
        return _even(promise, terms, words, alike)
    reason = varying_epsilon.refusal(promise, terms)
    if reason:
        return _nothing(promise, terms, reason)
    return varying_epsilon.claim(promise, terms, words, alike)


def _nothing(promise: Guarantee, terms: Terms, sentence: str) -> Claim:
    return Claim(
        notion="none",
        metric=promise.metric,
        epsilon=terms.epsilon,
        level=terms.level,
        worst=math.inf,
        loss=varying_epsilon.losses(promise, terms),
        sentence=sentence,
        text_level="No guarantee for texts.",
    )


def _even(promise: Guarantee, terms: Terms, words: str, alike: str) -> Claim:
    """Return what holds when each word, or each text in equal parts, has epsilon."""
    epsilon, worst = terms.epsilon, promise.worst(terms.epsilon)
    loss, text = varying_epsilon.losses(promise, terms), terms.level == "text"
    limit = promise.max_loss if math.isfinite(promise.max_loss) else None
    if promise.notion == "LDP":
        sentence = (
            wording.of_text(epsilon, words, alike)
            if text
            else wording.of_words(epsilon, words, alike, strategy=terms.strategy)
        )
    elif promise.notion == "eps-delta":
        sentence = wording.approximate(promise, terms, words, alike)
    else:
        sentence = wording.of_metric(promise, terms, loss, words, alike)
    return Claim(
        notion=promise.notion,
        metric=promise.metric,
        epsilon=epsilon,
        level=terms.level,
        # The parts of a long text are small: no cut by epsilon holds for all of them.
        worst=epsilon * promise.max_distance if text else worst,
        loss=loss,
        sentence=sentence,
        text_level=wording.text_level(promise, terms),
        text_loss=(
            TextLoss(epsilon * promise.max_distance, limit)
            if text
            else TextLoss(None, worst)
        ),
        equal_parts=text,
    )
