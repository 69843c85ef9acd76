"""Privacy claims as plain data, without sentences. Proofs: docs/guarantees.md, 5.

If a mechanism has a guarantee for epsilons that differ from word to word
(`Guarantee.varying_epsilon`): two words with epsilons up to hi lose at most hi * word;
texts with epsilons that sum to at most E lose at most E * total; a word that stays
while its epsilon moves within [lo, hi] loses at most (hi - lo) * drift. No two words
lose more than `Guarantee.max_loss`, whatever their epsilons.

Words and whole texts are judged on different scales. A word is one of some ten
thousand, 11 nats; its bound is weak up to 30 nats, and no meaningful protection above.
Which of two texts was there is one bit, and a text is often one of a handful: above 10
nats its bound is no meaningful protection of the text as a whole, whatever it still
says of single words (docs/guarantees.md, 8).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from dptext.tokens.policy import Policy
from dptext.types import (
    ONE,
    BudgetDescription,
    BudgetKind,
    Guarantee,
    Level,
    Metric,
    Notion,
    Strategy,
    ThirdParty,
)

# Beyond this many nats a bound does not protect a word (docs/guarantees.md, 8).
MAX_MEANINGFUL_LOSS = 30.0
# Beyond this many nats a bound does not protect a text as a whole.
MAX_MEANINGFUL_TEXT_LOSS = 10.0
Nats = Annotated[float, Meta(ge=0)]
# Above MAX_MEANINGFUL_LOSS, a loss that finite random bits may exceed by more than this
# is not claimed at all.
_MAX_SLACK = 0.01
# Steps of a bound, in nats: factors of 2.72 and of 22,027. They are the tiers of
# Ponomareva et al. 2023, "How to DP-fy ML" (arXiv:2303.00654), which means them for all
# data of a person.
STRONG, MODERATE = 1.0, MAX_MEANINGFUL_TEXT_LOSS


def number(value: float) -> str:
    """Format an epsilon without rounding down: up to six digits."""
    short = f"{value:.6g}"
    return short if float(short) >= value else repr(value)


def format_up(value: float, digits: int = 4) -> str:
    """Format a number with few digits, rounded up."""
    short = f"{value:.{digits}g}"
    if float(short) >= value:
        return short
    step = 10.0 ** (math.floor(math.log10(value)) - digits + 1)
    return f"{float(short) + step:.{digits}g}"


def up(nats: float) -> float:
    """Round a product up to six digits."""
    return float(format_up(nats, 6)) if 0.0 < nats < math.inf else nats


def factor(nats: float) -> str:
    """Format e^nats, rounded up; as a power if it is meaninglessly large."""
    if nats > MAX_MEANINGFUL_LOSS:
        return f"e^{format_up(nats)}"
    value = math.exp(nats)
    if value < 1000:
        return f"{math.ceil(value * 100) / 100:g}"
    return f"{math.ceil(value):,}"


def first_beyond(each: float, limit: float) -> int:
    """Return the least n for which n times each exceeds the limit, at most 1e15."""
    return math.floor(min(limit / each, 1e15)) + 1


@dataclass(frozen=True, slots=True)
class SubjectLimit:
    """Limits per value of a field, over all releases recorded in a ledger."""

    field: Annotated[str, Meta(description="Field that names the subject.")]
    nats: Annotated[Nats, Meta(description="Largest loss of one subject.")]
    delta: Annotated[
        float, Meta(ge=0, le=1, description="Largest sum of the deltas of one subject.")
    ]


@dataclass(frozen=True, slots=True)
class RunTerms:
    """Properties of a run that are not settings."""

    #: "system", "key-file" or "seed".
    key: str = "system"
    #: Whether the user brought the lexicon.
    lexicon_is_custom: bool = False
    #: The public text that the lexicon was made of, "" if none.
    adapted: str = ""
    #: Whether records are named by an id field.
    identified: bool = False
    #: Names of the text fields, None where the whole input is text.
    fields: tuple[str, ...] | None = None
    #: The component that chose the private spans of texts, "" where texts are private
    #: as a whole.
    finder: str = ""
    #: The limit of a ledger.
    subjects: SubjectLimit | None = None
    #: Fields that the output leaves out.
    dropped: tuple[str, ...] = ()
    #: Fields with values that are keyed tokens.
    replaced: tuple[str, ...] = ()
    #: Whether records leave in random order.
    shuffled: bool = False


@dataclass(frozen=True, slots=True)
class TopicTerms:
    """The public topics that replace whole texts."""

    #: Number of topics.
    size: int
    #: Probability of writing the topic that is nearest to a text, alone or in a set.
    nearest: float
    #: The largest probability of any topic under any text; of a set times the number
    #: of sets over that of topics.
    largest: float
    #: The public texts that topics were made of, by name and digest.
    source: str
    #: Topics that are written for a text, as a set.
    together: int = 1


@dataclass(frozen=True, slots=True)
class Terms:
    """Everything a statement depends on other than the mechanism's guarantee."""

    run: RunTerms
    budget: BudgetDescription
    strategy: Strategy
    policy: Policy
    #: Nearest, median and largest distance over V, in the guarantee's metric.
    distances: tuple[float, float, float]
    #: Nats that finite random bits may add. None: not bounded (noise in floating
    #: point).
    numerical_slack: float | None
    #: The meaning of epsilon in the lexicon's own distance, "" where that is the
    #: metric.
    translation: str = ""
    #: Name of the component that writes the words.
    decoder: str = "none"
    #: Whether it does so by a model of the user's own.
    brings_model: bool = False
    #: The server that is sent the drawn words for it.
    third_party: ThirdParty | None = None
    #: Where whole texts become topics; None where words are replaced.
    topics: TopicTerms | None = None

    @property
    def kind(self) -> BudgetKind:
        """Return the kind of budget."""
        return self.budget.kind

    @property
    def epsilon(self) -> float:
        """Return the largest epsilon of a word or a whole text."""
        return self.budget.high


@dataclass(frozen=True, slots=True)
class Loss:
    """The bound on the loss of a single word, in nats.

    At the vocabulary's median nearest word, median pair and farthest pair; if
    the loss does not depend on distance, all three are equal.
    """

    nearest: Annotated[
        Nats, Meta(description="For half of the vocabulary, to the nearest other word.")
    ]
    median: Annotated[Nats, Meta(description="For half of all pairs of words, about.")]
    farthest: Annotated[Nats, Meta(description="For the farthest pair of words.")]

    @classmethod
    def even(cls, nats: float) -> Loss:
        """Return a bound that does not depend on distance."""
        return cls(nats, nats, nats)


@dataclass(frozen=True, slots=True)
class TextLoss:
    """The most that a text of n replaced words loses if all may differ, in nats.

    It is the smaller of total and n times each; None means no such bound.
    """

    total: Annotated[
        Nats | None, Meta(description="Of a text of any length; null: no such bound.")
    ] = None
    each: Annotated[
        Nats | None,
        Meta(
            description=(
                "Of each replaced word, to be multiplied by their number; null: "
                "no such bound."
            )
        ),
    ] = None


class NoClaim(StrEnum):
    """Why nothing is claimed.

    SEEDED: anyone with the seed can repeat every draw; MECHANISM: it promises
    nothing; NOT_DRAWN: a word may lose more than exact draws allow; UNPROVEN:
    nothing is proven for epsilons that differ between words; DISTINGUISHABLE: a
    difference in epsilon alone reveals the word.
    """

    SEEDED = "seeded"
    MECHANISM = "mechanism"
    NOT_DRAWN = "not drawn"
    UNPROVEN = "unproven"
    DISTINGUISHABLE = "distinguishable"


@dataclass(frozen=True, slots=True)
class OneChange:
    """Bound on a text's loss if one word differs and epsilons move with it."""

    #: Loss of the word itself, in nats.
    changed: float
    #: Loss of each other word, in nats; inf: not bounded.
    moved: float
    #: From this number of replaced words on the bound is less than any other; 0: never.
    first: int = 0
    #: Up to this number of replaced words; 0: never.
    last: float = 0.0


@dataclass(frozen=True, slots=True)
class Claim:
    """A privacy claim as figures."""

    notion: Notion
    metric: Metric
    epsilon: float
    level: Level
    #: Bound on the loss of the unit of `level`: a word, or a whole text of any length.
    #: inf: no bound. Where nothing is claimed, the loss that is allowed for a word.
    worst: float
    #: Bound on the loss of one changed word.
    loss: Loss
    text_loss: TextLoss = TextLoss()
    #: Whether `loss` holds for a text of one word, and an n-th part of it or less for
    #: one of n words.
    equal_parts: bool = False
    #: Given where a change of one word may count for all words.
    one_change: OneChange | None = None
    no_claim: NoClaim | None = None


def claim(promise: Guarantee, terms: Terms) -> Claim:
    """Return the claim for a mechanism and a budget."""
    allowed = _allowed(promise, terms)
    why = _no_claim(promise, terms, allowed)
    if why is not None:
        return Claim(
            notion=Notion.NONE,
            metric=promise.metric,
            epsilon=terms.epsilon,
            level=Level.TEXT if terms.kind is BudgetKind.TEXT else Level.WORD,
            worst=allowed,
            loss=_losses(promise, terms),
            no_claim=why,
        )
    if terms.topics is not None:
        # One draw for a text; its input follows from this text alone.
        return _ldp(Level.TEXT, terms.epsilon)
    if promise.context and terms.kind is not BudgetKind.FREE:
        return _in_context(terms)
    return _CLAIMS[terms.kind](promise, terms)


def _allowed(promise: Guarantee, terms: Terms) -> float:
    """Return the loss allowed per word, up to which draws must be exact."""
    spent = terms.budget
    high = spent.high if spent.total is None else min(spent.high, spent.total)
    return spent.first + promise.worst(high)


def picked_share(epsilon: float, originals: int, topics: TopicTerms | None) -> float:
    """Return the largest probability of picking the right one of several originals.

    This is an average over equally likely originals that agree in all copied fields, in
    unknown order, of which one was released with a whole-text epsilon (nats).
    """
    single = picked_after(epsilon, originals)
    if topics is None:
        return single
    return min(single, topics.size * topics.largest / originals)


def picked_after(epsilon: float, originals: int) -> float:
    """Return the same given one output: e^epsilon / (e^epsilon + N - 1)."""
    return 1.0 / (1.0 + (originals - 1) * math.exp(-epsilon))


def undrawn(slack: float | None, nats: float) -> bool:
    """Return whether a loss is too large for exact draw probabilities."""
    return (slack or 0.0) > _MAX_SLACK and nats > MAX_MEANINGFUL_LOSS


def _no_claim(promise: Guarantee, terms: Terms, allowed: float) -> NoClaim | None:
    if terms.run.key == "seed":
        return NoClaim.SEEDED
    if promise.notion is Notion.NONE:
        return NoClaim.MECHANISM
    if undrawn(terms.numerical_slack, allowed):
        return NoClaim.NOT_DRAWN
    if terms.kind in (BudgetKind.WORD, BudgetKind.TEXT) and not promise.context:
        return None
    if promise.notion is Notion.APPROXIMATE:
        return NoClaim.UNPROVEN
    varies = terms.kind in (BudgetKind.TYPE, BudgetKind.FREE)
    bounded = promise.varying_epsilon is not None
    return NoClaim.DISTINGUISHABLE if varies and not bounded else None


def _losses(promise: Guarantee, terms: Terms, extra: float = 0.0) -> Loss:
    """Return the bounds for one word at the largest epsilon, plus extra."""
    if promise.notion is not Notion.METRIC:
        return Loss.even(terms.epsilon + extra)
    near, middle, far = (promise.worst_at(terms.epsilon, d) for d in terms.distances)
    return Loss(near + extra, middle + extra, far + extra)


def _each_word(promise: Guarantee, terms: Terms) -> Claim:
    """Claim for epsilons that depend on nothing private: kinds WORD and POSITION.

    Compared texts have the same epsilons.
    """
    worst = promise.worst(terms.epsilon)
    return Claim(
        notion=promise.notion,
        metric=promise.metric,
        epsilon=terms.epsilon,
        level=Level.WORD,
        worst=worst,
        loss=_losses(promise, terms),
        text_loss=TextLoss(None, worst),
    )


def _equal_parts(promise: Guarantee, terms: Terms) -> Claim:
    """Claim for a text's epsilon divided equally among its words."""
    # The parts of a long text are small: no cut by epsilon holds for all of them.
    total = terms.epsilon * promise.max_distance
    most = promise.max_loss if promise.cut_by_epsilon else None
    return replace(
        _each_word(promise, terms),
        level=Level.TEXT,
        worst=total,
        text_loss=TextLoss(total, most),
        equal_parts=True,
    )


def _claim_by_type(promise: Guarantee, terms: Terms) -> Claim:
    """Return the claim if the word determines its epsilon through a public table."""
    assert promise.varying_epsilon is not None
    most = terms.epsilon * promise.varying_epsilon.word
    return _ldp(Level.WORD, up(min(most, promise.max_loss)))


def _claim_by_class(promise: Guarantee, terms: Terms) -> Claim:
    """Return the claim if a class from randomised response determines epsilon."""
    first, high = terms.budget.first, terms.epsilon
    if promise.notion is Notion.LDP:
        return _ldp(Level.WORD, first + high)
    worst = promise.worst(high) + first
    return replace(
        _each_word(promise, terms),
        metric=replace(promise.metric, between_classes=first / high),
        worst=worst,
        loss=_losses(promise, terms, first),
        text_loss=TextLoss(None, worst),
    )


def _claim_by_past(promise: Guarantee, terms: Terms) -> Claim:
    """Return the claim if previously released words determine epsilon.

    Epsilons after a changed word depend only on outputs.
    """
    total = terms.budget.total
    assert total is not None
    worst = total * promise.max_distance
    return replace(
        _each_word(promise, terms),
        epsilon=total,
        level=Level.TEXT,
        worst=worst,
        text_loss=TextLoss(worst, promise.worst(terms.epsilon)),
    )


def _claim_freely(promise: Guarantee, terms: Terms) -> Claim:
    """Return the claim if the whole text determines epsilon.

    A changed word may change the epsilon of all others.
    """
    varying, spent = promise.varying_epsilon, terms.budget
    assert varying is not None
    changed = up(min(spent.high * varying.word, promise.max_loss))
    moved = math.inf if promise.context else up(varying.moved(spent.low, spent.high))
    total = math.inf if spent.total is None else up(spent.total * varying.total)
    each = changed
    if spent.rate is not None:
        each = min(each, up(spent.rate * varying.total))
    one = _one_change(changed, moved, each, total)
    if math.isinf(total):
        return _ldp(Level.WORDS, each, one)
    return replace(_ldp(Level.TEXT, total, one), text_loss=TextLoss(total, each))


def _in_context(terms: Terms) -> Claim:
    """Claim where the output distribution of a word follows from all of its text.

    A word loses at most its epsilon and a text at most the total, even if the two
    compared texts give the word different epsilons.
    """
    level = Level.TEXT if terms.kind is BudgetKind.TEXT else Level.WORDS
    nats = terms.budget.first + terms.epsilon
    return _ldp(level, nats, OneChange(nats, math.inf))


def _ldp(level: Level, nats: float, one_change: OneChange | None = None) -> Claim:
    """Claim `nats` for a word, a text, or each of a text's words, in any metric."""
    return Claim(
        notion=Notion.LDP,
        metric=ONE,
        epsilon=nats,
        level=level,
        worst=math.inf if level is Level.WORDS else nats,
        loss=Loss.even(nats),
        text_loss=TextLoss(nats) if level is Level.TEXT else TextLoss(each=nats),
        one_change=one_change,
    )


def _one_change(changed: float, moved: float, each: float, total: float) -> OneChange:
    """Return the text lengths for which changing one word costs less than all."""
    never = OneChange(changed, moved)
    if math.isinf(changed) or moved >= each:
        return never
    first, last = max(2, math.floor((changed - moved) / (each - moved)) + 1), math.inf
    if math.isfinite(total) and moved > 0.0:
        last = math.ceil((total - changed) / moved)
    if first > last or changed + (first - 1) * moved >= total:
        return never
    return OneChange(changed, moved, first, last)


def too_long(claim: Claim) -> tuple[int, int] | None:
    """Return the word counts from which n times each means nothing.

    One is for a text as a whole, one for changing one word; None if a single word's
    bound already means nothing.
    """
    each, one = claim.text_loss.each, claim.one_change
    if each is None or one is None or each > MAX_MEANINGFUL_LOSS:
        return None
    word = first_beyond(each, MAX_MEANINGFUL_LOSS)
    if 0.0 < one.moved < each:
        rest = MAX_MEANINGFUL_LOSS - one.changed + one.moved
        word = max(word, first_beyond(one.moved, rest))
    return first_beyond(each, MAX_MEANINGFUL_TEXT_LOSS), word


_CLAIMS: dict[BudgetKind, Callable[[Guarantee, Terms], Claim]] = {
    BudgetKind.WORD: _each_word,
    BudgetKind.TEXT: _equal_parts,
    BudgetKind.POSITION: _each_word,
    BudgetKind.TYPE: _claim_by_type,
    BudgetKind.CLASS: _claim_by_class,
    BudgetKind.PAST: _claim_by_past,
    BudgetKind.FREE: _claim_freely,
}


class Strength(StrEnum):
    """How meaningful a bound is."""

    NONE = "no guarantee"
    NOT_MEANINGFUL = "no meaningful protection"
    VARIES = "meaningful for near words, not for the farthest"
    GROWS = "weaker the longer the text"
    WEAK = "weak"
    MODERATE = "moderate"
    STRONG = "strong"


@dataclass(frozen=True, slots=True)
class Strengths:
    """How meaningful a statement is for one changed word, and for a whole text."""

    word: Annotated[Strength, Meta(description="For one changed word.")]
    text: Annotated[Strength, Meta(description="For a whole text.")]


def judge(notion: Notion, level: Level, loss: Loss, text_loss: TextLoss) -> Strengths:
    """Judge how meaningful the figures of a claim are."""
    if notion is Notion.NONE:
        return Strengths(Strength.NONE, Strength.NONE)
    # Of one word; in equal parts, of a text of one.
    if loss.nearest > MAX_MEANINGFUL_LOSS:
        word = Strength.NOT_MEANINGFUL
    elif level is Level.WORDS:
        word = Strength.GROWS
    elif loss.farthest > MAX_MEANINGFUL_LOSS:
        word = Strength.VARIES
    else:
        word = _step(loss.farthest, Strength.WEAK)
    if text_loss.total is None:
        return Strengths(word, Strength.GROWS)
    return Strengths(word, _step(text_loss.total, Strength.NOT_MEANINGFUL))


def _step(nats: float, otherwise: Strength) -> Strength:
    if nats <= STRONG:
        return Strength.STRONG
    return Strength.MODERATE if nats <= MODERATE else otherwise


class Unprotected(StrEnum):
    """What settings may leave unprotected; EQUAL_WORDS: which words are equal."""

    PUNCTUATION = "punctuation"
    COMMON_WORDS = "common-words"
    STOP_WORD = "stop_word"
    NUMBER = "number"
    UNKNOWN = "unknown"
    CASE = "case"
    EQUAL_WORDS = "equal-words"
    KEEP_LIST = "keep-list"
    CORPUS_WORDS = "corpus-words"
    MASK_LIST = "mask-list"
    FORMS = "forms"
    CLASSES = "classes"
    GRAMMAR = "grammar"


# Classes of word that settings may leave unreplaced: no ledger counts a loss of them.
VISIBLE_WORDS = frozenset(
    {
        Unprotected.COMMON_WORDS,
        Unprotected.STOP_WORD,
        Unprotected.NUMBER,
        Unprotected.UNKNOWN,
        Unprotected.KEEP_LIST,
        Unprotected.CORPUS_WORDS,
    }
)


def unprotected(policy: Policy, strategy: Strategy) -> tuple[Unprotected, ...]:
    """Return the parts of texts that the output reveals."""
    shown = {
        Unprotected.PUNCTUATION: policy.punctuation != "drop",
        Unprotected.COMMON_WORDS: policy.common > 0,
        Unprotected.STOP_WORD: policy.stop_word != "perturb",
        Unprotected.NUMBER: policy.number != "perturb",
        Unprotected.UNKNOWN: policy.unknown != "perturb",
        Unprotected.CASE: policy.case == "copy",
        Unprotected.EQUAL_WORDS: strategy is not Strategy.TOKEN,
        Unprotected.KEEP_LIST: bool(policy.keep),
        Unprotected.CORPUS_WORDS: policy.words is not None,
        Unprotected.MASK_LIST: bool(policy.mask),
        Unprotected.FORMS: bool(policy.forms),
        Unprotected.CLASSES: bool(policy.classes),
        Unprotected.GRAMMAR: policy.grammar == "show",
    }
    return tuple(name for name, is_shown in shown.items() if is_shown)
