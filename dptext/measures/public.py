"""Figures for a pipeline from public data alone: risk, deniability, changes.

Shared by runs, `check`, `plan`, `evaluate` and `compare`.

Plausible deniability: N_w = P(output is the word itself); S_w = distinct outputs in 100
runs. Exact for a mechanism with a known output distribution: E[S_w] = sum over y of
1 - (1 - P(y|w))^100. Otherwise 25 words are run 100 times, as in the comparative
analysis. The 25 words are evenly spaced in log frequency rank, so
that they are public and the same each time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import numpy as np
from msgspec import Meta

from dptext.budgets import uniform
from dptext.measures import bayes_risk, context_risk
from dptext.measures.bayes_risk import Share
from dptext.measures.context_risk import InContext
from dptext.mechanisms import Mechanism, TextMechanism
from dptext.randomness import Randomness, RunKey
from dptext.tokens import common, grammar
from dptext.types import BudgetKind, Floats, Ids, Record, Strategy

if TYPE_CHECKING:
    from dptext.pipeline import Pipeline

_RUNS = 100
_WORDS = 25
# Words drawn to see how many change.
_DRAWN = 20_000


@dataclass(frozen=True, slots=True)
class Deniability:
    """Mean N_w and S_w over the measured words.

    By chance: if outputs did not depend on words; null if only one word was measured.
    """

    n_w: Annotated[
        Share, Meta(description="N_w, the probability that a word is drawn as itself.")
    ]
    s_w: Annotated[
        float,
        Meta(ge=0, description="S_w, the number of distinct words in `runs` draws."),
    ]
    runs: Annotated[int, Meta(ge=1, description="Number of draws of a word.")]
    # No row: the method says it.
    sampled: Annotated[
        bool,
        Meta(
            description="From draws; otherwise computed from the output distributions."
        ),
    ]
    method: Annotated[str, Meta(description="How the figures were computed.")]
    n_w_by_chance: Annotated[
        Share | None,
        Meta(description="N_w of outputs of another of the measured words."),
    ] = None
    s_w_by_chance: Annotated[
        Annotated[float, Meta(ge=0)] | None,
        Meta(description="S_w of `runs` draws, each from any of the measured words."),
    ] = None


def n_w_and_s_w(
    mechanism: Mechanism, epsilon: float, draw: Callable[[Ids], Ids]
) -> Deniability:
    """Return N_w and S_w at an epsilon, and how they were computed.

    draw runs mechanism and mapping once per id, if there is no exact
    output distribution.
    """
    size = mechanism.space.size
    rows = np.geomspace(1, size, min(_WORDS, size)).astype(np.int32) - 1
    words = np.array(sorted(set(rows.tolist())), np.int32)
    if mechanism.has_log_probs:
        same, as_another, distinct = np.empty((3, len(words)))
        mixture: Floats = np.zeros(1)
        for row, word in enumerate(words):  # one by one: rows are long
            chances = mechanism.probs(words[row : row + 1], epsilon)[0]
            same[row], distinct[row] = chances[word], _distinct(chances)
            as_another[row] = chances[words].sum() - chances[word]
            mixture = mixture + chances / len(words)
        distinct_by_chance = _distinct(mixture)
        exact = f"exact output distributions of {len(words)} words"
        method = f"{exact}, expectation over {_RUNS} runs"
    else:
        drawn = draw(np.repeat(words, _RUNS)).reshape(len(words), _RUNS)
        same = (drawn == words[:, None]).mean(axis=1)
        as_another = np.isin(drawn, words).mean(axis=1) - same
        # Runs of all words after one another: 100 in a row are of as many as possible.
        mixed = drawn.T.reshape(len(words), _RUNS)
        distinct, of_mixed = (
            np.array([float(len(np.unique(row))) for row in rows])
            for rows in (drawn, mixed)
        )
        distinct_by_chance = float(of_mixed.mean())
        method = f"sampled: {len(words)} words x {_RUNS} runs"
    return Deniability(
        n_w=float(same.mean()),
        s_w=float(distinct.mean()),
        runs=_RUNS,
        sampled=not mechanism.has_log_probs,
        method=method,
        # An output is one of the other words: over all pairs of two different words.
        n_w_by_chance=float(as_another.mean()) / (len(words) - 1)
        if len(words) > 1
        else None,
        s_w_by_chance=distinct_by_chance if len(words) > 1 else None,
    )


def _distinct(chances: Floats) -> float:
    """Return the expected number of distinct outputs, given probabilities (V,)."""
    possible = chances[chances > 0.0]
    missed = np.exp(_RUNS * np.log1p(-np.minimum(possible, 1 - 1e-16)))
    return float((1.0 - missed).sum())


class NoRisk(StrEnum):
    """Reasons why a report has no risk."""

    SWITCHED_OFF = "switched off"
    SLOW = "slow"
    SEEDED = "seeded"
    #: A draw is not of one word for one word.
    CONTEXT = "context"
    VARYING_EPSILON = "varying epsilon"
    STRATEGY = "strategy"


_RISK_NOTES = {
    None: bayes_risk.LIMITS,
    NoRisk.SWITCHED_OFF: "not measured, as requested for this run",
    NoRisk.SLOW: (
        "not measured, which takes minutes with {mechanism} and this lexicon, unless "
        "the run asks for the Bayes risk"
    ),
    NoRisk.SEEDED: (
        "not measured: anyone who knows the seed of this run can repeat every draw"
    ),
    NoRisk.CONTEXT: "not measured: {mechanism} looks at the whole text",
    NoRisk.VARYING_EPSILON: "not measured: words may have different epsilons",
    NoRisk.STRATEGY: (
        "not measured: the attacker of the Bayes risk sees one draw, and a word that "
        "is drawn once for all its places shows more"
    ),
}


_NOTE_OF_SETS = (
    "not measured: each text becomes a set of topics, and the Bayes risk is of one word"
)


@dataclass(frozen=True, slots=True)
class PublicMeasures:
    """Figures from public data, measured once for all outputs of a run."""

    risk: bayes_risk.Risk | None
    no_risk: NoRisk | None
    risk_note: str
    #: What attackers of whole texts find, under these settings or at attackers_risk.
    in_context: tuple[InContext, ...] = ()
    #: How many written words are the original, under exactly these settings.
    written: tuple[InContext, ...] = ()
    #: The smaller risk at which attackers were measured; None: with these settings.
    attackers_risk: float | None = None

    @classmethod
    def measure(
        cls, pipeline: Pipeline, with_risk: bool | None = None
    ) -> PublicMeasures:
        """Measure; with_risk None: the Bayes risk only if quick or chosen."""
        risk, why = measure_risk(pipeline, with_risk)
        note = _RISK_NOTES[why].format(mechanism=pipeline.mechanism.name)
        if why is NoRisk.CONTEXT and pipeline.writes_sets:
            note = _NOTE_OF_SETS
        if risk is not None and pipeline.profile.tokens.grammar == "show":
            risk = _with_form(pipeline, risk)
            note += _note_of_forms(risk)
        at, readings = None, context_risk.measured(pipeline)
        if not readings:
            at, readings = _measured_below(pipeline, risk)
        return cls(
            risk=risk,
            no_risk=why,
            risk_note=note,
            in_context=readings,
            written=context_risk.measured_written(pipeline),
            attackers_risk=at,
        )

    def seeded(self) -> PublicMeasures:
        """Return the figures without risk: a known seed makes guessing unnecessary."""
        note = _RISK_NOTES[NoRisk.SEEDED]
        return PublicMeasures(None, NoRisk.SEEDED, note)


def _with_form(pipeline: Pipeline, risk: bayes_risk.Risk) -> bayes_risk.Risk:
    """Add the best guess of an attacker who sees the form of a word to a risk."""
    mechanism, lexicon = pipeline.mechanism, pipeline.lexicon
    if not mechanism.has_log_probs:
        return risk
    epsilon = pipeline.budget.description.high
    prior = bayes_risk.prior_of_replaced(lexicon, pipeline.profile.tokens)
    forms, success, baseline = grammar.forms_of_rows(lexicon), 0.0, 0.0
    for form in np.flatnonzero(np.bincount(forms)):  # np.unique loads numpy.ma
        part = np.where(forms == form, prior, 0.0)
        if (share := float(part.sum())) > 0.0:
            (best,) = mechanism.best_guesses(part / share, epsilon, [(0, len(part))])
            success += share * float(best.sum())
            baseline += float(part.max())
    return replace(risk, success_with_form=success, baseline_with_form=baseline)


def _note_of_forms(risk: bayes_risk.Risk) -> str:
    """Explain how visible word forms and capitals affect the best guess."""
    if risk.success_with_form is None:
        return (
            " The grammatical form that is shown and capital letters are not used; "
            "with them more guesses are right."
        )
    return " Capital letters that are shown are not used."


def _measured_below(
    pipeline: Pipeline, risk: bayes_risk.Risk | None
) -> tuple[float | None, tuple[InContext, ...]]:
    """Return attacker figures at a smaller risk, if one was measured.

    An unrequested risk is measured if there is a ladder to look it up in.
    """
    if not _draws_alone(pipeline) or not context_risk.measured_ladder(pipeline):
        return None, ()
    known = risk or measure_risk(pipeline)[0]
    # Of a sampled risk the success is an upper limit, which might be too far up.
    if known is None or known.low is not None:
        return None, ()
    return context_risk.measured_below(pipeline, known.success)


def measure_risk(
    pipeline: Pipeline, wanted: bool | None = True
) -> tuple[bayes_risk.Risk | None, NoRisk | None]:
    """Measure the risk if every word is drawn independently at the same epsilon.

    wanted None: measure only if it is quick, or if the settings chose a risk.
    """
    if wanted is False:
        return None, NoRisk.SWITCHED_OFF
    if isinstance(pipeline.mechanism, TextMechanism) or pipeline.writes_sets:
        return None, NoRisk.CONTEXT
    if pipeline.budget.description.kind is not BudgetKind.WORD:
        return None, NoRisk.VARYING_EPSILON
    if pipeline.profile.strategy != Strategy.TOKEN:
        return None, NoRisk.STRATEGY
    epsilon = pipeline.budget.description.high
    prior = bayes_risk.prior_of_replaced(pipeline.lexicon, pipeline.profile.tokens)
    mapping = pipeline.profile.settings().get("mapping")
    measured = pipeline.mechanism, epsilon, prior
    params = pipeline.profile.budget.params
    is_chosen = isinstance(params, uniform.Params) and params.risk is not None
    if wanted is None and not (
        is_chosen or bayes_risk.is_quick(*measured, drawn=True, mapping=mapping)
    ):
        return None, NoRisk.SLOW
    return bayes_risk.measure(*measured, pipeline.draw, mapping), None


def _draws_alone(pipeline: Pipeline) -> bool:
    """Return whether every word is drawn independently at the same epsilon."""
    of_text = isinstance(pipeline.mechanism, TextMechanism)
    return pipeline.budget.description.kind is BudgetKind.WORD and not of_text


def measure_deniability(pipeline: Pipeline) -> Deniability | None:
    """Measure N_w and S_w if all words have the same epsilon."""
    if not _draws_alone(pipeline):
        return None
    epsilon = pipeline.budget.description.high
    return n_w_and_s_w(pipeline.mechanism, epsilon, public_draw(pipeline, epsilon))


def measure_changed_share(pipeline: Pipeline) -> float | None:
    """Return the share of prior words that change, from public draws."""
    if not _draws_alone(pipeline):
        return None
    prior = bayes_risk.prior_of_replaced(pipeline.lexicon, pipeline.profile.tokens)
    # Evenly spaced quantiles: the same words each time, in proportion to the prior.
    positions = (np.arange(_DRAWN) + 0.5) / _DRAWN
    rows = np.minimum(np.searchsorted(np.cumsum(prior), positions), len(prior) - 1)
    ids: Ids = rows.astype(np.int32)
    drawn = public_draw(pipeline, pipeline.budget.description.high)(ids)
    return float((drawn != ids).mean())


def measure_common_share(pipeline: Pipeline) -> float | None:
    """Return the share of common words, by the lexicon's word frequencies.

    None if common words are not copied.
    """
    lexicon, policy = pipeline.lexicon, pipeline.profile.tokens
    if not policy.common:
        return None
    copied = common.common_words(lexicon, *policy.copied_words).rows
    return float(lexicon.counts[copied].sum() / lexicon.counts.sum())


def public_draw(pipeline: Pipeline, epsilon: float) -> Callable[[Ids], Ids]:
    """Return a function that draws once per public word, with public randomness.

    This makes figures about the mechanism reproducible; never use it for texts.
    """
    # Of public words: no view of a text has a part in it.
    randomness = Randomness(RunKey.from_seed(0), pipeline.identity)
    nonce = randomness.nonce(Record(0, (), None))

    def draw(ids: Ids) -> Ids:
        bits = randomness.bits([nonce], np.zeros(len(ids), np.int64))
        return pipeline.draw(ids, np.full(len(ids), float(epsilon)), bits)

    return draw
