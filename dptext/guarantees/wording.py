"""The sentences of a statement. Each is literally true by itself."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dptext.types import Guarantee

if TYPE_CHECKING:
    from dptext.guarantees.terms import Loss, Terms

_MEANINGFUL = 30.0


# What is drawn once, what is compared, and how two of these differ, by strategy.
_DRAWN = {
    "token": "Each replaced word",
    "record": "Each distinct replaced word of a record",
    "data-set": "Each distinct replaced word of the data set",
}
_COMPARED = {
    "token": "whichever two texts are compared that differ in one such word and have",
    "record": (
        "whichever two records are compared that differ in one such word, wherever it "
        "stands in the record, and have"
    ),
    "data-set": (
        "whichever two data sets are compared that differ in one such word, wherever "
        "it stands in the records, and have"
    ),
}
_OF = {
    "token": "text m of whose",
    "record": "record m of whose distinct",
    "data-set": "data set m of whose distinct",
}
_WHOLE = {
    "token": "A text of n replaced words",
    "record": "A record of n distinct replaced words",
    "data-set": "A data set of n distinct replaced words, all records together,",
}


def factor(nats: float) -> str:
    """Write e^nats for people, rounded up; beyond 30 nats say what it is worth."""
    if nats > _MEANINGFUL:
        return f"e^{above(nats)}, which is no meaningful protection"
    value = math.exp(nats)
    if value < 1000:
        return f"{math.ceil(value * 100) / 100:g}"
    return f"{math.ceil(value):,}"


def number(value: float) -> str:
    """Write an epsilon so that nothing is rounded down: up to six digits."""
    short = f"{value:.6g}"
    return short if float(short) >= value else repr(value)


def above(value: float, digits: int = 4) -> str:
    """Write a number with few digits, rounded up."""
    short = f"{value:.{digits}g}"
    if float(short) >= value:
        return short
    step = 10.0 ** (math.floor(math.log10(value)) - digits + 1)
    return f"{float(short) + step:.{digits}g}"


def series(parts: tuple[str, ...]) -> str:
    """Join parts as in a sentence."""
    if len(parts) < 2:
        return "".join(parts)
    return ", ".join(parts[:-1]) + " and " + parts[-1]


def sentence(
    notion: str,
    promise: Guarantee,
    terms: Terms,
    loss: Loss,
    covered: tuple[str, ...],
    alike: tuple[str, ...],
) -> str:
    """Return the guarantee in one quotable sentence."""
    if terms.key == "seed":
        return (
            "No guarantee: this run was seeded, and whoever knows or guesses the seed "
            "can repeat every draw."
        )
    if promise.notion == "none":
        return f"No guarantee: {promise.reason}"
    if notion == "none":
        return (
            "No guarantee: the loss that these settings allow between the farthest "
            "words is above 30 nats, which is no meaningful protection, and above what "
            "can be resolved numerically."
        )
    if notion == "LDP":
        return _ldp(terms, covered, alike)
    if notion == "eps-delta":
        return _approximate(promise, terms, covered, alike)
    return _metric(promise, terms, loss, covered, alike)


def _ldp(terms: Terms, covered: tuple[str, ...], alike: tuple[str, ...]) -> str:
    epsilon = number(terms.epsilon)
    if terms.level == "word":
        poor = weak(terms.epsilon)
        return (
            f"{poor}{_DRAWN[terms.strategy]} ({series(covered)}) is {epsilon}-locally "
            f"differentially private: {_COMPARED[terms.strategy]} {series(alike)}, no "
            f"output is more than {factor(terms.epsilon)} times as likely under one as "
            "under the other."
        )
    return (
        f"{weak(terms.epsilon)}The replaced words of each text together "
        f"({series(covered)}) are {epsilon}-locally differentially private: whichever "
        f"two texts are compared that have {series(alike)}, no output text is more "
        f"than {factor(terms.epsilon)} times as likely under one as under the other."
    )


def _approximate(
    promise: Guarantee,
    terms: Terms,
    covered: tuple[str, ...],
    alike: tuple[str, ...],
) -> str:
    epsilon, delta = number(terms.epsilon), number(promise.delta)
    times = f"no set of outputs is more than {factor(terms.epsilon)} times as likely"
    if terms.level == "word":
        return (
            f"{weak(terms.epsilon)}{_DRAWN[terms.strategy]} ({series(covered)}) is "
            f"({epsilon}, {delta})-locally differentially private: "
            f"{_COMPARED[terms.strategy]} {series(alike)}, {times} under one as under "
            f"the other, plus {delta}."
        )
    return (
        f"{weak(terms.epsilon)}The n replaced words of each text together "
        f"({series(covered)}) are ({epsilon}, n {delta})-locally differentially "
        f"private: whichever two texts are compared that have {series(alike)}, "
        f"{times} under one as under the other, plus n times {delta}."
    )


def _metric(
    promise: Guarantee,
    terms: Terms,
    loss: Loss,
    covered: tuple[str, ...],
    alike: tuple[str, ...],
) -> str:
    epsilon = number(terms.epsilon)
    if terms.level == "word":
        return (
            f"{weak(loss.nearest)}{_DRAWN[terms.strategy]} ({series(covered)}) is "
            f"{epsilon}-metric differentially private in d = {promise.metric}: "
            f"{_COMPARED[terms.strategy]} {series(alike)}, no output is more than "
            f"e^({epsilon} d) times as likely under one as under the other. For half "
            "of the vocabulary the nearest "
            "other word is close enough that this factor is at most "
            f"{factor(loss.nearest)}; for half of all pairs of words it is at most "
            f"about {factor(loss.median)}; for the farthest pair it is "
            f"{factor(loss.farthest)}."
        )
    return (
        f"The replaced words of each text ({series(covered)}) share epsilon = "
        f"{epsilon} in equal parts and are metric differentially private in d = "
        f"{_shared(promise.metric)}: whichever two texts of n replaced words are "
        f"compared that "
        f"have {series(alike)}, no output text is more than e^(({epsilon} / n) S) "
        "times as likely under one as under the other, S the sum of the n distances "
        "between their words, place by place."
    )


def _shared(metric: str) -> str:
    """Say which epsilon a metric speaks of where the words of a text share one."""
    return f"{metric} (epsilon there a word's part)" if "epsilon" in metric else metric


def weak(nats: float) -> str:
    """Begin a sentence whose factor is beyond any meaning."""
    return "No meaningful protection. " if nats > _MEANINGFUL else ""


def text_level(notion: str, promise: Guarantee, terms: Terms) -> str:
    """Return what holds for whole texts."""
    if notion == "none":
        return "No guarantee for texts."
    epsilon = number(terms.epsilon)
    if promise.notion == "eps-delta":
        return _gaussian(promise, terms)
    if terms.level == "text":
        if promise.notion == "LDP":
            return (
                f"A whole text loses at most {epsilon} nats, whatever its length; one "
                f"changed word of a text of n replaced words at most {epsilon} / n."
            )
        total = terms.epsilon * promise.reach
        return (
            f"A whole text loses at most epsilon times the largest distance, "
            f"{above(total)} nats, whatever its length: a factor of {factor(total)}."
        )
    if promise.notion == "LDP":
        return (
            f"{_WHOLE[terms.strategy]} loses at most n times {epsilon} nats when all "
            f"of them may differ, m times {epsilon} when m of them may."
        )
    if terms.strategy != "token":
        return (
            f"{_WHOLE[terms.strategy]} loses at most {epsilon} times the sum of the "
            "distances d between these words and those that stand in their places in "
            "what it is compared with."
        )
    return (
        f"A text loses at most {epsilon} times the sum of the distances d between its "
        "words and those of the text that it is compared with, place by place."
    )


def _gaussian(promise: Guarantee, terms: Terms) -> str:
    epsilon, delta = number(terms.epsilon), number(promise.delta)
    if terms.level == "text":
        return (
            f"A whole text of n replaced words is ({epsilon}, n {delta})-"
            "differentially private, one changed word of it "
            f"({epsilon} / n, {delta})-differentially private."
        )
    return (
        f"Of a {_OF[terms.strategy]} replaced words may differ, no test tells more "
        f"than N(0, 1) from N({above(promise.mu)} sqrt(m), 1) (Gaussian differential "
        f"privacy); it is also (m {epsilon}, m {delta})-differentially private."
    )


def conditions(notion: str, promise: Guarantee, terms: Terms) -> tuple[str, ...]:
    """Return what must hold for the statement to be true."""
    if notion == "none":
        return ()
    told = [_key(terms)]
    told.append(
        "The settings were chosen without looking at the private text; dptext cannot "
        "check this."
    )
    if terms.lexicon_given:
        told.append(
            "The lexicon is public and was made without the private text; dptext "
            "cannot check this."
        )
    if terms.identified:
        told.append(
            "No two records have the same id; two that have the same id and the same "
            "text get the same output, which shows that they are equal."
        )
    told.append(_resolution(terms))
    return (*told, *promise.gaps)


def _key(terms: Terms) -> str:
    if terms.key == "key-file" and terms.strategy == "data-set":
        return (
            "The key file is random and stays secret: whoever has it can repeat every "
            "draw. All inputs made private with the same settings and key count as one "
            "data set: a word gets the same replacement in all of them"
            f"{_formed(terms)}, which shows that it is the same word."
        )
    if terms.key == "key-file":
        named = "with the same id" if terms.identified else "in the same place"
        return (
            "The key file is random and stays secret: whoever has it can repeat every "
            "draw. The same input, settings and key give the same output again, which "
            f"costs nothing more. Of two different inputs, records {named} that have "
            "the same text get the same output, which shows that they are equal; what "
            "differs is drawn anew, and its losses add up."
        )
    return (
        "Random bits come from AES-256 and BLAKE2b under a key that the operating "
        "system drew for this run and nobody keeps: the statement holds against "
        "readers who cannot break these."
    )


def _resolution(terms: Terms) -> str:
    if terms.resolution is None:
        return (
            "Noise is drawn in 64-bit floating point, so that factors beyond e^30 are "
            "not claimed of the program: outputs rarer than about 1e-15 are not drawn "
            "with their exact probability. Noisy vectors are not released."
        )
    return (
        "Draws are made from 52-bit uniforms: the loss of each word may exceed its "
        f"bound by at most {above(max(terms.resolution, 1e-12), 2)} nats."
    )


def _formed(terms: Terms) -> str:
    """Say where one replacement is not written one way."""
    if terms.policy.agreement == "none":
        return ""
    return ", but for the form that the words beside it ask for"


_REPEATED = {
    "token": (
        "Words are replaced one by one in their places, so their order stays; a word "
        "that occurs again is drawn anew each time, so that its losses add up."
    ),
    "record": (
        "Words are replaced one by one in their places, so their order stays; equal "
        "words of a record get equal replacements{formed}, so that the output shows "
        "which words may be equal and which are not, from which rare texts can be "
        "known."
    ),
    "data-set": (
        "Words are replaced one by one in their places, so their order stays; a word "
        "gets the same replacement wherever it stands in the data set{formed}, so that "
        "how often each word occurs, and beside which, is shown: whoever knows the "
        "frequencies of words can undo much of the replacement."
    ),
}


def not_covered(notion: str, terms: Terms) -> tuple[str, ...]:
    """Return what no setting covers."""
    told = [
        "A person is in more than one word: the losses of all words and records about "
        "the same person add up, and so do those of several releases of the same text.",
        _REPEATED[terms.strategy].format(formed=_formed(terms)),
        "The number and order of records are those of the input, less the records that "
        "could not be read; which texts are empty or absent is shown; how long the run "
        "takes is not hidden.",
    ]
    if terms.fields is not None:
        named = series(tuple(f'"{name}"' for name in terms.fields))
        told.insert(0, f"All fields other than {named} are copied unchanged.")
    if notion == "metric-DP":
        told.append("Words far apart in the metric are protected less than near ones.")
    return tuple(told)
