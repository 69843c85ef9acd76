"""What a statement is worth, in a few words and in plain terms. Each literally true."""

from __future__ import annotations

from enum import StrEnum

from dptext.guarantees.claims import Strength
from dptext.guarantees.rounding import (
    MAX_MEANINGFUL_LOSS,
    MAX_MEANINGFUL_TEXT_LOSS,
    above,
)
from dptext.guarantees.statement import Statement
from dptext.types import Level


class Tone(StrEnum):
    """The colour of a verdict."""

    GOOD = "good"
    FAIR = "fair"
    BAD = "bad"


_STEPS = (
    "Words for a bound: strong, at most 1 nat (a factor of 2.72); moderate, at most 10 "
    "nats (a factor of 22,027); "
)
_OF_WORDS = (
    f"{_STEPS}weak, at most {MAX_MEANINGFUL_LOSS:g}; above {MAX_MEANINGFUL_LOSS:g} "
    "nats no meaningful protection. The steps at 1 and 10 are often used for all data "
    "of a person; here they are about {about}, so that a person with many words has "
    "less."
)
_OF_TEXTS = (
    f"{_STEPS}above {MAX_MEANINGFUL_TEXT_LOSS:g} nats no meaningful protection of a "
    "text as a whole. The steps at 1 and 10 are often used for all data of a person; "
    "here they are about one whole text, so that a person with several texts has less. "
    "Single words are judged by what a change of one word loses, weak up to "
    f"{MAX_MEANINGFUL_LOSS:g} nats and no meaningful protection above."
)
_ABOUT = {
    Level.WORD: "one replaced word",
    Level.WORDS: "each of the n replaced words of a text, whose losses add up",
}
_NAMES = {
    Strength.WEAK: "Weak",
    Strength.MODERATE: "Moderate",
    Strength.STRONG: "Strong",
}
TONES = {
    Strength.NONE: Tone.BAD,
    Strength.NOT_MEANINGFUL: Tone.BAD,
    Strength.VARIES: Tone.FAIR,
    Strength.GROWS: Tone.FAIR,
    Strength.WEAK: Tone.FAIR,
    Strength.MODERATE: Tone.FAIR,
    Strength.STRONG: Tone.GOOD,
}


def verdict(promise: Statement) -> tuple[Tone, str]:
    """Return a tone of the page and the same in words."""
    word = promise.strength.word
    if promise.level is Level.TEXT and word is not Strength.NONE:
        return _of_text(promise)
    words = {
        Strength.NONE: "No guarantee",
        Strength.NOT_MEANINGFUL: "No meaningful protection",
        Strength.GROWS: (
            f"Bound of {above(promise.epsilon)} nats for {_ABOUT[Level.WORDS]}"
        ),
        Strength.VARIES: "Depends on the words: no meaningful bound for the farthest",
    }
    named = f"{_NAMES.get(word)} bound for {_ABOUT[Level.WORD]}"
    return TONES[word], words.get(word, named)


def _of_text(promise: Statement) -> tuple[Tone, str]:
    word, text = promise.strength.word, promise.strength.text
    if text in _NAMES:
        return TONES[text], f"{_NAMES[text]} bound for one whole text"
    no_bound = "No meaningful bound for whole texts"
    if promise.equal_parts and promise.text_loss.total is not None:
        total = above(promise.text_loss.total)
        return Tone.FAIR, f"{no_bound}; at most {total} / n nats for one of n words"
    if word is Strength.NOT_MEANINGFUL:
        return Tone.BAD, "No meaningful protection"
    if word is Strength.VARIES:
        return Tone.FAIR, f"{no_bound}, nor for the farthest words"
    named = _NAMES[word].lower()
    return Tone.FAIR, f"{no_bound}; {named} bound for a change of one word"


def scale(promise: Statement) -> str:
    """Say what the words of the verdict mean."""
    if promise.level is Level.TEXT:
        return _OF_TEXTS
    return _OF_WORDS.format(about=_ABOUT[promise.level])
