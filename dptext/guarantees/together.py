"""What whole texts lose where a change of one word may count for all words.

Where epsilon follows from anything in the text, or the law of a word looks at all words
(dptext.guarantees.varying_epsilon has the rest; docs/guarantees.md, 5, the proofs).
"""

from __future__ import annotations

import math

from dptext.guarantees import wording
from dptext.guarantees.scale import first_beyond
from dptext.guarantees.terms import (
    MAX_MEANINGFUL_LOSS,
    MAX_MEANINGFUL_TEXT_LOSS,
    Claim,
    Loss,
    Terms,
    TextLoss,
)
from dptext.guarantees.wording import LIKELY, above, factor, large, number, up, weak
from dptext.types import Guarantee


def of_text(promise: Guarantee, terms: Terms, words: str, alike: str) -> Claim:
    """Claim what is left when epsilon depends on anything in the text."""
    left, spent = promise.varying_epsilon, terms.budget_description
    assert left is not None
    changed = up(min(spent.high * left.word, promise.max_loss))
    total = math.inf if spent.total is None else up(spent.total * left.total)
    each = changed
    if spent.rate is not None:
        each = min(each, up(spent.rate * left.total))
    moved = math.inf if promise.context else up(left.moved(spent.low, spent.high))
    how = (
        f"{_one_word(changed, moved, each, total)} Epsilon of a word is computed from "
        f"the whole text{_total(terms, left.total)}, so that a changed word moves the "
        f"epsilon of all others.{terms.used}"
    )
    if math.isinf(total):
        longer = _longer(each, changed, moved)
        return _per_word(each, words, alike, longer + how)
    lesser = "" if math.isinf(each) else f", and n times {number(each)} if that is less"
    return Claim(
        notion="LDP",
        metric="1",
        epsilon=total,
        level="text",
        worst=total,
        loss=Loss.even(total),
        sentence=(
            f"{weak(total)}{wording.of_text(total, words, alike)} That is so whether "
            "one of their words differs or all."
        ),
        text_level=(
            f"A whole text of n replaced words loses at most {number(total)} nats, "
            f"whatever its length{lesser}{large(total)}.{how}"
        ),
        text_loss=TextLoss(total, None if math.isinf(each) else each),
    )


def _total(terms: Terms, times: float) -> str:
    spent = terms.budget_description
    if spent.total is not None:
        told = f", in sum at most {number(spent.total)} for a text"
        if times == 1.0:
            return told
        return f"{told} (two texts may lose {above(times)} times that)"
    if spent.rate is not None:
        return f", in sum at most {number(spent.rate)} for each replaced word"
    return ""


def _one_word(changed: float, moved: float, each: float, total: float) -> str:
    """Say what one changed word costs, where less is known of it than of the text.

    The changed word loses at most changed, each of the other n - 1 at most moved.
    """
    nothing = " A change of one word is promised no more than a change of all."
    if math.isinf(changed) or math.isinf(moved):
        return nothing
    if moved >= each:
        return nothing
    first, last = max(2, math.floor((changed - moved) / (each - moved)) + 1), math.inf
    if math.isfinite(total) and moved > 0.0:
        last = math.ceil((total - changed) / moved)
    if first > last or changed + (first - 1) * moved >= total:
        return nothing
    which = f"for n = {first} to {last:g}"
    if math.isinf(last) or first == last:
        which = f"for n = {first}" + " and more" * math.isinf(last)
    return (
        " Where only one of the n replaced words differs, the text loses at most "
        f"{number(changed)} + (n - 1) times {number(moved)} nats, which is less "
        f"{which}."
    )


def _per_word(each: float, words: str, alike: str, how: str) -> Claim:
    """Claim n times each for a text of n replaced words, whatever changes in it."""
    return Claim(
        notion="LDP",
        metric="1",
        epsilon=each,
        level="words",
        worst=math.inf,
        loss=Loss.even(each),
        sentence=(
            f"{weak(each)}The n replaced words of each text together ({words}) are (n "
            f"times {number(each)})-locally differentially private: whichever two "
            f"texts are compared that have {alike}, no output text is more than e^(n "
            f"times {number(each)}) {LIKELY}, for each word a factor of "
            f"{factor(each)}. That is so whether one of their words differs or all."
        ),
        text_level=(
            f"A text of n replaced words loses at most n times {number(each)} nats."
            f"{how}"
        ),
        text_loss=TextLoss(None, each),
    )


def _longer(each: float, changed: float, moved: float) -> str:
    """Say how long a text is too long for a bound of its length times each.

    Where one word differs, changed and n - 1 times moved may be less.
    """
    if each > MAX_MEANINGFUL_LOSS:
        return ""
    whole, word = (
        first_beyond(each, limit)
        for limit in (MAX_MEANINGFUL_TEXT_LOSS, MAX_MEANINGFUL_LOSS)
    )
    if 0.0 < moved < each:
        word = max(word, first_beyond(moved, MAX_MEANINGFUL_LOSS - changed + moved))
    return (
        f" From n = {whole} on that is above {MAX_MEANINGFUL_TEXT_LOSS:g} nats, no "
        "meaningful "
        f"protection of a text as a whole; from n = {word} on a change of one word may "
        f"lose more than {MAX_MEANINGFUL_LOSS:g}, no meaningful protection of a "
        "single word."
    )


def in_context(promise: Guarantee, terms: Terms, words: str, alike: str) -> Claim:
    """Claim for laws that look at all words of a text: a change counts for every word.

    Whatever epsilon a word gets, for both texts or for each its own, it loses at most
    hi * word; in sum at most E * total.
    """
    spent = terms.budget_description
    how = (
        " A change of one word is promised no more than a change of all: the law of "
        "each word looks at all words of its text, so that a changed word moves the "
        "laws of all others."
    )
    if spent.kind == "free":
        return of_text(promise, terms, words, alike)
    if spent.kind == "text":
        total = spent.high
        return Claim(
            notion="LDP",
            metric="1",
            epsilon=total,
            level="text",
            worst=total,
            loss=Loss.even(total),
            sentence=(
                f"{weak(total)}{wording.of_text(total, words, alike)} That is so "
                "whether one of their words differs or all."
            ),
            text_level=(
                f"A whole text loses at most {number(total)} nats, whatever its length"
                f"{large(total)}.{how}"
            ),
            text_loss=TextLoss(total, None),
        )
    each = spent.first + spent.high
    longer = _longer(each, each, math.inf)
    return _per_word(each, words, alike, longer + how + terms.used)
