"""Sentences on protection: the verdict, words, people, names, and a stronger release.

They follow from a statement and a report's public figures; the answer on a run, its
page and a plan print the same ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dptext.guarantees.claims import (
    MAX_MEANINGFUL_TEXT_LOSS,
    VISIBLE_WORDS,
    Loss,
    Strength,
    SubjectLimit,
    Unprotected,
    first_beyond,
    format_up,
    judge,
    number,
)
from dptext.guarantees.sentences import series
from dptext.guarantees.statement import Statement
from dptext.measures.bayes_risk import Risk
from dptext.report.answer_line import AnswerLine
from dptext.report.blocks import Badge, Tone
from dptext.report.document import Document
from dptext.report.figures import bound, listed_names, plain_name, whole
from dptext.tokens.policy import Policy
from dptext.types import JsonObject, Level, MetricKind, Notion

_BY_SEED = "anyone who knows or guesses the seed can repeat every draw"
_WORDS = {
    Strength.STRONG: "strong protection",
    Strength.MODERATE: "limited protection",
    Strength.WEAK: "weak protection",
}
_NOTIONS = {Notion.APPROXIMATE: "approximate LDP", Notion.METRIC: "metric DP"}
# From this share on, words that one guess finds, or unchanged texts, count as not
# protected.
_MOST = 0.5
# The scale of nats, for readers who do not know them.
_SCALE = f"above {MAX_MEANINGFUL_TEXT_LOSS:g} nobody is protected as a whole"
_NOT_ANONYMOUS = (
    "No. Common words and the facts that they tell can show who someone is; anyone "
    "with an original finds its row."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Basis:
    """All that a verdict follows from: known before any text is read."""

    promise: Statement
    #: Source of randomness.
    key: str
    #: The best guess of a word from one draw, None if it is not known.
    risk: Risk | None
    #: Whole texts become topics.
    topics: bool = False
    #: Share of texts that a run left unchanged, 0 where it is not known.
    unchanged: float = 0.0
    #: Vectors are released.
    vectors: bool = False
    #: The limits of a ledger; None without one.
    limits: SubjectLimit | None = None

    @classmethod
    def from_document(cls, document: Document) -> Basis:
        """Return the basis of the verdict on a run."""
        words, recorded = document.words, document.run.recorded
        private = None if document.private is None else document.private.words
        return cls(
            promise=document.guarantee,
            key=document.run.key,
            risk=None if words is None else words.risk,
            topics=is_of_topics(document),
            unchanged=0.0 if private is None else private.share_unchanged,
            vectors=document.vectors is not None,
            limits=None if recorded is None else recorded.limits,
        )

    @property
    def is_mostly_guessed(self) -> bool:
        """Tell whether the best guess of a word from one draw is mostly right."""
        if self.topics or self.risk is None:
            return False
        return self.risk.least >= _MOST


def fitness(basis: Basis) -> tuple[str, Tone]:
    """Return the verdict of one line, with its colour: fit for what, and for what not.

    "At most": nothing here knows whether enough is left for a purpose.
    """
    strength = basis.promise.strength.word
    if basis.unchanged == 1.0:
        return "Do not hand it on: every text is a copy of its original.", Tone.BAD
    # Where all words are drawn, unchanged texts are the noise that protects others.
    is_common = Unprotected.COMMON_WORDS in basis.promise.scope.unprotected
    if is_common and basis.unchanged >= _MOST:
        return "Do not hand it on: half of the texts or more are unchanged.", Tone.BAD
    if basis.key == "seed":
        return "Do not hand it on: the seed gives no protection.", Tone.BAD
    if strength is Strength.NONE:
        return "Do not hand it on: it has no guarantee.", Tone.BAD
    if strength is Strength.NOT_MEANINGFUL:
        return "Do not hand it on: it has no meaningful protection.", Tone.BAD
    if basis.is_mostly_guessed:
        return "Do not hand it on: most words can be guessed.", Tone.BAD
    return _most_open_use(basis), Tone.FAIR


def _most_open_use(basis: Basis) -> str:
    """Name the use with the most readers for which a protected release is fit."""
    promise, limits = basis.promise, basis.limits
    protects_texts = _is_within(promise.bound.text_loss.total)
    is_whole = not leaves_words(promise)
    if Unprotected.COMMON_WORDS in promise.scope.unprotected:
        return "Hand it at most to people under contract; do not publish it."
    if basis.topics and protects_texts:
        return "Use it at most to count topics, and not where a topic is a secret."
    if basis.topics:
        return "Hand it at most to a partner under contract; do not publish it."
    if limits is not None and _protects(limits) and is_whole:
        return "Hand it at most to programs; release no more without the ledger."
    if protects_texts and is_whole:
        use = "compare texts" if basis.vectors else "learn from texts"
        return f"Hand it at most to programs that {use}, one text for each person."
    return "Hand it at most to a partner's programs, under contract; do not publish it."


def is_mostly_guessed(document: Document) -> bool:
    """Tell whether the best guess of a word from one draw is mostly right."""
    return Basis.from_document(document).is_mostly_guessed


def not_anonymous(promise: Statement) -> Iterator[AnswerLine]:
    """Warn first that unchanged common words can identify people."""
    if Unprotected.COMMON_WORDS in promise.scope.unprotected:
        yield AnswerLine("anonymous", _NOT_ANONYMOUS, {"anonymous": False})


def badge(promise: Statement) -> Badge:
    """Rate a guarantee in a few words."""
    word, text = promise.strength.word, promise.strength.text
    loss = promise.bound.text_loss
    if word is Strength.NONE:
        return Badge("No guarantee", Tone.BAD)
    if text in (Strength.STRONG, Strength.MODERATE):
        tone = Tone.GOOD if text is Strength.STRONG else Tone.FAIR
        return Badge(f"Whole texts: {_WORDS[text]}", tone)
    if promise.bound.equal_parts and loss.total is not None:
        each = f"one of n words loses at most {format_up(loss.total)} / n nats"
        return Badge(f"Whole texts: not protected; {each}", Tone.FAIR)
    if word is Strength.NOT_MEANINGFUL:
        return Badge("No meaningful protection", Tone.BAD)
    if word is Strength.GROWS:
        return Badge("The longer a text, the less its words are protected", Tone.FAIR)
    single, longer = f"Single words: {_WORDS.get(word)}", "whole texts"
    if word is Strength.VARIES:
        near, far, _ = _near_and_far(promise, "word")
        single = f"{near.capitalize()}: {_among_similar(promise)} from each other"
        longer = f"{far} and texts"
    elif loss.total is None and loss.each:
        words = first_beyond(loss.each, MAX_MEANINGFUL_TEXT_LOSS)
        longer = f"texts of {words:,} words and more" if words > 1 else "texts"
    return Badge(f"{single}; {longer}: not protected", Tone.FAIR)


def changed_fields(
    dropped: Sequence[str], pseudonyms: Sequence[str]
) -> Iterator[AnswerLine]:
    """Name the fields left out, and those of pseudonyms."""
    if dropped:
        yield AnswerLine("left out", listed_names(dropped), {"fields": list(dropped)})
    if pseudonyms:
        sentence = f"no guarantee, equal values stay equal: {listed_names(pseudonyms)}"
        yield AnswerLine("pseudonyms", sentence, {"fields": list(pseudonyms)})


def protection(
    promise: Statement,
    document: Document | None = None,
    limits: SubjectLimit | None = None,
) -> list[AnswerLine]:
    """Return the guarantee for one word or text, then for people.

    document: the report of a run; None for a plan, which gives the limits of a ledger.
    """
    if document is not None and document.run.recorded is not None:
        limits = document.run.recorded.limits
    of_text = document is not None and is_of_texts(document)
    unit, bound = "text" if of_text else "word", promise.bound
    figures: JsonObject = {
        "notion": str(bound.notion),
        "level": str(bound.level),
        "epsilon": bound.epsilon,
        "delta": bound.delta,
        "loss": _finite(bound.loss.farthest),
    }
    if bound.notion is Notion.NONE:
        figures |= {"epsilon": None, "loss": None}
        sentence = promise.wording.sentence
        if document is not None and document.run.key == "seed":
            sentence = f"No guarantee: {_BY_SEED}."
        none = AnswerLine("people", "No guarantee.", _person_figures(promise))
        return [AnswerLine(f"{unit}s", sentence, figures), none]
    per = " per unit of distance" if bound.notion is Notion.METRIC else ""
    if bound.level is Level.TEXT and not of_text:
        per += " for a text"
    notion = _NOTIONS.get(bound.notion, str(bound.notion))
    delta = f", delta {number(bound.delta)}" if bound.delta else ""
    terms = f"{notion}, epsilon {format_up(bound.epsilon, 3)}{delta}{per}"
    worth = _worth(promise, document, unit)
    return [
        AnswerLine(f"{unit}s", f"{worth} ({terms}).", figures),
        _people(promise, document, limits),
    ]


def _worth(promise: Statement, document: Document | None, unit: str) -> str:
    """Say how well one word or text is protected, and what an attacker can do."""
    word = promise.strength.word
    if word is Strength.NOT_MEANINGFUL:
        return (
            f"No meaningful protection. An attacker may be nearly certain of a {unit}"
        )
    if word is Strength.VARIES:
        near, far, meaning = _near_and_far(promise, unit)
        worth = _among_similar(promise).capitalize()
        guess = ""
        if document is not None and is_mostly_guessed(document):
            guess = f". An attacker can guess {_guessed(document)}"
        return f"{worth} of {near} from each other, none of {far}{meaning}{guess}"
    if word is Strength.GROWS:
        return f"The longer its text, the less a {unit} is protected"
    certain = "hardly ever" if promise.bound.delta else "never"
    how, guess = _WORDS[word].capitalize(), "can guess"
    proved = f"a {unit}"
    if document is not None and is_mostly_guessed(document):
        how, guess = "Hardly any protection", f"can guess {_guessed(document)}"
        proved = "one"
    elif unit == "word" and leaves_words(promise):
        guess, proved = "can guess a replaced word", "one"
    return f"{how}. An attacker {guess}, but the output {certain} proves {proved}"


def _guessed(document: Document) -> str:
    """Return the share of words that the best guess from one draw finds, or more."""
    assert document.words is not None
    assert document.words.risk is not None
    words = "replaced words" if leaves_words(document.guarantee) else "words"
    return f"at least {whole(document.words.risk.least)} of {words}"


def _near_and_far(promise: Statement, unit: str) -> tuple[str, str, str]:
    """Name words near and far by the distance of a guarantee, and warn of chains."""
    kind = promise.bound.metric.kind
    if kind is MetricKind.CHAINS:
        meaning = f"; {unit}s of similar meaning may be distant"
        return f"{unit}s close on public chains", f"distant {unit}s", meaning
    if kind is MetricKind.OTHER:
        return f"{unit}s at a small distance", f"distant {unit}s", ""
    return f"similar {unit}s", f"very different {unit}s", ""


def _among_similar(promise: Statement) -> str:
    """Rate the protection of a word from its nearest one, at the median."""
    bound = promise.bound
    near = Loss.even(bound.loss.nearest)
    worth = judge(bound.notion, bound.level, near, bound.text_loss).word
    return _WORDS.get(worth, "no meaningful protection")


def number_of_topics(document: Document) -> int:
    """Return how many topics each text became, 0 without topics."""
    if document.words is None or document.words.topics is None:
        return 0
    return document.words.topics.together


def is_of_topics(document: Document) -> bool:
    """Tell whether whole texts became topics."""
    return number_of_topics(document) > 0


def is_of_texts(document: Document) -> bool:
    """Tell whether a released vector, or a topic, is one of a whole text."""
    if is_of_topics(document):
        return True
    return document.vectors is not None and document.guarantee.bound.level is Level.TEXT


def _finite(nats: float | None) -> float | None:
    return nats if nats is not None and math.isfinite(nats) else None


def _person_figures(promise: Statement) -> JsonObject:
    return {
        "protected_as_a_whole": False,
        "loss_of_a_text": _finite(promise.bound.text_loss.total),
        "limit": None,
    }


def _protects(limit: SubjectLimit) -> bool:
    """Tell whether the limit of a ledger protects a person as a whole."""
    return limit.nats <= MAX_MEANINGFUL_TEXT_LOSS and not limit.delta


def leaves_words(promise: Statement) -> bool:
    """Tell whether words stay by design, of which no ledger counts a loss."""
    return not VISIBLE_WORDS.isdisjoint(promise.scope.unprotected)


def _people(
    promise: Statement, document: Document | None, limit: SubjectLimit | None
) -> AnswerLine:
    """Return the guarantee for all words of a person."""
    private = None if document is None else document.private
    total, figures = promise.bound.text_loss.total, _person_figures(promise)
    rare = ", apart from rare exceptions" if promise.bound.delta else ""
    if limit is not None:
        return _people_by_ledger(promise, limit)
    sentence = "Not protected. Several records together may show who someone is"
    if total is not None and _is_within(total):
        sentence = (
            f"Limited protection in one text (a loss of at most {bound(total)} "
            f"nats{rare}; {_SCALE}), less with every further text"
        )
    vectors = None if private is None else private.vectors
    if vectors is not None and vectors.epsilon_of_one is not None:
        figures |= {"most_of_one": vectors.most_of_one}
        figures |= {"loss_of_one": _finite(vectors.epsilon_of_one)}
        sentence += f"; here at most {bound(vectors.epsilon_of_one)} nats{rare}"
    return AnswerLine("people", f"{sentence}.", figures)


def _people_by_ledger(promise: Statement, limit: SubjectLimit) -> AnswerLine:
    """Return the guarantee for all words of a person that a ledger records."""
    is_protected = _protects(limit) and not leaves_words(promise)
    figures = _person_figures(promise)
    figures |= {"limit": limit.nats, "protected_as_a_whole": is_protected}
    field, nats = plain_name(limit.field), bound(limit.nats)
    if leaves_words(promise):
        sentence = (
            "Not protected: words that are not replaced may tell who it is, and the "
            f'ledger counts replaced ones alone (each "{field}" loses at most {nats} '
            f"nats; {_SCALE})."
        )
    elif is_protected:
        sentence = (
            f'Limited protection: each "{field}" loses at most {nats} nats in all '
            f"releases that the ledger records ({_SCALE})."
        )
    elif limit.nats <= MAX_MEANINGFUL_TEXT_LOSS:
        sentence = (
            f'Not protected as a whole: each "{field}" loses at most {nats} nats in '
            "all releases that the ledger records, apart from rare exceptions."
        )
    else:
        sentence = (
            f'Not protected: each "{field}" may lose {nats} nats in all releases that '
            f"the ledger records; {_SCALE}."
        )
    return AnswerLine("people", sentence, figures)


def for_whom(document: Document) -> AnswerLine:
    """Name the people that the release protects, by the knowledge of an attacker."""
    promise, recorded = document.guarantee, document.run.recorded
    if fitness(Basis.from_document(document))[1] is Tone.BAD:
        sentence = "Nobody."
    elif (
        recorded is not None
        and _protects(recorded.limits)
        and not leaves_words(promise)
    ):
        sentence = "Each person, within the limit of the ledger."
    elif _is_within(promise.bound.text_loss.total):
        sentence = (
            "People with one text, even against attackers with originals, unless "
            "unchanged parts or columns tell; people with several texts less."
        )
    else:
        sentence = (
            "People about whom an attacker knows little, unless it has an original "
            "text."
        )
    return AnswerLine("for whom", sentence, short="")


def _is_within(total: float | None) -> bool:
    """Tell whether the bound of a text protects it as a whole."""
    return total is not None and total <= MAX_MEANINGFUL_TEXT_LOSS


def names(policy: Policy | None) -> Iterator[AnswerLine]:
    """Say what the output shows of names, by the settings of tokens."""
    if policy is None:
        return
    if policy.classes:
        named = series(tuple(f"{each}s" for each in policy.classes))
        others = "marks such as [name 1]" if policy.marks else "random others"
        equal = "" if policy.repeat == "none" else ", equal ones of a record the same"
        sentence = (
            f"Names of {named} on public lists become {others}{equal}. A name that the "
            "lists lack is a word like others; one that is also a common word may be "
            "unchanged."
        )
    else:
        unknown = {
            "perturb": "replaced like all unknown words, so which one it was is hidden",
            "mask": "[unknown] in the output",
            "drop": "left out",
            "keep": "unchanged",
        }[policy.unknown]
        sentence = (
            f"A name outside the vocabulary is {unknown}; one inside is a word like "
            "others."
        )
    yield AnswerLine("names", sentence, short="")
