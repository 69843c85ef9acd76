"""What a bound is worth for a word and for a whole text: one badge for each.

A bound can be meaningful for a word and say nothing of a text of many words.
"""

from __future__ import annotations

from dptext.guarantees import scale
from dptext.guarantees.scale import Strength
from dptext.guarantees.statement import Statement
from dptext.guarantees.terms import MAX_MEANINGFUL_TEXT_LOSS
from dptext.guarantees.wording import above
from dptext.report import _plain

Badge = tuple[str, str]

_WHOLE = {
    "token": ("Whole texts", "replaced words"),
    "record": ("Whole records", "distinct replaced words"),
    "data-set": ("The whole data set", "distinct replaced words"),
}
_WORD = {
    Strength.NONE: ("bad", "no guarantee"),
    Strength.NOT_MEANINGFUL: ("bad", "no meaningful bound"),
    Strength.GROWS: ("fair", "a bound that grows with the text"),
    Strength.VARIES: ("fair", "no meaningful bound for the farthest words"),
    Strength.WEAK: ("fair", "weak bound"),
    Strength.MODERATE: ("fair", "moderate bound"),
    Strength.STRONG: ("good", "strong bound"),
}
SCALE = (
    f"Whole texts: above {MAX_MEANINGFUL_TEXT_LOSS:g} nats (a factor of 22,027) there "
    "is no "
    "meaningful protection of a text as a whole, because the losses of its words add "
    "up and a text is often one of a few that come into question."
)


def badges(promise: Statement) -> tuple[Badge, Badge]:
    """Return the badge of what epsilon is of, then the other, each a tone and words."""
    other = _of_word if promise.level == "text" else _of_text
    return _plain.verdict(promise), other(promise)


def _of_text(promise: Statement) -> Badge:
    """Judge n times the bound of a word, n the length of the text."""
    named, words = _WHOLE[promise.strategy]
    each = promise.text_loss.each
    if promise.notion == "none":
        return "bad", f"{named}: no guarantee"
    if each is None:
        return "bad", f"{named}: no bound"
    if not each:
        return "good", f"{named}: nothing is lost"
    length = scale.first_beyond(each, MAX_MEANINGFUL_TEXT_LOSS)
    if promise.notion == "metric-DP":
        told = f"{named}: no meaningful bound for words far from each other"
        if length == 1:
            return "bad", told
        return "fair", f"{told}, from {length} {words} on"
    told = f"{named} of n {words}: at most n times {above(each)} nats"
    if length == 1:
        return "bad", f"{told}, no meaningful bound"
    return "fair", f"{told}, no meaningful bound from n = {length} on"


def _of_word(promise: Statement) -> Badge:
    """Judge the bound on a change of one word of a text."""
    strength = scale.of_word(promise)
    tone, name = _WORD[strength]
    if strength in (Strength.WEAK, Strength.MODERATE, Strength.STRONG):
        name = f"{name}, at most {above(promise.loss.farthest)} nats"
    return tone, f"One replaced word: {name}"
