"""The statement of a run: its fields, and how they follow from the settings.

Every sentence is written to be true by itself; what is not covered stands beside it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from dptext.guarantees import (
    adjacency,
    claims,
    conditions,
    exposed,
    scale,
    subjects,
    wording,
)
from dptext.guarantees.adjacency import Unprotected
from dptext.guarantees.bounds import Loss, Nats, TextLoss
from dptext.guarantees.scale import Strengths
from dptext.guarantees.terms import Terms
from dptext.types import Guarantee, Level, Metric, Notion, Strategy


@dataclass(frozen=True, slots=True)
class Statement:
    """What a run promises; delta is 0 but for notion "eps-delta".

    epsilon is per word at level "word", of a whole text at level "text", and at level
    "words" the n replaced words of a text lose n times epsilon, whatever changes.
    metric is what epsilon counts, distance the same in words. worst_loss bounds the
    loss of one word at level "word", and of a whole text of any length at level "text".
    loss bounds that of one word that is changed, at level "words" for each replaced
    word of the text; with equal_parts it is for a text of one replaced word, and less
    in one of n. text_loss bounds a change of all words. strength says what these bounds
    are worth. unprotected names what the settings do not protect. numerical_slack is
    the nats that finite random bits may add. strategy "record" or "data-set": equal
    words are drawn once. translation says what epsilon counts in the lexicon's own
    distance where the metric is another. decoder names what writes the words, "none"
    where the drawn ones are written; decoding says in words what that means;
    subjects says what a ledger limits.
    """

    notion: Notion
    level: Level
    metric: Metric
    distance: str
    epsilon: Nats
    unit: str
    delta: Annotated[float, Meta(ge=0, le=1)]
    loss: Loss
    worst_loss: Nats | None
    text_loss: TextLoss
    equal_parts: bool
    strength: Strengths
    strategy: Strategy
    unprotected: tuple[Unprotected, ...]
    numerical_slack: Nats | None
    sentence: str
    text_level: str
    translation: str
    decoder: str
    decoding: str
    adjacency: tuple[str, ...]
    covered: tuple[str, ...]
    conditions: tuple[str, ...]
    not_covered: tuple[str, ...]
    source: str
    subjects: str = ""


def build(promise: Guarantee, terms: Terms) -> Statement:
    """Return the statement of a run with one mechanism and one budget."""
    claim = claims.claim(promise, terms)
    nothing = claim.notion is Notion.NONE
    sentence, text_level = wording.say(claim, promise, terms)
    return Statement(
        notion=claim.notion,
        level=claim.level,
        metric=claim.metric,
        distance=wording.distance(claim, promise, terms),
        epsilon=claim.epsilon,
        unit=promise.unit,
        delta=promise.delta,
        loss=claim.loss,
        worst_loss=None if nothing or math.isinf(claim.worst) else claim.worst,
        text_loss=claim.text_loss,
        equal_parts=claim.equal_parts,
        strength=scale.judge(claim.notion, claim.level, claim.loss, claim.text_loss),
        strategy=terms.strategy,
        unprotected=adjacency.unprotected(terms.policy, terms.strategy),
        numerical_slack=terms.numerical_slack,
        sentence=sentence,
        text_level=text_level,
        translation=terms.translation,
        decoder=terms.decoder,
        decoding=wording.decoding(terms, nothing),
        adjacency=adjacency.of_terms(terms),
        covered=adjacency.covered(terms.policy),
        conditions=() if nothing else conditions.conditions(promise, terms),
        not_covered=(
            *adjacency.not_covered(terms.policy),
            *exposed.not_covered(promise.notion if nothing else claim.notion, terms),
        ),
        source=promise.source,
        subjects="" if nothing else subjects.limited(terms),
    )
