"""What a bound is worth for a word and for a whole text: one badge for each.

A bound can be meaningful for a word and say nothing of a text of many words.
"""

from __future__ import annotations

from dptext.guarantees.claims import Strength
from dptext.guarantees.rounding import MAX_MEANINGFUL_TEXT_LOSS, above, first_beyond
from dptext.guarantees.statement import Statement
from dptext.report import _plain
from dptext.report._plain import TONES, Tone
from dptext.types import Level, Notion, Strategy

Badge = tuple[Tone, str]

_WHOLE = {
    Strategy.TOKEN: ("Whole texts", "replaced words"),
    Strategy.RECORD: ("Whole records", "distinct replaced words"),
    Strategy.DATA_SET: ("The whole data set", "distinct replaced words"),
}
_WORD = {
    Strength.NONE: "no guarantee",
    Strength.NOT_MEANINGFUL: "no meaningful bound",
    Strength.GROWS: "a bound that grows with the text",
    Strength.VARIES: "no meaningful bound for the farthest words",
    Strength.WEAK: "weak bound, at most {nats} nats",
    Strength.MODERATE: "moderate bound, at most {nats} nats",
    Strength.STRONG: "strong bound, at most {nats} nats",
}
SCALE = (
    f"Whole texts: above {MAX_MEANINGFUL_TEXT_LOSS:g} nats (a factor of 22,027) there "
    "is no meaningful protection of a text as a whole, because the losses of its words "
    "add up and a text is often one of a few that come into question."
)


def badges(promise: Statement) -> tuple[Badge, Badge]:
    """Return the badge of what epsilon is of, then the other, each a tone and words."""
    other = _of_word if promise.level is Level.TEXT else _of_text
    return _plain.verdict(promise), other(promise)


def _of_text(promise: Statement) -> Badge:
    """Judge n times the bound of a word, n the length of the text."""
    named, words = _WHOLE[promise.strategy]
    each = promise.text_loss.each
    if promise.notion is Notion.NONE:
        return Tone.BAD, f"{named}: no guarantee"
    if each is None:
        return Tone.BAD, f"{named}: no bound"
    if not each:
        return Tone.GOOD, f"{named}: nothing is lost"
    length = first_beyond(each, MAX_MEANINGFUL_TEXT_LOSS)
    if promise.notion is Notion.METRIC:
        far = f"{named}: no meaningful bound for words far from each other"
        if length == 1:
            return Tone.BAD, far
        return Tone.FAIR, f"{far}, from {length} {words} on"
    bound = f"{named} of n {words}: at most n times {above(each)} nats"
    if length == 1:
        return Tone.BAD, f"{bound}, no meaningful bound"
    return Tone.FAIR, f"{bound}, no meaningful bound from n = {length} on"


def _of_word(promise: Statement) -> Badge:
    """Judge the bound on a change of one word of a text."""
    strength = promise.strength.word
    name = _WORD[strength].format(nats=above(promise.loss.farthest))
    return TONES[strength], f"One replaced word: {name}"
