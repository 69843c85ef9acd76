"""The figures of an evaluation as rows, for a terminal and for a page."""

from __future__ import annotations

from collections.abc import Iterator

from dptext.evaluation.run import Result
from dptext.report.figures import (
    MEANINGS,
    cosine,
    distinct,
    measure,
    points,
    score,
    share,
)


def kept(result: Result) -> Iterator[tuple[str, str, str]]:
    """Yield name, value and meaning of what texts keep, then of the mechanism."""
    kept, deny = result.kept, result.deniability
    yield "PP", share(kept.perturbed), MEANINGS["PP"]
    yield "LOW", share(kept.low), MEANINGS["LOW"]
    yield "CS", cosine(kept.similarity), f"{MEANINGS['CS']} (by {kept.encoder})"
    english = f"{share(kept.english)} (before {share(kept.english_before)})"
    yield "English", english, MEANINGS["English"]
    for name, value in kept.others():
        yield name, measure(name, value), ""
    if deny is not None:
        yield "N_w", share(deny.n_w), MEANINGS["N_w"]
        yield "S_w", distinct(deny.s_w, deny.runs), MEANINGS["S_w"]


def attacks(result: Result) -> Iterator[tuple[str, str, str, str]]:
    """Yield name, success, number of words and what the attacker has, of each."""
    for each in result.word_attacks:
        assumed = each.assumes
        if each.predicted is not None:
            assumed += f"; the Bayes risk's figure is {share(each.predicted)}"
        yield each.name, share(each.success), f"{each.words:,}", assumed
    masked = result.masked_word
    if masked is not None:
        words, name = f"{masked.words:,}", f"masked word, {masked.model}"
        yield f"{name}, first guess", share(masked.first), words, masked.assumes
        yield f"{name}, first five", share(masked.first_five), words, masked.assumes


def together(result: Result) -> Iterator[tuple[str, str]]:
    """Yield name and value of what weighs utility and privacy together."""
    for each in result.composite:
        yield f"composite, alpha {each.alpha:g}", score(each.value)
    if result.trade_off is not None:
        yield "trade-off", points(result.trade_off)
