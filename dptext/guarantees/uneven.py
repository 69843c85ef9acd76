"""What holds when epsilon differs from word to word, or a law looks at the whole text.

docs/guarantees.md, section 5, proves each bound. For a mechanism that says what is left
(`Guarantee.uneven`): two words with epsilons up to hi lose at most hi * word; texts
whose epsilons sum to at most E lose at most E * total; a word that stays but whose
epsilon moves within [lo, hi] loses at most (hi - lo) * drift.
"""

from __future__ import annotations

import math

from dptext.guarantees.terms import Claim, Loss, Terms, unresolved
from dptext.guarantees.wording import above, factor, number, series, weak
from dptext.types import Guarantee

_SEEDED = (
    "No guarantee: this run was seeded, and whoever knows or guesses the seed can "
    "repeat every draw."
)
_UNRESOLVED = (
    "No guarantee: the loss that these settings allow is above 30 nats, which is no "
    "meaningful protection, and above what can be resolved numerically."
)
_TELLS = (
    "No guarantee: epsilon differs from word to word, and under this mechanism that "
    "alone may tell words apart without bound."
)
_MIXED = (
    "No guarantee: dptext proves nothing for this mechanism when epsilon differs from "
    "word to word."
)


def claim(
    promise: Guarantee, terms: Terms, words: tuple[str, ...], alike: tuple[str, ...]
) -> Claim | None:
    """Return the claim, or None where every word has one epsilon and its own law."""
    kind = terms.spending.kind
    if kind in ("word", "text") and not promise.context:
        return None
    none = _none(promise, terms)
    if none is not None:
        return none
    if promise.context:
        made = _in_context(promise, terms, series(words), series(alike))
    else:
        made = _MAKERS[kind](promise, terms, series(words), series(alike))
    if unresolved(terms, made.worst):
        return _nothing(promise, terms, _UNRESOLVED)
    return made


def _none(promise: Guarantee, terms: Terms) -> Claim | None:
    if terms.key == "seed":
        return _nothing(promise, terms, _SEEDED)
    if promise.notion == "none":
        return _nothing(promise, terms, f"No guarantee: {promise.reason}")
    kind = terms.spending.kind
    if promise.notion == "eps-delta":
        return _nothing(promise, terms, _MIXED)
    if kind in ("type", "free") and promise.uneven is None:
        return _nothing(promise, terms, _TELLS)
    return None


def _nothing(promise: Guarantee, terms: Terms, sentence: str) -> Claim:
    return Claim(
        notion="none",
        metric=promise.metric,
        epsilon=terms.epsilon,
        level=terms.level,
        worst=math.inf,
        loss=_losses(promise, terms),
        sentence=sentence,
        text_level="No guarantee for texts.",
    )


def _even(value: float) -> Loss:
    return Loss(value, value, value)


def _used(terms: Terms) -> str:
    return "".join(f" {line}" for line in terms.spending.used)


def _losses(promise: Guarantee, terms: Terms, extra: float = 0.0) -> Loss:
    """Return high times distance, plus extra, where the metric is a distance."""
    high = terms.spending.high
    if promise.notion == "LDP":
        return _even(high + extra)
    near, middle, far = (
        high * min(distance, promise.reach) + extra
        for distance in (terms.nearest, terms.median, terms.diameter)
    )
    return Loss(near, middle, far)


def _of_place(promise: Guarantee, terms: Terms, words: str, alike: str) -> Claim:
    high = terms.spending.high
    loss = _losses(promise, terms)
    ldp = promise.notion == "LDP"
    bound = "e^epsilon" if ldp else "e^(epsilon d)"
    metric = (
        "locally differentially private"
        if ldp
        else f"metric differentially private in d = {promise.metric},"
    )
    times = "" if ldp else " times the distance d to the word it is compared with"
    return Claim(
        notion=promise.notion,
        metric=promise.metric,
        epsilon=high,
        level="word",
        worst=high * promise.reach,
        loss=loss,
        sentence=(
            f"{weak(loss.nearest)}Each replaced word ({words}) is {metric} with the "
            f"epsilon of its place in its text, at most {number(high)}: whichever two "
            f"texts are compared that differ in one such word and have {alike}, no "
            f"output is more than {bound} times as likely under one as under the other."
        ),
        text_level=(
            "A text loses at most the sum, over those of its replaced words that may "
            f"differ, of the epsilon of the word's place{times}.{_used(terms)}"
        ),
    )


def _of_type(promise: Guarantee, terms: Terms, words: str, alike: str) -> Claim:
    assert promise.uneven is not None
    low, high = terms.spending.low, terms.spending.high
    epsilon = high * promise.uneven.word
    return Claim(
        notion="LDP",
        metric="1",
        epsilon=epsilon,
        level="word",
        worst=epsilon,
        loss=_even(epsilon),
        sentence=(
            f"{weak(epsilon)}Each replaced word ({words}) is {number(epsilon)}-locally "
            f"differentially private: whichever two texts are compared that differ in "
            f"one such word and have {alike}, no output is more than {factor(epsilon)} "
            "times as likely under one as under the other."
        ),
        text_level=(
            f"A text of n replaced words loses at most n times {number(epsilon)} nats "
            f"when all of them may differ, m times {number(epsilon)} when m of them "
            f"may. The mechanism's epsilon of a word follows from the word alone, by a "
            f"public table, and lies between {number(low)} and {number(high)}."
            f"{_used(terms)}"
        ),
    )


def _of_class(promise: Guarantee, terms: Terms, words: str, alike: str) -> Claim:
    first, high = terms.spending.first, terms.spending.high
    if promise.notion == "LDP":
        epsilon = first + high
        return Claim(
            notion="LDP",
            metric="1",
            epsilon=epsilon,
            level="word",
            worst=epsilon,
            loss=_even(epsilon),
            sentence=(
                f"{weak(epsilon)}Each replaced word ({words}) is {number(epsilon)}-"
                "locally differentially private: whichever two texts are compared that "
                f"differ in one such word and have {alike}, no output is more than "
                f"{factor(epsilon)} times as likely under one as under the other."
            ),
            text_level=(
                f"A text of n replaced words loses at most n times {number(epsilon)} "
                f"nats when all of them may differ, m times {number(epsilon)} when m "
                f"of them may.{_classes(terms)}"
            ),
        )
    loss = _losses(promise, terms, first)
    return Claim(
        notion="metric-DP",
        metric=(
            f"{promise.metric}, plus {above(first / high)} between words of different "
            "public classes"
        ),
        epsilon=high,
        level="word",
        worst=high * promise.reach + first,
        loss=loss,
        sentence=(
            f"{weak(loss.nearest)}Each replaced word ({words}) is metric "
            f"differentially private in d = {promise.metric}: whichever two texts are "
            f"compared that differ in one such word and have {alike}, no output is "
            "more than "
            f"e^({number(high)} d) times as likely under one as under the other where "
            f"the two words are of one public class, and e^({number(high)} d + "
            f"{number(first)}) times where they are not."
        ),
        text_level=(
            f"A text loses at most {number(high)} times the sum of the distances d "
            "between its words and those of the text that it is compared with, place "
            f"by place, plus {number(first)} for each place in which their classes "
            f"differ.{_classes(terms)}"
        ),
    )


def _classes(terms: Terms) -> str:
    return (
        f" The class of each word is drawn first, by randomised response at epsilon "
        f"{number(terms.spending.first)}; the word is drawn with the epsilon of the "
        f"drawn class, at most {number(terms.spending.high)}.{_used(terms)}"
    )


def _of_past(promise: Guarantee, terms: Terms, words: str, alike: str) -> Claim:
    total, high = terms.spending.total, terms.spending.high
    assert total is not None
    head = f"The replaced words of each text together ({words}) are {number(total)}-"
    chosen = (
        " The epsilon of a word is chosen by what was released before it in its text, "
        f"never by the text itself.{_used(terms)}"
    )
    if promise.notion == "LDP":
        return Claim(
            notion="LDP",
            metric="1",
            epsilon=total,
            level="text",
            worst=total,
            loss=_even(min(high, total)),
            sentence=(
                f"{weak(total)}{head}locally differentially private: whichever two "
                f"texts are compared that have {alike}, no output text is more than "
                f"{factor(total)} times as likely under one as under the other."
            ),
            text_level=(
                f"A whole text loses at most {number(total)} nats, whatever its "
                f"length; one changed word at most {number(min(high, total))}.{chosen}"
            ),
        )
    return Claim(
        notion="metric-DP",
        metric=promise.metric,
        epsilon=total,
        level="text",
        worst=total * promise.reach,
        loss=_losses(promise, terms),
        sentence=(
            f"{head}metric differentially private in the largest distance d = "
            f"{promise.metric} between words in the same place: whichever two texts "
            f"are compared that have {alike}, no output text is more than "
            f"e^({number(total)} d) times as likely under one as under the other."
        ),
        text_level=(
            f"A whole text loses at most {number(total)} times the largest distance, "
            f"{above(total * promise.reach)} nats, whatever its length; one changed "
            f"word at most {number(high)} times its distance.{chosen}"
        ),
    )


def _of_text(promise: Guarantee, terms: Terms, words: str, alike: str) -> Claim:
    """Claim what is left when epsilon depends on anything in the text."""
    left, spent = promise.uneven, terms.spending
    assert left is not None
    each = spent.high * left.word
    all_of_it = math.inf if spent.total is None else spent.total * left.total
    if spent.rate is not None:
        each = min(each, spent.rate * left.total)
    how = (
        " Epsilon of a word is computed from the whole text"
        f"{_total(terms)}, so that a changed word moves the epsilon of all others."
        f"{_used(terms)}"
    )
    one = (
        "" if promise.context else _one_word(terms, spent.high * left.word, left.drift)
    )
    if math.isinf(all_of_it):
        return _per_word(each, words, alike, one + how)
    lesser = (
        ""
        if math.isinf(each)
        else f", and n times {number(each)} if that is less, n its replaced words"
    )
    return Claim(
        notion="LDP",
        metric="1",
        epsilon=all_of_it,
        level="text",
        worst=all_of_it,
        loss=_even(all_of_it),
        sentence=(
            f"{weak(all_of_it)}The replaced words of each text together ({words}) are "
            f"{number(all_of_it)}-locally differentially private: whichever two texts "
            f"are compared that have {alike}, no output text is more than "
            f"{factor(all_of_it)} times as likely under one as under the other. "
            "A change of one word is promised no more than that."
        ),
        text_level=(
            f"A whole text loses at most {number(all_of_it)} nats, whatever its "
            f"length{lesser}.{one}{how}"
        ),
    )


def _total(terms: Terms) -> str:
    spent = terms.spending
    if spent.total is not None:
        return f", in sum at most {number(spent.total)} for a text"
    if spent.rate is not None:
        return f", in sum at most {number(spent.rate)} for each replaced word"
    return ""


def _one_word(terms: Terms, changed: float, drift: float) -> str:
    """Say what one changed word costs where the clamps bound it."""
    if math.isinf(drift) or math.isinf(changed):
        return ""
    moved = (terms.spending.high - terms.spending.low) * drift
    return (
        f" Two texts that differ in one of n replaced words also lose at most "
        f"{above(changed)} + (n - 1) times {above(moved)} nats."
    )


def _per_word(each: float, words: str, alike: str, how: str) -> Claim:
    """Claim n times each for a text of n replaced words, whatever changes in it."""
    return Claim(
        notion="LDP",
        metric="1",
        epsilon=each,
        level="words",
        worst=math.inf,
        loss=_even(each),
        sentence=(
            f"{weak(each)}The n replaced words of each text together ({words}) are n "
            f"times {number(each)}-locally differentially private: whichever two texts "
            f"are compared that have {alike}, no output text is more than e^(n "
            f"{number(each)}) times as likely under one as under the other, for each "
            f"word a factor of {factor(each)}. A change of one word is promised no "
            "more than that."
        ),
        text_level=(
            f"A text of n replaced words loses at most n times {number(each)} nats, "
            f"also when only one of them changes.{how}"
        ),
    )


def _in_context(promise: Guarantee, terms: Terms, words: str, alike: str) -> Claim:
    """Claim for laws that look at all words of a text: a change counts for every word.

    Whatever epsilon a word gets, for both texts or for each its own, it loses at most
    hi * word; in sum at most E * total.
    """
    spent = terms.spending
    how = (
        " The law of each word looks at all words of its text, so that a changed word "
        "moves the laws of all others."
    )
    if spent.kind == "free":
        return _of_text(promise, terms, words, alike)
    if spent.kind == "text":
        total = spent.high
        return Claim(
            notion="LDP",
            metric="1",
            epsilon=total,
            level="text",
            worst=total,
            loss=_even(total),
            sentence=(
                f"{weak(total)}The replaced words of each text together ({words}) are "
                f"{number(total)}-locally differentially private: whichever two texts "
                f"are compared that have {alike}, no output text is more than "
                f"{factor(total)} times as likely under one as under the other."
            ),
            text_level=(
                f"A whole text loses at most {number(total)} nats, whatever its "
                f"length, also when only one of its words changes.{how}"
            ),
        )
    return _per_word(spent.first + spent.high, words, alike, how + _used(terms))


_MAKERS = {
    "place": _of_place,
    "type": _of_type,
    "class": _of_class,
    "past": _of_past,
    "free": _of_text,
}
