"""The sentences of a statement. Each is literally true by itself."""

from __future__ import annotations

import math

from dptext.guarantees.scale import first_beyond
from dptext.guarantees.terms import (
    MAX_MEANINGFUL_LOSS,
    MAX_MEANINGFUL_TEXT_LOSS,
    Loss,
    Terms,
)
from dptext.types import Guarantee

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
_NAMED = {"token": "text", "record": "record", "data-set": "data set"}
_WHOLE = {
    "token": "A text of n replaced words",
    "record": "A record of n distinct replaced words",
    "data-set": "A data set of n distinct replaced words, all records together,",
}
LIKELY = "times as likely under one as under the other"


def factor(nats: float) -> str:
    """Write e^nats for people, rounded up; beyond 30 nats as a power."""
    if nats > MAX_MEANINGFUL_LOSS:
        return f"e^{above(nats)}"
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


def up(nats: float) -> float:
    """Round a product up to six digits."""
    return float(above(nats, 6)) if 0.0 < nats < math.inf else nats


def series(parts: tuple[str, ...]) -> str:
    """Join parts as in a sentence."""
    if len(parts) < 2:
        return "".join(parts)
    return ", ".join(parts[:-1]) + " and " + parts[-1]


def weak(nats: float) -> str:
    """Begin a sentence whose bound for a word is beyond any meaning."""
    return "No meaningful protection. " if nats > MAX_MEANINGFUL_LOSS else ""


def distance(promise: Guarantee, epsilon: str) -> str:
    """Name the metric; where it is cut by epsilon, by the epsilon that is written."""
    if math.isinf(promise.max_loss):
        return promise.metric
    return f"min(D, {number(promise.max_loss)} / {epsilon}), D the {promise.distance}"


def uncut(promise: Guarantee) -> str:
    """Name the metric without a cut that follows from epsilon."""
    return promise.distance if math.isfinite(promise.max_loss) else promise.metric


def none(promise: Guarantee, terms: Terms, worst: float) -> str:
    """Say why there is no guarantee; worst is the loss that is allowed for a word."""
    if terms.key == "seed":
        return (
            "No guarantee: this run was seeded, and whoever knows or guesses the seed "
            "can repeat every draw."
        )
    if promise.notion == "none":
        return f"No guarantee: {promise.reason}"
    return (
        f"No guarantee: these settings allow a single word a loss of {above(worst)} "
        f"nats, above the {MAX_MEANINGFUL_LOSS:g} up to which a bound means anything, "
        "and "
        "outputs that are so rare cannot be drawn with their exact probability."
    )


def of_words(epsilon: float, words: str, alike: str, *, strategy: str = "token") -> str:
    """Return the sentence of epsilon-LDP for each word."""
    return (
        f"{weak(epsilon)}{_DRAWN[strategy]} ({words}) is {number(epsilon)}-locally "
        f"differentially private: {_COMPARED[strategy]} {alike}, no output is more "
        f"than {factor(epsilon)} {LIKELY}."
    )


def of_text(total: float, words: str, alike: str) -> str:
    """Return the sentence of epsilon-LDP for a whole text."""
    return (
        f"The replaced words of each text together ({words}) are {number(total)}-"
        "locally differentially private: whichever two texts are compared that have "
        f"{alike}, no output text is more than {factor(total)} {LIKELY}."
    )


def approximate(promise: Guarantee, terms: Terms, words: str, alike: str) -> str:
    """Return the sentence of (epsilon, delta)."""
    epsilon, delta = number(terms.epsilon), number(promise.delta)
    if terms.level == "word":
        return (
            f"{weak(terms.epsilon)}{_DRAWN[terms.strategy]} ({words}) is ({epsilon}, "
            f"{delta})-locally differentially private: {_COMPARED[terms.strategy]} "
            f"{alike}, no set of outputs has under one more than "
            f"{factor(terms.epsilon)} times its probability under the other plus "
            f"{delta}."
        )
    return (
        f"The n replaced words of each text together ({words}) are ({epsilon}, n times "
        f"{delta})-locally differentially private: whichever two texts of n replaced "
        f"words are compared that have {alike}, no set of output texts has under one "
        f"more than {factor(terms.epsilon)} times its probability under the other plus "
        f"n times {delta}."
    )


def of_metric(
    promise: Guarantee, terms: Terms, loss: Loss, words: str, alike: str
) -> str:
    """Return the sentence of metric DP."""
    epsilon = number(terms.epsilon)
    if terms.level == "word":
        return (
            f"{weak(loss.nearest)}{_DRAWN[terms.strategy]} ({words}) is {epsilon}-"
            f"metric differentially private in d = {distance(promise, epsilon)}: "
            f"{_COMPARED[terms.strategy]} {alike}, no output is more than e^({epsilon} "
            f"d) {LIKELY}.{factors(loss)}"
        )
    part = f"({epsilon} / n)"
    return (
        f"The n replaced words of each text ({words}) share epsilon = {epsilon} in "
        "equal parts and are metric differentially private in d = "
        f"{distance(promise, part)}: whichever two texts of n replaced words are "
        f"compared that have {alike}, no output text is more than e^({part} S) "
        f"{LIKELY}, S the sum of the n distances d between their words, place by "
        "place."
    )


def factors(loss: Loss) -> str:
    """Say what a metric's factor is for near and for far words."""
    told = (
        " For half of the vocabulary the nearest other word is close enough that this "
        f"factor is at most {factor(loss.nearest)}; for half of all pairs of words it "
        f"is at most about {factor(loss.median)}; for the farthest pair it is at most "
        f"{factor(loss.farthest)}."
    )
    if loss.nearest <= MAX_MEANINGFUL_LOSS < loss.farthest:
        told += (
            f" Factors beyond e^{MAX_MEANINGFUL_LOSS:g} are no meaningful protection."
        )
    return told


def text_level(promise: Guarantee, terms: Terms) -> str:
    """Return what holds for whole texts where all words have one epsilon."""
    epsilon, worst = number(terms.epsilon), promise.worst(terms.epsilon)
    if promise.notion == "eps-delta":
        return _gaussian(promise, terms)
    if terms.level == "text":
        return _parts(promise, terms)
    if promise.notion == "LDP":
        return (
            f"{_WHOLE[terms.strategy]} loses at most n times {epsilon} nats when all "
            f"of them may differ, m times {epsilon} when m of them may."
            f"{beyond(worst, terms.strategy)}"
        )
    told = (
        f"A text loses at most {epsilon} times the sum of the distances d between its "
        "words and those of the text that it is compared with, place by place."
    )
    if terms.strategy != "token":
        told = (
            f"{_WHOLE[terms.strategy]} loses at most {epsilon} times the sum of the "
            "distances d between these words and those that stand in their places in "
            "what it is compared with."
        )
    return told + beyond(worst, terms.strategy)


def _parts(promise: Guarantee, terms: Terms) -> str:
    epsilon, total = number(terms.epsilon), terms.epsilon * promise.max_distance
    if promise.notion == "LDP":
        return (
            f"A whole text loses at most {epsilon} nats, whatever its length"
            f"{large(total)}. One changed word of a text of n replaced words loses at "
            f"most {epsilon} / n nats{_from(total)}."
        )
    limit = cut = ""
    if math.isfinite(promise.max_loss):
        limit = f", and n times {above(promise.max_loss)} nats if that is less"
        cut = f", and {above(promise.max_loss)} nats"
    return (
        f"A whole text of n replaced words loses at most {epsilon} times the largest "
        f"distance, {above(total)} nats, whatever its length (a factor of "
        f"{factor(total)}){limit}{large(total)}. One changed word of it loses at most "
        f"{epsilon} / n times its distance, {above(total)} / n nats at the farthest"
        f"{cut}{_from(min(total, promise.max_loss), total)}."
    )


def _from(one: float, total: float | None = None) -> str:
    """Say from which length on a word's part of a total is meaningful."""
    if one <= MAX_MEANINGFUL_LOSS:
        return ""
    length = math.ceil((total or one) / MAX_MEANINGFUL_LOSS)
    return (
        f": at most {MAX_MEANINGFUL_LOSS:g} from n = {length} on, no meaningful "
        "bound below"
    )


def large(total: float) -> str:
    """Say of a text's bound that it is too large for texts, where it is."""
    if total <= MAX_MEANINGFUL_TEXT_LOSS:
        return ""
    return (
        f"; above {MAX_MEANINGFUL_TEXT_LOSS:g} nats that is no meaningful protection "
        "of a text "
        "as a whole"
    )


def beyond(each: float, strategy: str = "token") -> str:
    """Say how many words of a bound each are too many to protect the whole."""
    if each > MAX_MEANINGFUL_LOSS:
        return ""
    count = first_beyond(each, MAX_MEANINGFUL_TEXT_LOSS)
    named = _NAMED[strategy]
    which = "in a single word" if count == 1 else f"in {count} words or more"
    return (
        f" Two {named}s that differ {which} may so lose more than "
        f"{MAX_MEANINGFUL_TEXT_LOSS:g} "
        f"nats, which is no meaningful protection of a {named} as a whole: what is "
        "protected is single words."
    )


def _gaussian(promise: Guarantee, terms: Terms) -> str:
    epsilon, delta = number(terms.epsilon), number(promise.delta)
    if terms.level == "text":
        return (
            f"A whole text of n replaced words is ({epsilon}, n times {delta})-"
            f"differentially private{large(terms.epsilon)}. One changed word of it is "
            f"({epsilon} / n, {delta})-differentially private{_from(terms.epsilon)}."
        )
    named = _NAMED[terms.strategy]
    distinct = "" if terms.strategy == "token" else "distinct "
    return (
        f"Two {named}s that differ in m {distinct}replaced words are at least as hard "
        f"to tell from each other as N(0, 1) and N({above(promise.mu)} sqrt(m), 1) "
        f"(Gaussian differential privacy); also, m changed words are (m times "
        f"{epsilon}, m times {delta})-differentially private."
        f"{beyond(terms.epsilon, terms.strategy)}"
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
            "data set: equal words get one replacement in all of their outputs, which "
            "shows that they are equal."
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
