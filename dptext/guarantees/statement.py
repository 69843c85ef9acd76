"""The statement of a run: its fields, and how they follow from the settings.

Every sentence is written to be true by itself; what is not covered stands beside it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from dptext.guarantees import adjacency, wording
from dptext.tokens.policy import Policy
from dptext.types import Guarantee

# Beyond this many nats a factor protects nobody (docs/guarantees.md, 7).
MEANINGFUL = 30.0
# A loss that finite uniforms may exceed by more than this is not claimed at all.
RESOLVED = 0.01


@dataclass(frozen=True, slots=True)
class Terms:
    """All that a statement depends on, besides the mechanism's own guarantee.

    level "word" (epsilon for each word) or "text" (epsilon shared by a text's words);
    key "system", "key-file" or "seed"; lexicon_given, whether the user brought the
    lexicon; identified, whether records are named by an id field; resolution, nats that
    finite uniforms may add (None: not bounded, noise in floating point).
    """

    level: str
    epsilon: float
    policy: Policy
    key: str
    lexicon_given: bool
    identified: bool
    fields: tuple[str, ...] | None
    nearest: float
    median: float
    diameter: float
    resolution: float | None


@dataclass(frozen=True, slots=True)
class Loss:
    """Epsilon times distance, in nats, for one word.

    Over V at the median nearest word, at the median pair, at the farthest pair; for LDP
    all three are epsilon.
    """

    nearest: float
    median: float
    farthest: float


@dataclass(frozen=True, slots=True)
class Statement:
    """What a run promises; delta is 0 but for notion "eps-delta".

    epsilon is per word at level "word", of a whole text at level "text"; the loss is
    that of one word at level "word", and of a text in which one word is replaced at
    level "text".
    """

    notion: str
    metric: str
    epsilon: float
    unit: str
    delta: float
    level: str
    sentence: str
    loss: Loss
    worst_loss: float | None
    adjacency: tuple[str, ...]
    covered: tuple[str, ...]
    text_level: str
    conditions: tuple[str, ...]
    not_covered: tuple[str, ...]
    source: str
    resolution: float | None = field(default=None)


def build(promise: Guarantee, terms: Terms) -> Statement:
    """Return the statement of a run with one mechanism and public budgets.

    promise is the mechanism's guarantee at terms.epsilon.
    """
    notion = "none" if terms.key == "seed" else promise.notion
    reach = promise.reach
    worst = terms.epsilon * reach
    if notion != "none" and _unresolved(terms, worst):
        notion = "none"
    loss = _loss(promise, terms)
    alike = adjacency.alike(terms.policy)
    words = adjacency.covered(terms.policy)
    return Statement(
        notion=notion,
        metric=promise.metric,
        epsilon=terms.epsilon,
        unit=promise.unit,
        delta=promise.delta,
        level=terms.level,
        sentence=wording.sentence(notion, promise, terms, loss, words, alike),
        loss=loss,
        worst_loss=None if notion == "none" or math.isinf(worst) else worst,
        adjacency=alike,
        covered=words,
        text_level=wording.text_level(notion, promise, terms),
        conditions=wording.conditions(notion, promise, terms),
        not_covered=(
            *adjacency.not_covered(terms.policy),
            *wording.not_covered(promise, terms),
        ),
        source=promise.source,
        resolution=terms.resolution,
    )


def _loss(promise: Guarantee, terms: Terms) -> Loss:
    if promise.notion in ("LDP", "eps-delta"):
        return Loss(terms.epsilon, terms.epsilon, terms.epsilon)
    near, middle, far = (
        terms.epsilon * min(distance, promise.reach)
        for distance in (terms.nearest, terms.median, terms.diameter)
    )
    return Loss(near, middle, far)


def _unresolved(terms: Terms, worst: float) -> bool:
    """Tell whether finite uniforms leave the claimed loss without meaning."""
    if terms.resolution is None:
        return False
    return terms.resolution > RESOLVED and worst > MEANINGFUL
