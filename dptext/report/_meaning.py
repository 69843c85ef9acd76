"""What a guarantee means, for readers who do not know the notions."""

from __future__ import annotations

from collections.abc import Iterable

from dptext.guarantees.rounding import factor, number
from dptext.guarantees.statement import Statement
from dptext.measures.bayes_risk import Risk
from dptext.measures.context_risk import InContext
from dptext.report import in_context
from dptext.report.figures import share
from dptext.types import Level, Notion


def meaning(
    promise: Statement, risk: Risk | None, measured: Iterable[InContext] = ()
) -> tuple[str, ...]:
    """Say what the guarantee means, for readers who do not know the notions."""
    guess = _guess(risk) if risk else ()
    return (*_of(promise), *in_context.scale(measured), *guess)


def _of(promise: Statement) -> tuple[str, ...]:
    if promise.notion is Notion.NONE:
        return (
            "dptext promises nothing here: it sets no limit to how well whoever has "
            "the output can tell which words stood in the original.",
        )
    return (*_odds(promise), *_beyond(promise))


def _odds(promise: Statement) -> tuple[str, ...]:
    about = {
        Level.TEXT: "that differ in any of their replaced words",
        Level.WORDS: "of n replaced words that differ in one of them",
    }.get(promise.level, "that differ in one replaced word")
    lines = [
        f"Think of someone who has the output and wavers between two originals {about} "
        "and are alike in what is not covered."
    ]
    near, far = promise.loss.nearest, promise.loss.farthest
    if promise.level is Level.WORDS:
        lines.append(
            "The output may shift the odds between the two by a factor of at most "
            f"e^(n times {number(promise.epsilon)}): the longer the text, the less "
            "protection is left."
        )
    elif promise.notion is Notion.LDP:
        lines.append(
            "Whatever else is known about the texts, the output shifts the odds "
            f"between the two by a factor of at most {factor(promise.epsilon)}: even "
            f"odds become at most {_odds_of(promise.epsilon)}."
        )
    elif promise.notion is Notion.METRIC:
        lines.append(
            "How far the output may shift the odds between the two depends on how near "
            "the words are to each other: for half of the vocabulary and its nearest "
            f"other word by a factor of at most {factor(near)}, for the farthest two "
            f"words by one of up to {factor(far)}."
            if promise.level is Level.WORD
            else "How far the output may shift the odds between the two depends on how "
            "near their words are to each other, place by place."
        )
    else:
        lines.append(
            "The output shifts the odds between the two by a factor of at most "
            f"{factor(promise.epsilon)}, but for exceptions that delta, "
            f"{number(promise.delta)}"
            f"{' for each replaced word' if promise.equal_parts else ''}, allows."
        )
    return (" ".join(lines),)


def _odds_of(nats: float) -> str:
    return f"{factor(nats)} to 1"


def _beyond(promise: Statement) -> tuple[str, ...]:
    if promise.level is Level.TEXT:
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
