"""The statement of a run: its fields and conditions, as they follow from settings.

The statement of a run: its fields, and how they follow from the settings.

Every sentence is written to be true by itself; what is not covered stands beside it.

From a pipeline to its statement.

What must hold for a statement to be true.

What a ledger adds to a statement, in words.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from dptext.errors import UsageError
from dptext.guarantees import adjacency, claims, sentences
from dptext.guarantees.adjacency import PUBLIC, Unprotected
from dptext.guarantees.claims import Loss, Nats, TextLoss
from dptext.guarantees.not_covered import always_not_covered
from dptext.guarantees.rounding import above, number
from dptext.guarantees.strength import Strengths, judge
from dptext.guarantees.terms import (
    MAX_MEANINGFUL_LOSS,
    MAX_MEANINGFUL_TEXT_LOSS,
    SubjectLimit,
    Terms,
)
from dptext.mechanisms import Mechanism
from dptext.profile import Profile
from dptext.types import (
    BudgetDescription,
    BudgetKind,
    Guarantee,
    Level,
    Metric,
    Notion,
    Strategy,
)

_LIMITED = (
    'For each value of the field "{field}", the bounds of all texts about it that the '
    "ledger records, in this release and in those before it, add up to at most {nats} "
    "nats{delta}: the texts of one value are counted as if all of them were others at "
    "once.{large} What was released without this ledger, or stands under another value "
    "of the field, is not counted. That a release was not refused shows that these "
    "sums are within the limit."
)
_LARGE = (
    f" Above {MAX_MEANINGFUL_TEXT_LOSS:g} nats that is no meaningful protection of all "
    "that is known of a person."
)
CONDITION = (
    "The ledger that was used is the one that all earlier releases were recorded in; "
    "ledger and key were not replaced together with older copies, which dptext cannot "
    "check."
)


def limited(terms: Terms) -> str:
    """Say what a ledger limits; "" without one."""
    limit = terms.subjects
    if limit is None:
        return ""
    return _LIMITED.format(
        field=limit.field,
        nats=number(limit.nats),
        delta=f", their deltas to at most {number(limit.delta)}" * bool(limit.delta),
        large=_LARGE * (limit.nats > MAX_MEANINGFUL_TEXT_LOSS),
    )


SETTINGS = (
    "The settings were chosen without looking at the private text; dptext cannot "
    "check this."
)
LEXICON = (
    "The lexicon is public and was made without the private text; dptext cannot "
    "check this."
)
_MODEL = (
    "The model by which words are decoded is public and was made without the private "
    "text; dptext cannot check this."
)
IDENTIFIED = (
    "No two records have the same id; two that have the same id and the same text get "
    "the same output, which shows that they are equal."
)
FRESH_KEY = (
    "Random bits come from AES-256 and BLAKE2b under a key that the operating system "
    "drew for this run and nobody keeps: the statement holds against readers who "
    "cannot break these."
)
KEY_FILE = (
    "The key file is random and stays secret: whoever has it can repeat every draw. "
    "The same input, settings and key give the same output again, which costs nothing "
    "more. Of two different inputs, records {named} that have the same text get the "
    "same output, which shows that they are equal; what differs is drawn anew, and its "
    "losses add up."
)
_KEY_FILE_OF_DATA_SET = (
    "The key file is random and stays secret: whoever has it can repeat every draw. "
    "All inputs made private with the same settings and key count as one data set: "
    "equal words get one replacement in all of their outputs, which shows that they "
    "are equal."
)
_FLOATING_POINT = (
    "Noise is drawn in 64-bit floating point, so that factors beyond e^30 are not "
    "claimed of the program: outputs rarer than about 1e-15 are not drawn with their "
    "exact probability. Noisy vectors are not released."
)


def conditions(promise: Guarantee, terms: Terms) -> tuple[str, ...]:
    """Return the conditions of a claim."""
    lines = [_key(terms), SETTINGS]
    if terms.lexicon_is_custom:
        lines.append(LEXICON)
    if terms.policy.listed:
        lines.append(PUBLIC)
    if terms.brings_model:
        lines.append(_MODEL)
    if terms.identified:
        lines.append(IDENTIFIED)
    if terms.subjects is not None:
        lines.append(CONDITION)
    return (*lines, _exact(terms.numerical_slack), *promise.gaps)


def _key(terms: Terms) -> str:
    if terms.key != "key-file":
        return FRESH_KEY
    if terms.strategy is Strategy.DATA_SET:
        return _KEY_FILE_OF_DATA_SET
    named = "with the same id" if terms.identified else "in the same place"
    return KEY_FILE.format(named=named)


def _exact(numerical_slack: float | None) -> str:
    if numerical_slack is None:
        return _FLOATING_POINT
    return (
        "Draws are made from finitely many random bits: the loss of each word may "
        f"exceed its bound by at most {above(max(numerical_slack, 1e-12), 2)} nats."
    )


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
    sentence, text_level = sentences.say(claim, promise, terms)
    return Statement(
        notion=claim.notion,
        level=claim.level,
        metric=claim.metric,
        distance=sentences.distance(claim, promise, terms),
        epsilon=claim.epsilon,
        unit=promise.unit,
        delta=promise.delta,
        loss=claim.loss,
        worst_loss=None if nothing or math.isinf(claim.worst) else claim.worst,
        text_loss=claim.text_loss,
        equal_parts=claim.equal_parts,
        strength=judge(claim.notion, claim.level, claim.loss, claim.text_loss),
        strategy=terms.strategy,
        unprotected=adjacency.unprotected(terms.policy, terms.strategy),
        numerical_slack=terms.numerical_slack,
        sentence=sentence,
        text_level=text_level,
        translation=terms.translation,
        decoder=terms.decoder,
        decoding=sentences.decoding(terms, nothing),
        adjacency=adjacency.of_terms(terms),
        covered=adjacency.covered(terms.policy),
        conditions=() if nothing else conditions(promise, terms),
        not_covered=(
            *adjacency.not_covered(terms.policy),
            *always_not_covered(promise.notion if nothing else claim.notion, terms),
        ),
        source=promise.source,
        subjects="" if nothing else limited(terms),
    )


# Words of a text that is longer than any: a share of a total is never smaller.
MAX_WORDS_PER_TEXT = 1e9
# What stands for the numerical slack of noise in floating point, in nats.
_FLOATING = 1e-8
# The largest share of a promise that its numerical slack may be.
_LARGEST_SHARE = 0.1
_SHARED = (BudgetKind.TEXT, BudgetKind.PAST, BudgetKind.FREE)


def check(mechanism: Mechanism, budget: BudgetDescription) -> None:
    """Raise UsageError for a budget under which a mechanism cannot be drawn exactly.

    One rule for all mechanisms: every epsilon that a word may have is one that can be
    computed with, and what is promised is no less than ten times what rounding may add
    to the loss. Beyond 30 nats it need not be: a statement claims nothing there.
    """
    least, most = _range(budget)
    mechanism.check(least)
    mechanism.check(most)
    if budget.kind in _SHARED:
        # A word's part may be as small as may be; the promise is that of the whole.
        least = most = budget.total or budget.rate or most
    for epsilon in {least, most}:
        _check_claim(mechanism, epsilon)


def _range(budget: BudgetDescription) -> tuple[float, float]:
    # The shares of a text's total are as small as the text is long.
    return budget.low or budget.high / MAX_WORDS_PER_TEXT, budget.high


def _check_claim(mechanism: Mechanism, epsilon: float) -> None:
    promise = mechanism.guarantee(epsilon)
    loss = promise.worst(epsilon)
    if promise.notion is Notion.NONE or loss > MAX_MEANINGFUL_LOSS:
        return
    exact = _numerical_slack(mechanism, epsilon)
    slack = _FLOATING if exact is None else exact
    if not slack <= _LARGEST_SHARE * loss:
        other = "larger" if loss < 1.0 else "smaller"
        raise UsageError(
            f"epsilon: {epsilon:.3g} with these settings promises a loss of at most "
            f"{loss:.2g} nats, but draws are exact to {slack:.2g} nats only; "
            f"give a {other} epsilon (numerical slack: at most a tenth of what is "
            "promised)"
        )


def _numerical_slack(mechanism: Mechanism, *epsilons: float) -> float | None:
    """Return the nats that finite draws may add at any of these; None: not bounded."""
    slacks = [mechanism.numerical_slack(epsilon) for epsilon in epsilons]
    bounded = [slack for slack in slacks if slack is not None]
    return max(bounded) if len(bounded) == len(slacks) else None


def statement_of(
    recipe: Profile,
    mechanism: Mechanism,
    budget: BudgetDescription,
    *,
    key: str,
    lexicon_is_custom: bool,
    identified: bool,
    fields: tuple[str, ...] | None,
    finder: str = "",
    detected: bool = False,
    subjects: SubjectLimit | None = None,
) -> Statement:
    """Return the statement of a run.

    recipe and budget have their epsilon; key is the origin of the run key; fields are
    the names of the text fields, None where the whole input is text; finder, what
    chose the parts of texts that are private, "" where whole texts are; detected,
    whether a field was taken because it alone holds text; subjects, what a ledger
    limits.
    """
    # A guarantee's figures hold at every epsilon: the budget's largest stands for all.
    promise = mechanism.guarantee(budget.high)
    geometry = mechanism.geometry(budget.high)
    counted = promise.notion is Notion.METRIC
    translation = mechanism.space.translated(promise.stretch) if counted else ""
    return build(
        promise,
        Terms(
            budget=budget,
            strategy=Strategy(recipe.strategy),
            policy=recipe.tokens,
            key=key,
            lexicon_is_custom=lexicon_is_custom,
            identified=identified,
            fields=fields,
            finder=finder,
            detected=detected,
            nearest=geometry.nearest,
            median=geometry.median,
            diameter=geometry.diameter,
            numerical_slack=_numerical_slack(mechanism, *_range(budget)),
            translation=translation,
            decoder=recipe.decoder.name,
            brings_model=recipe.decoder.params.brings_model,
            subjects=subjects,
        ),
    )
