"""The epsilon of a mechanism at one risk, and its figures, from public data alone."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Iterator, Mapping, Sequence

from dptext import calibration, profile, progress, registry
from dptext.budgets import uniform
from dptext.errors import UsageError
from dptext.guarantees.sentences import measured
from dptext.measures import bayes_risk, public
from dptext.report import figures
from dptext.report.blocks import Block, Column, Paragraph, Table, paragraphs
from dptext.types import JsonObject, Lexicon


@dataclasses.dataclass(frozen=True, slots=True)
class Calibration:
    """A mechanism at the epsilon of a risk."""

    mechanism: str
    parameters: JsonObject
    space: str = ""
    mapping: str | None = None
    epsilon: float | None = None
    unit: str = ""
    metric: str = ""
    notion: str = ""
    reason: str = ""
    delta: float = 0.0
    #: Epsilon times the largest distance, in nats, up to delta; None without a bound.
    worst_loss: float | None = None
    risk: bayes_risk.Risk | None = None
    #: Mean probability that a word is drawn as itself.
    n_w: float | None = None
    #: Time of the calibration.
    seconds: float = 0.0
    #: Why the mechanism has no such epsilon; None if it has one.
    skipped: str | None = None


def budget_risk(recipe: profile.Profile) -> float:
    """Return the risk of a profile's budget. Raises UsageError without one."""
    params = recipe.budget.params
    if not isinstance(params, uniform.Params) or params.risk is None:
        raise UsageError(
            "calibrate chooses epsilon itself: leave the budget's settings out"
        )
    return params.risk


def calibrated(recipe: profile.Profile, lexicon: Lexicon) -> Calibration:
    """Calibrate a profile."""
    began = time.perf_counter()
    ready = calibration.build(recipe, lexicon)
    seconds = time.perf_counter() - began
    mechanism, epsilon = ready.mechanism, ready.budget.description.high
    promise = mechanism.guarantee(epsilon)
    risk, _ = public.measure_risk(ready)
    deniability = public.measure_deniability(ready)
    loss = promise.worst(epsilon)
    return Calibration(
        mechanism=mechanism.name,
        parameters=dataclasses.asdict(mechanism.params),
        space=recipe.space.name,
        mapping=None if recipe.mapping is None else recipe.mapping.name,
        epsilon=epsilon,
        unit=promise.unit,
        metric=measured(promise),
        notion=promise.notion,
        reason=promise.reason,
        delta=promise.delta,
        worst_loss=loss if math.isfinite(loss) else None,
        risk=risk,
        n_w=None if deniability is None else deniability.n_w,
        seconds=seconds,
    )


def every_mechanism(
    name: str, over: Mapping[str, object], lexicon: Lexicon
) -> Iterator[Calibration]:
    """Calibrate a profile with each mechanism; skip those that cannot reach the risk.

    name: the profile; over: keys that replace its own.
    """
    names = registry.names("mechanisms")
    progress.say(
        f"calibrating {len(names)} mechanisms on {len(lexicon.words):,} words; new "
        "results take minutes each, and are kept"
    )
    for each in names:
        chosen = over.get("mechanism")
        settings = {**(chosen if isinstance(chosen, Mapping) else {}), "name": each}
        keys = {**over, "mechanism": settings, "mapping": None}
        try:
            if registry.find("mechanisms", each).Params.family == "texts":
                raise UsageError(
                    "it looks at the whole text, and the Bayes risk measures one word"
                )
            yield calibrated(profile.load(name, keys), lexicon)
        except UsageError as error:
            yield Calibration(each, {}, skipped=str(error))


def _settings(row: Calibration) -> str:
    """Write the parameters that are set; a table only as its length."""
    settings = [
        f"{key}={f'{len(value)} pairs' if isinstance(value, tuple) else value}"
        for key, value in row.parameters.items()
        if value is not None and value != ()
    ]
    if row.mapping:
        settings.append(f"mapping {row.mapping}")
    return ", ".join(settings)


def line(row: Calibration) -> str:
    """Write a row in one line, for progress."""
    if row.skipped is not None:
        return _reason(row)
    return (
        f"{row.mechanism}: epsilon {_epsilon(row)}, risk {_risk(row)}, worst loss "
        f"{_loss(row)} nats ({row.seconds:.1f} s)"
    )


def _reason(row: Calibration) -> str:
    """Say why a mechanism has no epsilon, or no guarantee; "" if it has both."""
    if row.skipped is not None:
        return f"{row.mechanism}: not calibrated: {row.skipped}"
    return f"{row.mechanism}: no guarantee: {row.reason}" if row.reason else ""


def _epsilon(row: Calibration) -> str:
    return f"{row.epsilon:g} {row.unit}"


def _risk(row: Calibration) -> str:
    if row.risk is None:
        return "not measured"
    if row.risk.low is None:
        return figures.share(row.risk.success)
    return figures.between(row.risk.low, row.risk.success)


def _loss(row: Calibration) -> str:
    loss = figures.bound(row.worst_loss)
    return f"{loss}, up to delta {row.delta:g}" if row.delta else loss


_COLUMNS = (
    Column("mechanism"),
    Column("parameters", path=_settings),
    Column("epsilon", str, path=_epsilon),
    Column("risk", str, path=_risk),
    Column("N_w", figures.share, path="n_w"),
    Column("worst loss, nats", str, path=_loss),
    Column("seconds", "{:.1f}".format),
    Column("guarantee", path="notion"),
)


def view(
    recipe: profile.Profile, target: float, rows: Sequence[Calibration]
) -> list[Block]:
    """Return calibrated mechanisms as a table, and reasons for skipping the others."""
    calibrated = [row for row in rows if row.skipped is None]
    title = (
        f"Risk at most {target:.4g} of words as profile {recipe.name} replaces them, "
        f"space {recipe.space.name}"
    )
    return [
        *([Table.from_items(_COLUMNS, calibrated, title)] if calibrated else []),
        *paragraphs(*map(_reason, rows)),
        *paragraphs(*figures.legend("N_w"), kind="note"),
        Paragraph(bayes_risk.LIMITS, "note"),
    ]
