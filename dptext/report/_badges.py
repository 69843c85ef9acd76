"""What a bound is worth for a word and for a whole text: one badge for each.

A bound can be meaningful for a word and say nothing of a text of many words.
"""

from __future__ import annotations

import math

from dptext.guarantees.statement import Statement
from dptext.guarantees.terms import MEANINGFUL
from dptext.guarantees.wording import above
from dptext.report import _plain

# Beyond this many nats a bound does not protect a text as a whole: which of two texts
# was there is one bit, and a text is often one of a handful.
TEXT = 10.0

Badge = tuple[str, str]

_WHOLE = {
    "token": ("Whole texts", "replaced words"),
    "record": ("Whole records", "distinct replaced words"),
    "data-set": ("The whole data set", "distinct replaced words"),
}
SCALE = (
    f"Whole texts: above {TEXT:g} nats (a factor of 22,027) there is no meaningful "
    "protection of a text as a whole, because the losses of its words add up and a "
    "text is often one of a few that come into question."
)


def badges(promise: Statement) -> tuple[Badge, Badge]:
    """Return the badge of what epsilon is of, then the other, each a tone and words."""
    other = _of_word if promise.level == "text" else _of_text
    return _plain.verdict(promise), other(promise)


def _of_text(promise: Statement) -> Badge:
    """Judge n times the bound of a word, n the length of the text."""
    named, words = _WHOLE[promise.strategy]
    if promise.notion == "none":
        return "bad", f"{named}: no guarantee"
    each = promise.epsilon if promise.level == "words" else promise.worst_loss
    if each is None:
        return "bad", f"{named}: no bound"
    length = max(math.floor(TEXT / each) + 1, 1) if each else 0
    if not length:
        return "good", f"{named}: nothing is lost"
    if promise.notion == "metric-DP":
        told = f"{named}: no meaningful bound for words far from each other"
        return (
            ("bad", told)
            if length == 1
            else ("fair", f"{told}, from {length} {words} on")
        )
    told = f"{named} of n {words}: at most n times {above(each)} nats"
    if length == 1:
        return "bad", f"{told}, no meaningful bound"
    return "fair", f"{told}, no meaningful bound from n = {length} on"


def _of_word(promise: Statement) -> Badge:
    """Judge the bound of a text as one on a change of one word: it is no larger."""
    worst = promise.worst_loss
    if promise.notion == "none":
        return "bad", "One replaced word: no guarantee"
    if worst is None:
        return "bad", "One replaced word: no bound"
    if worst > MEANINGFUL:
        return "fair", "One replaced word: no meaningful bound in short texts"
    for limit, tone, name in (
        (_plain.STRONG, "good", "strong"),
        (_plain.MODERATE, "fair", "moderate"),
    ):
        if worst <= limit:
            return tone, f"One replaced word: {name} bound, at most {above(worst)} nats"
    return "fair", f"One replaced word: weak bound, at most {above(worst)} nats"
