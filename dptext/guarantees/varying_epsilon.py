"""What holds when epsilon differs from word to word, or a law looks at the whole text.

docs/guarantees.md, section 5, proves each bound. For a mechanism that says what is left
(`Guarantee.varying_epsilon`): two words with epsilons up to hi lose at most hi * word;
texts whose epsilons sum to at most E lose at most E * total; a word that stays but
whose epsilon moves within [lo, hi] loses at most (hi - lo) * drift. No two words lose
more than `Guarantee.max_loss`, whatever their epsilons.
"""

from __future__ import annotations

import math

from dptext.guarantees import together, wording
from dptext.guarantees.terms import Claim, Loss, Terms, TextLoss
from dptext.guarantees.wording import LIKELY, above, factor, large, number, weak
from dptext.types import Guarantee

_TELLS = (
    "No guarantee: epsilon differs from word to word, and under this mechanism that "
    "alone may tell words apart without bound."
)
_MIXED = (
    "No guarantee: dptext proves nothing for this mechanism when epsilon differs from "
    "word to word."
)


def refusal(promise: Guarantee, terms: Terms) -> str:
    """Say why nothing is left of the mechanism's guarantee; "" where something is."""
    if promise.notion == "eps-delta":
        return _MIXED
    if (
        terms.budget_description.kind in ("type", "free")
        and promise.varying_epsilon is None
    ):
        return _TELLS
    return ""


def claim(promise: Guarantee, terms: Terms, words: str, alike: str) -> Claim:
    """Return the claim where `refusal` has nothing to say."""
    if promise.context:
        return together.in_context(promise, terms, words, alike)
    return _MAKERS[terms.budget_description.kind](promise, terms, words, alike)


def losses(promise: Guarantee, terms: Terms, extra: float = 0.0) -> Loss:
    """Return the bounds for one word at the largest epsilon, plus extra."""
    high = terms.budget_description.high
    if promise.notion != "metric-DP":
        return Loss.even(high + extra)
    near, middle, far = (
        min(high * min(apart, promise.max_distance), promise.max_loss) + extra
        for apart in (terms.nearest, terms.median, terms.diameter)
    )
    return Loss(near, middle, far)


def _of_words(epsilon: float, words: str, alike: str, how: str) -> Claim:
    """Claim epsilon-LDP for each word."""
    return Claim(
        notion="LDP",
        metric="1",
        epsilon=epsilon,
        level="word",
        worst=epsilon,
        loss=Loss.even(epsilon),
        sentence=wording.of_words(epsilon, words, alike),
        text_level=(
            f"A text of n replaced words loses at most n times {number(epsilon)} nats "
            f"when all of them may differ, m times {number(epsilon)} when m of them "
            f"may.{wording.beyond(epsilon)}{how}"
        ),
        text_loss=TextLoss(None, epsilon),
    )


def _of_position(promise: Guarantee, terms: Terms, words: str, alike: str) -> Claim:
    high = terms.budget_description.high
    loss, worst = losses(promise, terms), promise.worst(high)
    ldp = promise.notion == "LDP"
    bound = "e^epsilon" if ldp else "e^(epsilon d)"
    times = "" if ldp else " times the distance d to the word it is compared with"
    told = (
        "locally differentially private with the epsilon of its place in its text, at "
        f"most {number(high)}"
    )
    if not ldp:
        told = (
            "metric differentially private in d = "
            f"{wording.distance(promise, 'epsilon')}, with the epsilon of its place in "
            f"its text, at most {number(high)}"
        )
    return Claim(
        notion=promise.notion,
        metric=promise.metric,
        epsilon=high,
        level="word",
        worst=worst,
        loss=loss,
        sentence=(
            f"{weak(loss.nearest)}Each replaced word ({words}) is {told}: whichever "
            f"two texts are compared that differ in one such word and have {alike}, no "
            f"output is more than {bound} {LIKELY}."
            + (
                f" That factor is at most {factor(high)}."
                if ldp
                else wording.factors(loss)
            )
        ),
        text_level=(
            "A text loses at most the sum, over those of its replaced words that may "
            f"differ, of the epsilon of the word's place{times}."
            f"{wording.beyond(worst)}{terms.used}"
        ),
        text_loss=TextLoss(None, worst),
    )


def _of_type(promise: Guarantee, terms: Terms, words: str, alike: str) -> Claim:
    assert promise.varying_epsilon is not None
    low, high = terms.budget_description.low, terms.budget_description.high
    return _of_words(
        wording.up(min(high * promise.varying_epsilon.word, promise.max_loss)),
        words,
        alike,
        " The mechanism's epsilon of a word follows from the word alone, by a public "
        f"table, and lies between {number(low)} and {number(high)}.{terms.used}",
    )


def _of_class(promise: Guarantee, terms: Terms, words: str, alike: str) -> Claim:
    first, high = terms.budget_description.first, terms.budget_description.high
    how = (
        " The class of each word is drawn first, by randomised response at epsilon "
        f"{number(first)}; the word is drawn with the epsilon of the drawn class, at "
        f"most {number(high)}.{terms.used}"
    )
    if promise.notion == "LDP":
        return _of_words(first + high, words, alike, how)
    loss, worst = losses(promise, terms, first), promise.worst(high) + first
    metric = wording.distance(promise, number(high))
    return Claim(
        notion="metric-DP",
        metric=(
            f"{metric}, plus {above(first / high)} between words of different public "
            "classes"
        ),
        epsilon=high,
        level="word",
        worst=worst,
        loss=loss,
        sentence=(
            f"{weak(loss.nearest)}Each replaced word ({words}) is metric "
            f"differentially private in d = {metric}: whichever two texts are compared "
            f"that differ in one such word and have {alike}, no output is more than "
            f"e^({number(high)} d) {LIKELY} where the two words are of one public "
            f"class, and e^({number(high)} d + {number(first)}) times where they are "
            f"not.{wording.factors(loss)}"
        ),
        text_level=(
            f"A text loses at most {number(high)} times the sum of the distances d "
            "between its words and those of the text that it is compared with, place "
            f"by place, plus {number(first)} for each place in which their classes "
            f"differ.{wording.beyond(worst)}{how}"
        ),
        text_loss=TextLoss(None, worst),
    )


def _of_past(promise: Guarantee, terms: Terms, words: str, alike: str) -> Claim:
    total, high = terms.budget_description.total, terms.budget_description.high
    assert total is not None
    chosen = (
        " The epsilon of a word is chosen by what was released before it in its text, "
        f"never by the text itself.{terms.used}"
    )
    # However epsilon moves, what follows a changed word looks at outputs alone.
    worst = total * promise.max_distance
    each = promise.worst(high)
    text_loss = TextLoss(worst, each)
    if promise.notion == "LDP":
        return Claim(
            notion="LDP",
            metric="1",
            epsilon=total,
            level="text",
            worst=worst,
            loss=Loss.even(each),
            sentence=wording.of_text(total, words, alike),
            text_level=(
                f"A whole text of n replaced words loses at most {number(total)} nats, "
                f"whatever its length, and n times {number(each)} nats if that is less"
                f"{large(total)}. One changed word loses at most {number(each)} nats."
                f"{chosen}"
            ),
            text_loss=text_loss,
        )
    cut = ""
    if math.isfinite(promise.max_loss):
        cut = f", nor more than e^(n times {above(promise.max_loss)}) times"
    return Claim(
        notion="metric-DP",
        metric=wording.uncut(promise),
        epsilon=total,
        level="text",
        worst=worst,
        loss=losses(promise, terms),
        sentence=(
            f"The replaced words of each text together ({words}) are {number(total)}-"
            "metric differentially private in the largest distance d between words in "
            f"the same place, distance being {wording.uncut(promise)}: whichever two "
            f"texts of n replaced words are compared that have {alike}, no output text "
            f"is more than e^({number(total)} d) {LIKELY}{cut}."
        ),
        text_level=(
            f"A whole text of n replaced words loses at most {number(total)} times the "
            f"largest distance, {above(worst)} nats, whatever its length, and n times "
            f"{above(each)} nats if that is less{large(worst)}. One changed word loses "
            f"at most {number(high)} times its distance, and at most {above(each)} "
            f"nats.{chosen}"
        ),
        text_loss=text_loss,
    )


_MAKERS = {
    "position": _of_position,
    "type": _of_type,
    "class": _of_class,
    "past": _of_past,
    "free": together.of_text,
}
