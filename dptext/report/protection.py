"""Lines of the short answer on protection: the verdict, words, people and fields.

They are derived from a statement and a report's public figures; a run's summary, its
page and a plan share them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dptext.guarantees.claims import (
    MAX_MEANINGFUL_TEXT_LOSS,
    Loss,
    Strength,
    SubjectLimit,
    first_beyond,
    format_up,
    judge,
    number,
)
from dptext.guarantees.statement import Statement
from dptext.measures.bayes_risk import Risk
from dptext.report.blocks import Badge, Tone
from dptext.report.document import Document
from dptext.report.figures import listed_names, plain_name
from dptext.report.lines import AnswerLine, line, say
from dptext.report.units import Topics, Unit, unit_of
from dptext.types import JsonObject, Level, MetricKind, Notion

# From this share on, words that one guess finds, or unchanged texts, count as not
# protected.
_MOST = 0.5


@dataclass(frozen=True, kw_only=True, slots=True)
class Basis:
    """What a verdict is based on, known before any text is read."""

    promise: Statement
    #: Source of randomness.
    key: str
    #: The best guess of a word from one draw, None if it is not known.
    risk: Risk | None
    #: Key of the verdict where whole texts are protected.
    use: str = Unit.use
    #: Share of texts that a run left unchanged, 0 where it is not known.
    unchanged: float = 0.0
    #: The limits of a ledger; None without one.
    limits: SubjectLimit | None = None

    @classmethod
    def from_document(cls, document: Document) -> Basis:
        """Return what a run's verdict is based on."""
        words, recorded = document.words, document.run.recorded
        private = None if document.private is None else document.private.words
        return cls(
            promise=document.guarantee,
            key=document.run.key,
            risk=None if words is None else words.risk,
            use=unit_of(document).use,
            unchanged=0.0 if private is None else private.share_unchanged,
            limits=None if recorded is None else recorded.limits,
        )

    @property
    def is_mostly_guessed(self) -> bool:
        """Return whether the best guess of a word from one draw is mostly right."""
        if self.use == Topics.use or self.risk is None:
            return False
        return self.risk.least >= _MOST


def fitness(basis: Basis) -> tuple[str, Tone]:
    """Return the one-line verdict on what a release is fit for, with its colour.

    It says "at most", since utility for a purpose is unknown here.
    """
    unfit = _unfit(basis)
    tone = Tone.BAD if unfit else Tone.FAIR
    return say(f"verdict.{unfit or _most_open_use(basis)}"), tone


def _unfit(basis: Basis) -> str:
    """Return the key of the reason not to share a release, or ""."""
    strength = basis.promise.strength.word
    # Where all words are drawn, unchanged texts are the noise that protects others.
    reasons = {
        "copies": basis.unchanged == 1.0,
        "half": basis.promise.copies_common and basis.unchanged >= _MOST,
        "seed": basis.key == "seed",
        "none": strength is Strength.NONE,
        "not_meaningful": strength is Strength.NOT_MEANINGFUL,
        "guessed": basis.is_mostly_guessed,
    }
    return next((key for key, holds in reasons.items() if holds), "")


def _most_open_use(basis: Basis) -> str:
    """Return the key of the broadest audience this release is suitable for."""
    promise, limits = basis.promise, basis.limits
    protects_texts = _is_within(promise.bound.text_loss.total)
    is_whole = not promise.leaves_words
    if promise.copies_common:
        return "contract"
    if basis.use == Topics.use:
        return basis.use if protects_texts else "partner"
    if limits is not None and _protects(limits) and is_whole:
        return "ledger"
    return basis.use if protects_texts and is_whole else "programs"


def not_anonymous(promise: Statement) -> Iterator[AnswerLine]:
    """Yield a warning that unchanged common words can identify people."""
    if promise.copies_common:
        yield line("anonymous", "always", {"anonymous": False})


def badge(promise: Statement) -> Badge:
    """Rate a guarantee in a few words."""
    word, text = promise.strength.word, promise.strength.text
    loss, length = promise.bound.text_loss, 0
    key, tone = "word", Tone.FAIR
    if word is Strength.NONE:
        key, tone = "none", Tone.BAD
    elif text in (Strength.STRONG, Strength.MODERATE):
        key, word = "text", text
        tone = Tone.GOOD if text is Strength.STRONG else Tone.FAIR
    elif promise.bound.equal_parts and loss.total is not None:
        key = "parts"
    elif word is Strength.NOT_MEANINGFUL:
        key, tone = "not_meaningful", Tone.BAD
    elif word is Strength.GROWS:
        key = "grows"
    elif word is Strength.VARIES:
        key, word = "varies", _among_similar(promise)
    elif loss.total is None and loss.each:
        length = first_beyond(loss.each, MAX_MEANINGFUL_TEXT_LOSS)
        key = "longer" if length > 1 else "texts"
    near, far = _near_and_far(promise, "word")
    shown = say(
        f"badge.{key}",
        worth=_worth_of(word),
        near=near.capitalize(),
        far=far,
        total=loss.total,
        length=length,
    )
    return Badge(shown, tone)


def changed_fields(
    dropped: Sequence[str], replaced: Sequence[str]
) -> Iterator[AnswerLine]:
    """Name the fields that are left out, and those that are replaced."""
    for name, fields in (("left out", dropped), ("pseudonyms", replaced)):
        if fields:
            shown = {"fields": list(fields)}
            yield line(name, "always", shown, names=listed_names(fields))


def protection(
    promise: Statement,
    document: Document | None = None,
    limits: SubjectLimit | None = None,
) -> list[AnswerLine]:
    """Return the lines on the guarantee for one word or text, and for people.

    document: the report of a run; None for a plan, which passes the ledger's limits.
    """
    if document is not None and document.run.recorded is not None:
        limits = document.run.recorded.limits
    unit = "word" if document is None else unit_of(document).noun
    name, bound = f"{unit}s", promise.bound
    figures: JsonObject = {
        "notion": str(bound.notion),
        "level": str(bound.level),
        "epsilon": bound.epsilon,
        "delta": bound.delta,
        "loss": _finite(bound.loss.farthest),
    }
    if bound.notion is Notion.NONE:
        figures |= {"epsilon": None, "loss": None}
        seeded = document is not None and document.run.key == "seed"
        key = "seed" if seeded else "none"
        sentence = say(f"guarantee.{key}", sentence=promise.wording.sentence)
        none = line("people", "none", _person_figures(promise))
        return [AnswerLine(name, sentence, figures), none]
    sentence = say(
        "guarantee.terms",
        worth=_worth(promise, document, unit),
        notion=say(f"notion.{bound.notion}"),
        epsilon=format_up(bound.epsilon, 3),
        delta=number(bound.delta) if bound.delta else "",
        metric=bound.notion is Notion.METRIC,
        text=bound.level is Level.TEXT and unit != "text",
    )
    people = _people(promise, document, limits)
    return [AnswerLine(name, sentence, figures), people]


def _worth(promise: Statement, document: Document | None, unit: str) -> str:
    """Describe the protection of a word or text, and what attackers can do."""
    word, bound = promise.strength.word, promise.bound
    worth, guessed, key = _worth_of(word), "", "proved"
    if document is not None and Basis.from_document(document).is_mostly_guessed:
        guessed, key = _guessed(document), "hardly"
    elif unit == "word" and promise.leaves_words:
        key = "replaced"
    near, far = _near_and_far(promise, unit)
    if word is Strength.NOT_MEANINGFUL:
        key = "not_meaningful"
    elif word is Strength.VARIES:
        key, worth = "varies", _worth_of(_among_similar(promise))
    elif word is Strength.GROWS:
        key = "grows"
    return say(
        f"guarantee.{key}",
        worth=worth.capitalize(),
        unit=unit,
        near=near,
        far=far,
        chained=unit if bound.metric.kind is MetricKind.CHAINS else "",
        guessed=guessed,
        exact=not bound.delta,
    )


def _guessed(document: Document) -> str:
    """Describe the share of words found by the best guess from one draw."""
    risk = Basis.from_document(document).risk
    assert risk is not None
    return say("guarantee.guessed", document.guarantee, least=risk.least)


def _worth_of(strength: Strength) -> str:
    """Rate a protection in two words."""
    rated = (Strength.STRONG, Strength.MODERATE, Strength.WEAK)
    return say(f"strength.{strength if strength in rated else 'none'}")


def _near_and_far(promise: Statement, unit: str) -> tuple[str, str]:
    """Describe near and far words by the guarantee's distance."""
    kinds = {MetricKind.CHAINS: "chains", MetricKind.OTHER: "other"}
    kind = kinds.get(promise.bound.metric.kind, "any")
    return say(f"near.{kind}", unit=unit), say(f"far.{kind}", unit=unit)


def _among_similar(promise: Statement) -> Strength:
    """Rate a word's protection against its median nearest word."""
    bound = promise.bound
    near = Loss.even(bound.loss.nearest)
    return judge(bound.notion, bound.level, near, bound.text_loss).word


def _finite(nats: float | None) -> float | None:
    return nats if nats is not None and math.isfinite(nats) else None


def _person_figures(promise: Statement) -> JsonObject:
    return {
        "protected_as_a_whole": False,
        "loss_of_a_text": _finite(promise.bound.text_loss.total),
        "limit": None,
    }


def _protects(limit: SubjectLimit) -> bool:
    """Return whether a ledger's limit protects a person as a whole."""
    return limit.nats <= MAX_MEANINGFUL_TEXT_LOSS and not limit.delta


def _people(
    promise: Statement, document: Document | None, limit: SubjectLimit | None
) -> AnswerLine:
    """Return the line on the guarantee for all words of a person."""
    figures = _person_figures(promise)
    if limit is not None:
        return _people_by_ledger(promise, limit, figures)
    here = None
    private = None if document is None else document.private
    vectors = None if private is None else private.vectors
    if vectors is not None and vectors.epsilon_of_one is not None:
        here = vectors.epsilon_of_one
        figures |= {"most_of_one": vectors.most_of_one, "loss_of_one": _finite(here)}
    key = _people_key(promise, limit)
    return line("people", key, figures, here=here, exact=not promise.bound.delta)


def _people_key(promise: Statement, limit: SubjectLimit | None) -> str:
    """Return the key of the sentence on people that a guarantee allows."""
    if limit is None:
        return "text" if _is_within(promise.bound.text_loss.total) else "records"
    if promise.leaves_words:
        return "ledger_visible"
    if _protects(limit):
        return "ledger"
    return "ledger_delta" if _is_within(limit.nats) else "ledger_large"


def _people_by_ledger(
    promise: Statement, limit: SubjectLimit, figures: JsonObject
) -> AnswerLine:
    """Return the line on a person's words over all releases in a ledger."""
    key = _people_key(promise, limit)
    figures |= {"limit": limit.nats, "protected_as_a_whole": key == "ledger"}
    return line("people", key, figures, field=plain_name(limit.field))


def for_whom(document: Document) -> AnswerLine:
    """Return the line on whom the release protects, consistent with that on people."""
    promise, recorded = document.guarantee, document.run.recorded
    if fitness(Basis.from_document(document))[1] is Tone.BAD:
        return line("for whom", "nobody")
    key = _people_key(promise, None if recorded is None else recorded.limits)
    unit = unit_of(document).noun
    replaced = f"replaced {unit}" if promise.leaves_words else unit
    return line("for whom", key if key in ("ledger", "text") else "few", unit=replaced)


def _is_within(total: float | None) -> bool:
    """Return whether a text's bound protects it as a whole."""
    return total is not None and total <= MAX_MEANINGFUL_TEXT_LOSS
