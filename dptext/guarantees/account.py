"""From a pipeline to its statement."""

from __future__ import annotations

from dptext.errors import UsageError
from dptext.guarantees.statement import Statement, build
from dptext.guarantees.terms import MAX_MEANINGFUL_LOSS, SubjectLimit, Terms
from dptext.mechanisms import Mechanism
from dptext.profile import Profile
from dptext.types import BudgetDescription, BudgetKind, Notion, Strategy

# Words of a text that is longer than any: a share of a total is never smaller.
MAX_WORDS_PER_TEXT = 1e9
# What stands for the numerical slack of noise in floating point, in nats.
_FLOATING = 1e-8
# The largest share of a promise that its numerical slack may be.
_LARGEST_SHARE = 0.1
_SHARED = (BudgetKind.TEXT, BudgetKind.PAST, BudgetKind.FREE)


def check(mechanism: Mechanism, budget: BudgetDescription) -> None:
    """Raise UsageError for a budget under which a mechanism cannot be drawn exactly.

    One rule for all mechanisms: every epsilon that a word may have is one that can be
    computed with, and what is promised is no less than ten times what rounding may add
    to the loss. Beyond 30 nats it need not be: a statement claims nothing there.
    """
    least, most = _range(budget)
    mechanism.check(least)
    mechanism.check(most)
    if budget.kind in _SHARED:
        # A word's part may be as small as may be; the promise is that of the whole.
        least = most = budget.total or budget.rate or most
    for epsilon in {least, most}:
        _check_claim(mechanism, epsilon)


def _range(budget: BudgetDescription) -> tuple[float, float]:
    # The shares of a text's total are as small as the text is long.
    return budget.low or budget.high / MAX_WORDS_PER_TEXT, budget.high


def _check_claim(mechanism: Mechanism, epsilon: float) -> None:
    promise = mechanism.guarantee(epsilon)
    loss = promise.worst(epsilon)
    if promise.notion is Notion.NONE or loss > MAX_MEANINGFUL_LOSS:
        return
    exact = _numerical_slack(mechanism, epsilon)
    slack = _FLOATING if exact is None else exact
    if not slack <= _LARGEST_SHARE * loss:
        other = "larger" if loss < 1.0 else "smaller"
        raise UsageError(
            f"epsilon: {epsilon:.3g} with these settings promises a loss of at most "
            f"{loss:.2g} nats, but draws are exact to {slack:.2g} nats only; "
            f"give a {other} epsilon (numerical slack: at most a tenth of what is "
            "promised)"
        )


def _numerical_slack(mechanism: Mechanism, *epsilons: float) -> float | None:
    """Return the nats that finite draws may add at any of these; None: not bounded."""
    slacks = [mechanism.numerical_slack(epsilon) for epsilon in epsilons]
    bounded = [slack for slack in slacks if slack is not None]
    return max(bounded) if len(bounded) == len(slacks) else None


def statement(
    recipe: Profile,
    mechanism: Mechanism,
    budget: BudgetDescription,
    *,
    key: str,
    lexicon_is_custom: bool,
    identified: bool,
    fields: tuple[str, ...] | None,
    finder: str = "",
    detected: bool = False,
    subjects: SubjectLimit | None = None,
) -> Statement:
    """Return the statement of a run.

    recipe and budget have their epsilon; key is the origin of the run key; fields are
    the names of the text fields, None where the whole input is text; finder, what
    chose the parts of texts that are private, "" where whole texts are; detected,
    whether a field was taken because it alone holds text; subjects, what a ledger
    limits.
    """
    # A guarantee's figures hold at every epsilon: the budget's largest stands for all.
    promise = mechanism.guarantee(budget.high)
    geometry = mechanism.geometry(budget.high)
    counted = promise.notion is Notion.METRIC
    translation = mechanism.space.translated(promise.stretch) if counted else ""
    return build(
        promise,
        Terms(
            budget=budget,
            strategy=Strategy(recipe.strategy),
            policy=recipe.tokens,
            key=key,
            lexicon_is_custom=lexicon_is_custom,
            identified=identified,
            fields=fields,
            finder=finder,
            detected=detected,
            nearest=geometry.nearest,
            median=geometry.median,
            diameter=geometry.diameter,
            numerical_slack=_numerical_slack(mechanism, *_range(budget)),
            translation=translation,
            decoder=recipe.decoder.name,
            brings_model=recipe.decoder.params.brings_model,
            subjects=subjects,
        ),
    )
