"""Builds the statement of a run: its fields and conditions.

Every sentence is written to be true by itself; gaps are stated beside it.
"""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass, field
from typing import Annotated

import numpy as np

from dptext.errors import UsageError
from dptext.guarantees import claims, sentences
from dptext.guarantees.claims import Nats, RunTerms, Terms, TextLoss, number
from dptext.guarantees.form_sentences import form_layouts
from dptext.guarantees.templates import render, series
from dptext.lexicons import topics
from dptext.mechanisms import Mechanism, SetMechanism
from dptext.profile import Profile
from dptext.types import (
    ONE,
    BudgetDescription,
    BudgetKind,
    Guarantee,
    Level,
    Metric,
    Notion,
    Strategy,
    about,
)

# Words of a text that is longer than any: a share of a total is never smaller.
MAX_WORDS_PER_TEXT = 1e9
# What stands for the numerical slack of noise in floating point, in nats.
_FLOATING = 1e-8
# The largest share of a promise that its numerical slack may be.
_LARGEST_SHARE = 0.1
_SHARED = (BudgetKind.TEXT, BudgetKind.PAST, BudgetKind.FREE)


def conditions(promise: Guarantee, terms: Terms) -> tuple[str, ...]:
    """Return the conditions under which a claim holds."""
    run, sent = terms.run, terms.third_party is not None
    # Of a whole data set equal words are drawn alike, whatever the ids.
    identified = run.identified and terms.strategy is not Strategy.DATA_SET
    used = {
        "topics": terms.topics is not None,
        "lexicon": run.lexicon_is_custom and not run.adapted and not terms.topics,
        "adapted": bool(run.adapted),
        "model": terms.brings_model,
        "third_party": sent,
        "identified": identified and run.key != "key-file",
        "identified_by_key": identified and run.key == "key-file",
        "ledger": run.subjects is not None,
    }
    source = run.adapted if terms.topics is None else terms.topics.source
    rests = [render(f"condition.{on}", source=source) for on in used if used[on]]
    position = "with the same id" if run.identified else "in the same place"
    if run.key != "key-file":
        key = render("condition.fresh_key")
    elif terms.strategy is Strategy.DATA_SET:
        key = render("condition.key_file_of_data_set")
    elif sent:
        key = render("condition.key_file_for_third_party", named=position)
    else:
        key = render("condition.key_file", named=position)
    exact = render("condition.floating_point")
    each = "word" if terms.topics is None else "text"
    if terms.numerical_slack is not None:
        nats = claims.format_up(max(terms.numerical_slack, 1e-12), 2)
        exact = render("condition.finite_bits", nats=nats, each=each)
    but = "" if terms.policy.words is None else render("condition.but_words")
    named = "lists" if terms.policy.has_lists else "settings"
    settings = render(f"condition.{named}", but_words=but)
    return (key, settings, *rests, exact, *promise.gaps)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """The guarantee as figures."""

    notion: Annotated[Notion, about("Kind of guarantee.")]
    level: Annotated[
        Level,
        about(
            "Unit that the guarantee is about: a word, each of the words, or a text."
        ),
    ]
    metric: Annotated[Metric, about("The distance that epsilon multiplies.")] = ONE
    epsilon: Annotated[
        Nats,
        about(
            'Per word at level "word", of a whole text at level "text". At '
            'level "words" the n replaced words of a text lose n times epsilon, '
            "whatever changes."
        ),
    ]
    unit: Annotated[str, about("Unit of all losses.")] = "nats"
    delta: Annotated[float, about('0 except for notion "eps-delta".', ge=0, le=1)] = 0.0
    loss: Annotated[
        claims.Loss,
        about(
            'Bound on the loss of one changed word, at level "words" for each '
            "replaced word of the text. With equal_parts it is for a text of "
            "one replaced word, and less in one of n."
        ),
    ]
    # No row: the sentences and `loss` have it.
    worst_loss: Annotated[
        Nats | None,
        about(
            'Bound on the loss of one word at level "word", and of a whole text '
            'of any length at level "text".'
        ),
    ] = None
    text_loss: Annotated[
        TextLoss, about("Bound on the loss of a text when all of its words change.")
    ] = field(default_factory=TextLoss)
    equal_parts: Annotated[
        bool, about("Whether the n words of a text share epsilon in equal parts.")
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Coverage, exceptions and conditions of the guarantee.

    At strategy "record" or "data-set" equal words are drawn once.
    """

    strategy: Annotated[
        Strategy,
        about(
            "How often a word is drawn: each time, once for a record, or "
            "once for a data set."
        ),
    ]
    decoder: Annotated[
        str,
        about(
            'Name of the component that writes the words, "none" where the '
            "drawn ones are written."
        ),
    ] = "none"
    # No row: the sentence has it.
    adjacency: Annotated[
        tuple[str, ...],
        about("What two texts must have in common to be compared, in words."),
    ] = ()
    # No row: the sentence has it.
    covered: Annotated[
        tuple[str, ...],
        about("Classes of token that the mechanism replaces, in words."),
    ] = ()
    unprotected: Annotated[
        tuple[claims.Unprotected, ...],
        about("Classes of token that the settings do not protect."),
    ]
    not_covered: Annotated[
        tuple[str, ...], about("What the guarantee does not cover, in words.")
    ]
    conditions: Annotated[
        tuple[str, ...], about("What must hold for the guarantee to be true, in words.")
    ] = ()
    # No row: a condition has it.
    numerical_slack: Annotated[
        Nats | None, about("Nats that finite random bits may add; null: not bounded.")
    ]
    subjects: Annotated[str, about("The limits of a ledger.")] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """The guarantee and its background in sentences; no code depends on them."""

    sentence: Annotated[str, about("The guarantee in words.")]
    text_level: Annotated[str, about("What holds for whole texts, in words.")]
    distance: Annotated[str, about("The metric in words.")] = ONE.name
    translation: Annotated[
        str,
        about(
            "Meaning of epsilon in the lexicon's own distance, where the metric "
            "is another."
        ),
    ] = ""
    decoding: Annotated[str, about("The effect of decoding, in words.")] = ""
    source: Annotated[str, about("Source of the mechanism and of its proof.")] = ""
    #: What the layout of each declared form shows; a public report leaves it out, since
    #: it follows from the settings.
    form_layouts: Annotated[
        tuple[str, ...], about("What the layout of each declared form shows.")
    ] = ()


@dataclass(frozen=True, slots=True)
class Statement:
    """The guarantee of a run."""

    strength: Annotated[claims.Strengths, about("Meaning of the bounds.")]
    bound: Annotated[Bound, about("The guarantee in figures.")]
    scope: Annotated[
        Scope, about("Coverage, exceptions and conditions of the guarantee.")
    ]
    wording: Annotated[Wording, about("The guarantee in sentences, for people.")]

    @property
    def copies_common(self) -> bool:
        """Return whether common words are unchanged."""
        return claims.Unprotected.COMMON_WORDS in self.scope.unprotected

    @property
    def leaves_words(self) -> bool:
        """Return whether words stay by design; ledgers do not count that as a loss."""
        return not claims.VISIBLE_WORDS.isdisjoint(self.scope.unprotected)


def build(promise: Guarantee, terms: Terms) -> Statement:
    """Return the statement of a run with a mechanism and a budget."""
    claim = claims.claim(promise, terms)
    nothing = claim.notion is Notion.NONE
    subjects, limit = "", terms.run.subjects
    if limit is not None and not nothing:
        delta = limit.delta
        is_large = limit.nats > claims.MAX_MEANINGFUL_TEXT_LOSS
        visible = claims.unprotected(terms.policy, terms.strategy)
        meaning = render("subjects.large") if is_large else ""
        if not claims.VISIBLE_WORDS.isdisjoint(visible) and not terms.topics:
            meaning = render("subjects.visible")
        subjects = render(
            "subjects.limit",
            field=limit.field,
            nats=number(limit.nats),
            delta=render("subjects.delta", delta=number(delta)) if delta else "",
            large=meaning,
        )
    sentence, text_level = sentences.say(claim, promise, terms)
    return Statement(
        strength=claims.judge(claim.notion, claim.level, claim.loss, claim.text_loss),
        bound=Bound(
            notion=claim.notion,
            level=claim.level,
            metric=claim.metric,
            epsilon=claim.epsilon,
            unit=promise.unit,
            delta=promise.delta,
            loss=claim.loss,
            worst_loss=None if nothing or math.isinf(claim.worst) else claim.worst,
            text_loss=claim.text_loss,
            equal_parts=claim.equal_parts,
        ),
        scope=Scope(
            strategy=terms.strategy,
            decoder=terms.decoder,
            adjacency=() if terms.topics else sentences.adjacency(terms),
            covered=("texts",) if terms.topics else sentences.covered(terms.policy),
            unprotected=claims.unprotected(terms.policy, terms.strategy),
            not_covered=(
                *(() if terms.topics else sentences.shown(terms.policy)),
                render(f"topics.original{sentences.order(terms)}")
                if terms.topics
                else sentences.original_row(claim.text_loss.total),
                *sentences.uncovered(
                    promise.notion if nothing else claim.notion, terms
                ),
            ),
            conditions=() if nothing else conditions(promise, terms),
            numerical_slack=terms.numerical_slack,
            subjects=subjects,
        ),
        wording=Wording(
            sentence=sentence,
            text_level=text_level,
            distance=sentences.distance(claim, promise, terms),
            translation=terms.translation,
            decoding=sentences.decoding(terms, nothing),
            source=promise.source,
            form_layouts=() if terms.topics else form_layouts(terms.policy),
        ),
    )


def check(mechanism: Mechanism, budget: BudgetDescription) -> None:
    """Raise UsageError if a mechanism cannot draw exactly under a budget.

    The same rule applies to all mechanisms: every epsilon that a word may have can be
    computed with, and the promised loss is at least ten times the loss that rounding
    may add. Beyond 30 nats it need not be: a statement claims nothing there.
    """
    least, most = _range(budget)
    mechanism.check(least)
    mechanism.check(most)
    if budget.kind in _SHARED:
        # A word's part may be as small as may be; the promise is that of the whole.
        least = most = budget.total or budget.rate or most
    for epsilon in {least, most}:
        promise = mechanism.guarantee(epsilon)
        loss = promise.worst(epsilon)
        if promise.notion is Notion.NONE or loss > claims.MAX_MEANINGFUL_LOSS:
            continue
        if loss == 0.0:
            raise UsageError(
                f"all words of the lexicon {mechanism.space.lexicon.name} coincide in "
                f"the space {mechanism.space.name}, so {mechanism.name} cannot "
                "distinguish them; use another lexicon or space, or the mechanism rank"
            )
        exact = mechanism.numerical_slack(epsilon)
        slack = _FLOATING if exact is None else exact
        if not slack <= _LARGEST_SHARE * loss:
            other = "larger" if loss < 1.0 else "smaller"
            raise UsageError(
                f"epsilon: {epsilon:.3g} with these settings promises a loss of at "
                f"most {loss:.2g} nats, but draws are exact to {slack:.2g} nats only; "
                f"give a {other} epsilon (numerical slack: at most a tenth of what is "
                "promised)"
            )


def _range(budget: BudgetDescription) -> tuple[float, float]:
    # The shares of a text's total are as small as the text is long.
    return budget.low or budget.high / MAX_WORDS_PER_TEXT, budget.high


def run_statement(
    recipe: Profile, mechanism: Mechanism, budget: BudgetDescription, run: RunTerms
) -> Statement:
    """Return the statement of a run; recipe and budget already have their epsilon."""
    # A guarantee's figures hold at every epsilon: the budget's largest stands for all.
    promise = mechanism.guarantee(budget.high)
    counted = promise.notion is Notion.METRIC
    translation = mechanism.space.translated(promise.stretch) if counted else ""
    low, high = map(mechanism.numerical_slack, _range(budget))
    return build(
        promise,
        Terms(
            run=run,
            budget=budget,
            strategy=Strategy(recipe.strategy),
            policy=recipe.tokens,
            distances=astuple(mechanism.geometry),
            numerical_slack=None if low is None or high is None else max(low, high),
            translation=translation,
            decoder=recipe.decoder.name,
            brings_model=recipe.decoder.params.brings_model,
            third_party=recipe.decoder.params.third_party,
            topics=topic_terms(mechanism, budget),
        ),
    )


def topic_terms(
    mechanism: Mechanism, budget: BudgetDescription
) -> claims.TopicTerms | None:
    """Return the topics that replace texts, None if words are replaced."""
    meta = topics.topic_meta(mechanism.space.lexicon)
    if meta is None:
        return None
    size = int(meta["size"])
    sources = [
        f"{each['name']} (sha256 {each['sha256'][:12]})" for each in meta["public"]
    ]
    source = series(tuple(sources))
    if isinstance(mechanism, SetMechanism):
        chance = mechanism.held(budget.high)
        return claims.TopicTerms(
            size=size,
            nearest=chance,
            # Of C(K, k) sets C(K - 1, k - 1) hold a topic, a share k / K.
            largest=chance / mechanism.together,
            source=source,
            together=mechanism.together,
        )
    law = mechanism.probs(np.arange(-1, size, dtype=np.int32), budget.high)
    return claims.TopicTerms(
        size=size,
        nearest=float(law[1:].diagonal().min()),
        largest=float(law.max()),
        source=source,
    )
