"""What a statement is worth, in a few words and in plain terms. Each literally true."""

from __future__ import annotations

from dptext.guarantees import scale as scales
from dptext.guarantees.scale import Strength
from dptext.guarantees.statement import Statement
from dptext.guarantees.terms import MAX_MEANINGFUL_LOSS, MAX_MEANINGFUL_TEXT_LOSS
from dptext.guarantees.wording import above, factor, number
from dptext.measures.bayes_risk import Risk
from dptext.report.figures import share

_STEPS = (
    "Words for a bound: strong, at most 1 nat (a factor of 2.72); moderate, at most 10 "
    "nats (a factor of 22,027); "
)
_OF_WORDS = (
    f"{_STEPS}weak, at most {MAX_MEANINGFUL_LOSS:g}; above {MAX_MEANINGFUL_LOSS:g} "
    "nats no meaningful "
    "protection. The steps at 1 and 10 are often used for all data of a person; here "
    "they are about {about}, so that a person with many words has less."
)
_OF_TEXTS = (
    f"{_STEPS}above {MAX_MEANINGFUL_TEXT_LOSS:g} nats no meaningful protection of a "
    "text as a "
    "whole. The steps at 1 and 10 are often used for all data of a person; here they "
    "are about one whole text, so that a person with several texts has less. Single "
    "words are judged by what a change of one word loses, weak up to "
    f"{MAX_MEANINGFUL_LOSS:g} nats and no meaningful protection above."
)
_ABOUT = {
    "word": "one replaced word",
    "words": "each of the n replaced words of a text, whose losses add up",
}
_NAMES = {
    Strength.WEAK: "Weak",
    Strength.MODERATE: "Moderate",
    Strength.STRONG: "Strong",
}
_TONES = {Strength.STRONG: "good"}


def verdict(promise: Statement) -> tuple[str, str]:
    """Return a tone of the page and the same in words."""
    word = scales.of_word(promise)
    if word is Strength.NONE:
        return "bad", "No guarantee"
    if promise.level == "text":
        return _of_text(promise, word)
    if word is Strength.NOT_MEANINGFUL:
        return "bad", "No meaningful protection"
    if word is Strength.GROWS:
        bound = above(promise.epsilon)
        return "fair", f"Bound of {bound} nats for {_ABOUT['words']}"
    if word is Strength.VARIES:
        return "fair", "Depends on the words: no meaningful bound for the farthest"
    return _TONES.get(word, "fair"), f"{_NAMES[word]} bound for {_ABOUT['word']}"


def _of_text(promise: Statement, word: Strength) -> tuple[str, str]:
    text = scales.of_text(promise)
    if text in _NAMES:
        return _TONES.get(text, "fair"), f"{_NAMES[text]} bound for one whole text"
    told = "No meaningful bound for whole texts"
    if promise.equal_parts and promise.text_loss.total is not None:
        total = above(promise.text_loss.total)
        return "fair", f"{told}; at most {total} / n nats for one of n words"
    if word is Strength.NOT_MEANINGFUL:
        return "bad", "No meaningful protection"
    if word is Strength.VARIES:
        return "fair", f"{told}, nor for the farthest words"
    return "fair", f"{told}; {_NAMES[word].lower()} bound for a change of one word"


def scale(promise: Statement) -> str:
    """Say what the words of the verdict mean."""
    if promise.level == "text":
        return _OF_TEXTS
    return _OF_WORDS.format(about=_ABOUT[promise.level])


def meaning(promise: Statement, risk: Risk | None) -> tuple[str, ...]:
    """Say what the guarantee means, for readers who do not know the notions."""
    return (*_of(promise), *(_guess(risk) if risk else ()))


def _of(promise: Statement) -> tuple[str, ...]:
    if promise.notion == "none":
        return (
            "dptext promises nothing here: it sets no limit to how well whoever has "
            "the output can tell which words stood in the original.",
        )
    return (*_odds(promise), *_beyond(promise))


def _odds(promise: Statement) -> tuple[str, ...]:
    about = {
        "text": "that differ in any of their replaced words",
        "words": "of n replaced words that differ in one of them",
    }.get(promise.level, "that differ in one replaced word")
    told = [
        f"Think of someone who has the output and wavers between two originals {about} "
        "and are alike in what is not covered."
    ]
    near, far = promise.loss.nearest, promise.loss.farthest
    if promise.level == "words":
        told.append(
            "The output may shift the odds between the two by a factor of at most "
            f"e^(n times {number(promise.epsilon)}): the longer the text, the less "
            "protection is left."
        )
    elif promise.notion == "LDP":
        told.append(
            "Whatever else is known about the texts, the output shifts the odds "
            f"between the two by a factor of at most {factor(promise.epsilon)}: even "
            f"odds become at most {_odds_of(promise.epsilon)}."
        )
    elif promise.notion == "metric-DP":
        told.append(
            "How far the output may shift the odds between the two depends on how near "
            "the words are to each other: for half of the vocabulary and its nearest "
            f"other word by a factor of at most {factor(near)}, for the farthest two "
            f"words by one of up to {factor(far)}."
            if promise.level == "word"
            else "How far the output may shift the odds between the two depends on how "
            "near their words are to each other, place by place."
        )
    else:
        told.append(
            "The output shifts the odds between the two by a factor of at most "
            f"{factor(promise.epsilon)}, but for exceptions that delta, "
            f"{number(promise.delta)}"
            f"{' for each replaced word' if promise.equal_parts else ''}, allows."
        )
    return (" ".join(told),)


def _odds_of(nats: float) -> str:
    return f"{factor(nats)} to 1"


def _beyond(promise: Statement) -> tuple[str, ...]:
    if promise.level == "text":
        return ()
    return (
        "That is about single words. A person is known by more than one: what several "
        "words, texts and releases tell adds up.",
    )


def _guess(risk: Risk) -> tuple[str, ...]:
    before, after = share(risk.baseline), share(risk.success)
    if risk.low is not None and risk.high is not None:
        sure = f", with {share(risk.confidence)} confidence" if risk.confidence else ""
        after = f"between {share(risk.low)} and {share(risk.high)}{sure}"
    return (
        "To see the scale: who guesses one replaced word from public word frequencies "
        f"alone is right {before} of the time; the best possible guess that also looks "
        f"at the output word, but at no other word, is right {after} of the time.",
    )
