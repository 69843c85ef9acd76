"""What a statement is worth, in a few words and in plain terms. Each literally true."""

from __future__ import annotations

from dptext.adversaries.bayes import Risk
from dptext.guarantees.statement import Statement
from dptext.guarantees.terms import MEANINGFUL
from dptext.guarantees.wording import above, factor, number
from dptext.report.figures import share

# Steps of the largest loss, in nats: a factor of 2.72, and of 22,027. They are the
# tiers of Ponomareva et al. 2023, "How to DP-fy ML" (arXiv:2303.00654), which means
# them for all data of a person; here they are applied to what the statement is about.
STRONG, MODERATE = 1.0, 10.0

SCALE = (
    "Words for a bound: strong, at most 1 nat (a factor of 2.72); moderate, at most 10 "
    "nats (a factor of 22,027); weak, at most 30; above 30 nats no meaningful "
    "protection. The steps at 1 and 10 are often used for all data of a person; here "
    "they are about {about}, so that a person with many words has less."
)

_ABOUT = {
    "word": "one replaced word",
    "text": "one whole text",
    "words": "each of the n replaced words of a text, whose losses add up",
}


def verdict(promise: Statement) -> tuple[str, str]:
    """Return a tone of the page and the same in words."""
    if promise.notion == "none":
        return "bad", "No guarantee"
    if promise.sentence.startswith("No meaningful"):
        return "bad", "No meaningful protection"
    about = _ABOUT.get(promise.level, promise.level)
    worst = promise.worst_loss
    if promise.level == "words":
        return "fair", f"Bound of {above(promise.epsilon)} nats for {about}"
    if worst is None or worst > MEANINGFUL:
        return "fair", "Depends on the words: no meaningful bound for the farthest"
    if worst > MODERATE:
        return "fair", f"Weak bound for {about}"
    if worst > STRONG:
        return "fair", f"Moderate bound for {about}"
    return "good", f"Strong bound for {about}"


def scale(promise: Statement) -> str:
    """Say what the words of the verdict mean."""
    return SCALE.format(about=_ABOUT.get(promise.level, promise.level))


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
            f"{number(promise.delta)}, allows."
        )
    return (" ".join(told),)


def _odds_of(nats: float) -> str:
    if nats > MEANINGFUL:
        return f"e^{above(nats)} to 1"
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
