"""A claim in words: figures written out and put into templates.

All figures come from the claim, so that rewording a template can change no figure and
no verdict.
"""

from __future__ import annotations

import math

from dptext.guarantees import adjacency, templates
from dptext.guarantees.bounds import Claim, Loss
from dptext.guarantees.claims import too_long
from dptext.guarantees.rounding import above, factor, first_beyond, number
from dptext.guarantees.templates import Key
from dptext.guarantees.terms import MAX_MEANINGFUL_LOSS, MAX_MEANINGFUL_TEXT_LOSS, Terms
from dptext.types import BudgetKind, Guarantee, Level, Metric, Notion, Strategy


def series(parts: tuple[str, ...]) -> str:
    """Join parts as in a sentence."""
    if len(parts) < 2:
        return "".join(parts)
    return ", ".join(parts[:-1]) + " and " + parts[-1]


def say(claim: Claim, promise: Guarantee, terms: Terms) -> tuple[str, str]:
    """Return the sentence of a claim, and what holds for whole texts."""
    if claim.no_claim is not None:
        template = templates.NO_GUARANTEE[claim.no_claim]
        sentence = template.format(reason=promise.reason, worst=above(claim.worst))
        return sentence, templates.NO_TEXTS
    in_context = promise.context and terms.kind is not BudgetKind.FREE
    origin = templates.IN_CONTEXT if in_context else templates.ORIGINS[terms.kind]
    sentence = _template(templates.SENTENCES, claim, terms)
    text = _template(templates.TEXTS, claim, terms) + "{how_long}" + origin
    used = "".join(f" {line}" for line in terms.budget.used)
    parts = _parts(claim, promise, terms)
    return sentence.format(**parts), text.format(**parts) + used


def _template(table: dict[Key, str], claim: Claim, terms: Terms) -> str:
    kind = terms.kind if claim.one_change is None else BudgetKind.FREE
    general = table[claim.notion, claim.level]
    return table.get((claim.notion, claim.level, kind), general)


def _parts(claim: Claim, promise: Guarantee, terms: Terms) -> dict[str, str]:
    """Return all that may stand in a template, as it is written."""
    spent, strategy = terms.budget, terms.strategy
    total, each = claim.text_loss.total or 0.0, claim.text_loss.each or 0.0
    epsilon = number(claim.epsilon)
    cut, most_likely = "", ""
    if promise.cut_by_epsilon:
        cut = f", and {above(each)} nats"
        most_likely = f", nor more than e^(n times {above(promise.max_loss)}) times"
    return {
        **templates.OF_STRATEGY[strategy],
        "adjacency": series(adjacency.of_terms(terms)),
        "at_any": measured(promise),
        "at_epsilon": measured(promise, epsilon),
        "at_part": measured(promise, f"({epsilon} / n)"),
        "cut": cut,
        "delta": number(promise.delta),
        "each": number(each),
        "each_short": above(each),
        "epsilon": epsilon,
        "factor": factor(claim.epsilon),
        "factors": _factors(claim.loss),
        "first": number(spent.first),
        "high": number(spent.high),
        "how_long": _how_long(claim, strategy),
        "large": _large(total),
        "lesser": _lesser(claim),
        "low": number(spent.low),
        "most_likely": most_likely,
        "mu": above(promise.mu),
        "of_n": " of n replaced words" * (terms.kind is BudgetKind.FREE),
        "one_change": _one_change(claim),
        "share": _share(promise, terms),
        "short": _short(claim),
        "total": above(total),
        "total_factor": factor(total),
        "uncut": uncut(promise.metric),
        "weak": _weak(claim.loss),
        "words": series(adjacency.covered(terms.policy)),
    }


def uncut(metric: Metric) -> str:
    """Name a metric without a cut that follows from epsilon."""
    if metric.cut is None:
        return metric.name
    return f"min(D, {number(metric.cut)}), D the {metric.name}"


def measured(promise: Guarantee, epsilon: str = "epsilon") -> str:
    """Name the metric; where it is cut by epsilon, by the epsilon that is written."""
    if not promise.cut_by_epsilon:
        return uncut(promise.metric)
    return (
        f"min(D, {number(promise.max_loss)} / {epsilon}), D the {promise.metric.name}"
    )


def distance(claim: Claim, promise: Guarantee, terms: Terms) -> str:
    """Name the metric of a claim."""
    if claim.metric.between_classes:
        extra = above(claim.metric.between_classes)
        return (
            f"{measured(promise, number(claim.epsilon))}, plus {extra} between words "
            "of different public classes"
        )
    past = terms.kind is BudgetKind.PAST and claim.no_claim is None
    if past or claim.metric != promise.metric:
        return uncut(claim.metric)
    return measured(promise)


def decoding(terms: Terms, nothing: bool) -> str:
    """Say what follows from decoding; "" where the drawn words are written."""
    if terms.decoder == "none":
        return ""
    said = "" if nothing else "; decoding changes no guarantee"
    return (
        f"The decoder {terms.decoder} writes the words: they are decoded from what was "
        f"drawn, and from what is copied or shown, by a public model{said}."
    )


def _weak(loss: Loss) -> str:
    """Begin a sentence whose bound for a word is beyond any meaning."""
    return "No meaningful protection. " * (loss.nearest > MAX_MEANINGFUL_LOSS)


def _factors(loss: Loss) -> str:
    """Say what a metric's factor is for near and for far words."""
    near = (
        " For half of the vocabulary the nearest other word is close enough that this "
        f"factor is at most {factor(loss.nearest)}; for half of all pairs of words it "
        f"is at most about {factor(loss.median)}; for the farthest pair it is at most "
        f"{factor(loss.farthest)}."
    )
    if loss.nearest <= MAX_MEANINGFUL_LOSS < loss.farthest:
        beyond = (
            f" Factors beyond e^{MAX_MEANINGFUL_LOSS:g} are no meaningful protection."
        )
        return near + beyond
    return near


def _large(total: float) -> str:
    """Say of a text's bound that it is too large for texts, where it is."""
    if total <= MAX_MEANINGFUL_TEXT_LOSS:
        return ""
    return (
        f"; above {MAX_MEANINGFUL_TEXT_LOSS:g} nats that is no meaningful protection "
        "of a text as a whole"
    )


def _lesser(claim: Claim) -> str:
    """Say that n times the bound of a word holds, too."""
    each = claim.text_loss.each
    if each is None:
        return ""
    nats = number(each) if claim.notion is Notion.LDP else f"{above(each)} nats"
    return f", and n times {nats} if that is less"


def _short(claim: Claim) -> str:
    """Say from which length on a word's equal part of a total is meaningful."""
    total, each = claim.text_loss.total or 0.0, claim.text_loss.each
    if min(total, total if each is None else each) <= MAX_MEANINGFUL_LOSS:
        return ""
    return (
        f": at most {MAX_MEANINGFUL_LOSS:g} from n = "
        f"{math.ceil(total / MAX_MEANINGFUL_LOSS)} on, no meaningful bound below"
    )


def _how_long(claim: Claim, strategy: Strategy) -> str:
    """Say how many words are too many for a bound of each."""
    if claim.level is Level.WORDS:
        return _longer(claim)
    each = claim.text_loss.each
    if claim.level is Level.TEXT or each is None or each > MAX_MEANINGFUL_LOSS:
        return ""
    count = first_beyond(each, MAX_MEANINGFUL_TEXT_LOSS)
    named = templates.OF_STRATEGY[strategy]["named"]
    which = "in a single word" if count == 1 else f"in {count} words or more"
    return (
        f" Two {named}s that differ {which} may so lose more than "
        f"{MAX_MEANINGFUL_TEXT_LOSS:g} nats, which is no meaningful protection of a "
        f"{named} as a whole: what is protected is single words."
    )


def _longer(claim: Claim) -> str:
    lengths = too_long(claim)
    if lengths is None:
        return ""
    text, word = lengths
    return (
        f" From n = {text} on that is above {MAX_MEANINGFUL_TEXT_LOSS:g} nats, no "
        f"meaningful protection of a text as a whole; from n = {word} on a change of "
        f"one word may lose more than {MAX_MEANINGFUL_LOSS:g}, no meaningful "
        "protection of a single word."
    )


def _one_change(claim: Claim) -> str:
    """Say what one changed word costs, where less is known of it than of the text."""
    one = claim.one_change
    if one is None or not one.first:
        return " A change of one word is promised no more than a change of all."
    which = f"for n = {one.first} to {one.last:g}"
    if math.isinf(one.last) or one.first == one.last:
        which = f"for n = {one.first}" + " and more" * math.isinf(one.last)
    return (
        " Where only one of the n replaced words differs, the text loses at most "
        f"{number(one.changed)} + (n - 1) times {number(one.moved)} nats, which is "
        f"less {which}."
    )


def _share(promise: Guarantee, terms: Terms) -> str:
    """Say what the epsilons of a text sum to at most, where all of it may choose."""
    spent, left = terms.budget, promise.varying_epsilon
    if spent.total is not None:
        most = f", in sum at most {number(spent.total)} for a text"
        if left is None or left.total == 1.0:
            return most
        return f"{most} (two texts may lose {above(left.total)} times that)"
    if spent.rate is not None:
        return f", in sum at most {number(spent.rate)} for each replaced word"
    return ""
