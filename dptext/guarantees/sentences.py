"""Claims in words: figures written out in one template for each notion and level.

A claim in words: figures written out and put into templates.

All figures come from the claim, so that rewording a template can change no figure and
no verdict.

The sentences of claims: one template for each notion and level.

Where the kind of budget says more than notion and level, it has a template of its own.
"""

from __future__ import annotations

import math

from dptext.guarantees import adjacency
from dptext.guarantees.claims import Claim, Loss, NoClaim, too_long
from dptext.guarantees.rounding import above, factor, first_beyond, number
from dptext.guarantees.terms import MAX_MEANINGFUL_LOSS, MAX_MEANINGFUL_TEXT_LOSS, Terms
from dptext.types import BudgetKind, Guarantee, Level, Metric, Notion, Strategy

_LDP, _METRIC, _APPROXIMATE = Notion.LDP, Notion.METRIC, Notion.APPROXIMATE
_WORD, _TEXT, _WORDS = Level.WORD, Level.TEXT, Level.WORDS
Key = tuple[Notion, Level] | tuple[Notion, Level, BudgetKind]

_DISTINCT_PAIRS = (
    "these words and those that stand in their places in what it is compared with"
)
_DATA_SET = "A data set of n distinct replaced words, all records together,"
# What is drawn once, what is compared, how two of these differ, and the like.
OF_STRATEGY = {
    Strategy.TOKEN: {
        "drawn": "Each replaced word",
        "compared": (
            "whichever two texts are compared that differ in one such word and have"
        ),
        "named": "text",
        "distinct": "",
        "of_n_words": "A text of n replaced words",
        "summed": "A text",
        "pairs": (
            "its words and those of the text that it is compared with, place by place"
        ),
    },
    Strategy.RECORD: {
        "drawn": "Each distinct replaced word of a record",
        "compared": (
            "whichever two records are compared that differ in one such word, wherever "
            "it stands in the record, and have"
        ),
        "named": "record",
        "distinct": "distinct ",
        "of_n_words": "A record of n distinct replaced words",
        "summed": "A record of n distinct replaced words",
        "pairs": _DISTINCT_PAIRS,
    },
    Strategy.DATA_SET: {
        "drawn": "Each distinct replaced word of the data set",
        "compared": (
            "whichever two data sets are compared that differ in one such word, "
            "wherever it stands in the records, and have"
        ),
        "named": "data set",
        "distinct": "distinct ",
        "of_n_words": _DATA_SET,
        "summed": _DATA_SET,
        "pairs": _DISTINCT_PAIRS,
    },
}
_LIKELY = "times as likely under one as under the other"
_ONE_OR_ALL = "That is so whether one of their words differs or all."
_TOGETHER = (
    "The replaced words of each text together ({words}) are {epsilon}-locally "
    "differentially private: whichever two texts are compared that have {adjacency}, "
    f"no output text is more than {{factor}} {_LIKELY}."
)


def _one_word(private: str, bound: str, more: str) -> str:
    return (
        f"{{weak}}{{drawn}} ({{words}}) is {private}: {{compared}} {{adjacency}}, no "
        f"output is more than {bound} {_LIKELY}{more}"
    )


SENTENCES: dict[Key, str] = {
    (_LDP, _WORD): _one_word(
        "{epsilon}-locally differentially private", "{factor}", "."
    ),
    (_LDP, _WORD, BudgetKind.POSITION): _one_word(
        "locally differentially private with the epsilon of its place in its text, at "
        "most {epsilon}",
        "e^epsilon",
        ". That factor is at most {factor}.",
    ),
    (_METRIC, _WORD): _one_word(
        "{epsilon}-metric differentially private in d = {at_epsilon}",
        "e^({epsilon} d)",
        ".{factors}",
    ),
    (_METRIC, _WORD, BudgetKind.POSITION): _one_word(
        "metric differentially private in d = {at_any}, with the epsilon of its "
        "place in its text, at most {epsilon}",
        "e^(epsilon d)",
        ".{factors}",
    ),
    (_METRIC, _WORD, BudgetKind.CLASS): _one_word(
        "metric differentially private in d = {at_epsilon}",
        "e^({epsilon} d)",
        " where the two words are of one public class, and e^({epsilon} d + {first}) "
        "times where they are not.{factors}",
    ),
    (_APPROXIMATE, _WORD): (
        "{weak}{drawn} ({words}) is ({epsilon}, {delta})-locally differentially "
        "private: {compared} {adjacency}, no set of outputs has under one more than "
        "{factor} times its probability under the other plus {delta}."
    ),
    (_LDP, _TEXT): _TOGETHER,
    (_LDP, _TEXT, BudgetKind.FREE): f"{{weak}}{_TOGETHER} {_ONE_OR_ALL}",
    (_METRIC, _TEXT): (
        "The n replaced words of each text ({words}) share epsilon = {epsilon} in "
        "equal parts and are metric differentially private in d = {at_part}: "
        "whichever two texts of n replaced words are compared that have {adjacency}, "
        f"no output text is more than e^(({{epsilon}} / n) S) {_LIKELY}, S the sum of "
        "the n distances d between their words, place by place."
    ),
    (_METRIC, _TEXT, BudgetKind.PAST): (
        "The replaced words of each text together ({words}) are {epsilon}-metric "
        "differentially private in the largest distance d between words in the same "
        "place, distance being {uncut}: whichever two texts of n replaced words are "
        "compared that have {adjacency}, no output text is more than e^({epsilon} d) "
        f"{_LIKELY}{{most_likely}}."
    ),
    (_APPROXIMATE, _TEXT): (
        "The n replaced words of each text together ({words}) are ({epsilon}, n times "
        "{delta})-locally differentially private: whichever two texts of n replaced "
        "words are compared that have {adjacency}, no set of output texts has under "
        "one more than {factor} times its probability under the other plus n times "
        "{delta}."
    ),
    (_LDP, _WORDS): (
        "{weak}The n replaced words of each text together ({words}) are (n times "
        "{epsilon})-locally differentially private: whichever two texts are compared "
        "that have {adjacency}, no output text is more than e^(n times {epsilon}) "
        f"{_LIKELY}, for each word a factor of {{factor}}. {_ONE_OR_ALL}"
    ),
}
# What holds for whole texts.
TEXTS: dict[Key, str] = {
    (_LDP, _WORD): (
        "{of_n_words} loses at most n times {epsilon} nats when all of them may "
        "differ, m times {epsilon} when m of them may."
    ),
    (_LDP, _WORD, BudgetKind.POSITION): (
        "A text loses at most the sum, over those of its replaced words that may "
        "differ, of the epsilon of the word's place."
    ),
    (_METRIC, _WORD): (
        "{summed} loses at most {epsilon} times the sum of the distances d between "
        "{pairs}."
    ),
    (_METRIC, _WORD, BudgetKind.POSITION): (
        "A text loses at most the sum, over those of its replaced words that may "
        "differ, of the epsilon of the word's place times the distance d to the word "
        "it is compared with."
    ),
    (_METRIC, _WORD, BudgetKind.CLASS): (
        "A text loses at most {epsilon} times the sum of the distances d between "
        "{pairs}, plus {first} for each place in which their classes differ."
    ),
    (_APPROXIMATE, _WORD): (
        "Two {named}s that differ in m {distinct}replaced words are at least as hard "
        "to tell from each other as N(0, 1) and N({mu} sqrt(m), 1) (Gaussian "
        "differential privacy); also, m changed words are (m times {epsilon}, m times "
        "{delta})-differentially private."
    ),
    (_LDP, _TEXT): (
        "A whole text loses at most {epsilon} nats, whatever its length{large}. One "
        "changed word of a text of n replaced words loses at most {epsilon} / n nats"
        "{short}."
    ),
    (_LDP, _TEXT, BudgetKind.PAST): (
        "A whole text of n replaced words loses at most {epsilon} nats, whatever its "
        "length, and n times {each} nats if that is less{large}. One changed word "
        "loses at most {each} nats."
    ),
    (_LDP, _TEXT, BudgetKind.FREE): (
        "A whole text{of_n} loses at most {epsilon} nats, whatever its length{lesser}"
        "{large}."
    ),
    (_METRIC, _TEXT): (
        "A whole text of n replaced words loses at most {epsilon} times the largest "
        "distance, {total} nats, whatever its length (a factor of {total_factor})"
        "{lesser}{large}. One changed word of it loses at most {epsilon} / n times its "
        "distance, {total} / n nats at the farthest{cut}{short}."
    ),
    (_METRIC, _TEXT, BudgetKind.PAST): (
        "A whole text of n replaced words loses at most {epsilon} times the largest "
        "distance, {total} nats, whatever its length{lesser}{large}. One changed word "
        "loses at most {high} times its distance, and at most {each_short} nats."
    ),
    (_APPROXIMATE, _TEXT): (
        "A whole text of n replaced words is ({epsilon}, n times {delta})-"
        "differentially private{large}. One changed word of it is ({epsilon} / n, "
        "{delta})-differentially private{short}."
    ),
    (_LDP, _WORDS): "A text of n replaced words loses at most n times {epsilon} nats.",
}
# Whence epsilon comes, behind that.
ORIGINS = {
    BudgetKind.WORD: "",
    BudgetKind.TEXT: "",
    BudgetKind.POSITION: "",
    BudgetKind.TYPE: (
        " The mechanism's epsilon of a word follows from the word alone, by a public "
        "table, and lies between {low} and {high}."
    ),
    BudgetKind.CLASS: (
        " The class of each word is drawn first, by randomised response at epsilon "
        "{first}; the word is drawn with the epsilon of the drawn class, at most "
        "{high}."
    ),
    BudgetKind.PAST: (
        " The epsilon of a word is chosen by what was released before it in its text, "
        "never by the text itself."
    ),
    BudgetKind.FREE: (
        "{one_change} Epsilon of a word is computed from the whole text{share}, so "
        "that a changed word moves the epsilon of all others."
    ),
}
IN_CONTEXT = (
    " A change of one word is promised no more than a change of all: the output "
    "distribution of each word follows from all words of its text, so that a changed "
    "word moves those of all others."
)
NO_GUARANTEE = {
    NoClaim.SEEDED: (
        "No guarantee: this run was seeded, and whoever knows or guesses the seed can "
        "repeat every draw."
    ),
    NoClaim.MECHANISM: "No guarantee: {reason}",
    NoClaim.NOT_DRAWN: (
        "No guarantee: these settings allow a single word a loss of {worst} nats, "
        f"above the {MAX_MEANINGFUL_LOSS:g} up to which a bound means anything, and "
        "outputs that are so rare cannot be drawn with their exact probability."
    ),
    NoClaim.UNPROVEN: (
        "No guarantee: dptext proves nothing for this mechanism when epsilon differs "
        "from word to word."
    ),
    NoClaim.DISTINGUISHABLE: (
        "No guarantee: epsilon differs from word to word, and under this mechanism "
        "that alone may tell words apart without bound."
    ),
}
NO_TEXTS = "No guarantee for texts."


def series(parts: tuple[str, ...]) -> str:
    """Join parts as in a sentence."""
    if len(parts) < 2:
        return "".join(parts)
    return ", ".join(parts[:-1]) + " and " + parts[-1]


def say(claim: Claim, promise: Guarantee, terms: Terms) -> tuple[str, str]:
    """Return the sentence of a claim, and what holds for whole texts."""
    if claim.no_claim is not None:
        template = NO_GUARANTEE[claim.no_claim]
        sentence = template.format(reason=promise.reason, worst=above(claim.worst))
        return sentence, NO_TEXTS
    in_context = promise.context and terms.kind is not BudgetKind.FREE
    origin = IN_CONTEXT if in_context else ORIGINS[terms.kind]
    sentence = _template(SENTENCES, claim, terms)
    text = _template(TEXTS, claim, terms) + "{how_long}" + origin
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
        **OF_STRATEGY[strategy],
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
    named = OF_STRATEGY[strategy]["named"]
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
