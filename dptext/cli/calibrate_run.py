"""What `dptext calibrate` does with its options."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
from rich.table import Table
from rich.text import Text

from dptext import lexicons, pipeline, profile, progress, registry
from dptext.adversaries.bayes import LIMITS, Risk
from dptext.cli import screen
from dptext.errors import UsageError
from dptext.guarantees.wording import above
from dptext.report import assemble, figures
from dptext.types import Lexicon

# How often all words are looked at from each of them, for all mechanisms together.
_SCANS, _TIMED = 25, 64


@dataclass(frozen=True, slots=True)
class Row:
    """A mechanism at its epsilon, or why it has none: skipped.

    worst_loss in nats, epsilon times the largest distance; null where there is no bound
    (for eps-delta it holds but for delta). n_w is P(a word stays), a mean over words.
    """

    mechanism: str
    parameters: dict[str, Any]
    space: str = ""
    mapping: str | None = None
    epsilon: float | None = None
    unit: str = ""
    metric: str = ""
    notion: str = ""
    reason: str = ""
    delta: float = 0.0
    worst_loss: float | None = None
    risk: Risk | None = None
    n_w: float | None = None
    seconds: float = 0.0
    skipped: str | None = None


def run(name: str, over: dict[str, Any], *, every: bool, as_json: bool) -> None:
    """Calibrate a profile, or every mechanism in it, and print a table."""
    recipe = profile.load(name, over)
    target = risk_of(recipe)
    lexicon = lexicons.find(recipe.lexicon)
    rows = []
    for row in _every(name, over, lexicon) if every else _one(recipe, lexicon):
        progress.say(_line(row))
        rows.append(row)
    show(recipe, target, lexicon, rows, as_json=as_json)


def _one(recipe: profile.Profile, lexicon: Lexicon) -> Iterator[Row]:
    yield row_of(recipe, lexicon)[0]


def _line(row: Row) -> str:
    """Write a row in one line, as it is found."""
    if row.skipped is not None:
        return f"{row.mechanism}: not calibrated: {row.skipped}"
    _, _, epsilon, risk, _, loss, seconds, _ = _cells(row)
    return (
        f"{row.mechanism}: epsilon {epsilon}, risk {risk}, worst loss {loss} nats "
        f"({seconds} s)"
    )


def risk_of(recipe: profile.Profile) -> float:
    """Return the risk of a profile's budget; UsageError where it has none."""
    risk: float | None = getattr(recipe.budget.params, "risk", None)
    if risk is None:
        msg = "calibrate chooses epsilon itself: leave the budget's settings out"
        raise UsageError(msg)
    return risk


def show(
    recipe: profile.Profile,
    target: float,
    lexicon: Lexicon,
    rows: list[Row],
    *,
    as_json: bool,
    **more: Any,
) -> None:
    """Print the rows, as a table or as JSON with more beside them."""
    if as_json:
        data = {
            "profile": recipe.name,
            "target": target,
            "lexicon": lexicon.name,
            "lexicon_digest": lexicon.digest,
            "rows": rows,
            **more,
        }
        print(msgspec.json.format(msgspec.json.encode(data), indent=2).decode())  # noqa: T201
    else:
        _show(recipe, target, rows)


def _every(name: str, over: dict[str, Any], lexicon: Lexicon) -> Iterator[Row]:
    names = registry.names("mechanisms")
    minutes = _SCANS * len(lexicon.words) * _scan(lexicon) / 60.0
    progress.say(
        f"calibrating {len(names)} mechanisms on {len(lexicon.words):,} words; what is "
        f"not known yet takes up to about {max(1.0, minutes):.0f} min here, and is kept"
    )
    for each in names:
        own = dict(over.get("mechanism") or {})
        given = {**over, "mechanism": {**own, "name": each}, "mapping": None}
        try:
            if registry.find("mechanisms", each).FAMILY == "context":
                msg = "it looks at the whole text, and the Bayes risk measures one word"
                raise UsageError(msg)
            yield row_of(profile.load(name, given), lexicon)[0]
        except UsageError as error:
            yield Row(each, {}, skipped=str(error))


def _scan(lexicon: Lexicon) -> float:
    """Return the seconds that looking at all words from one word takes here."""
    vectors = np.asarray(lexicon.vectors, np.float64)
    began = time.perf_counter()
    np.exp(-np.sqrt(np.abs(vectors[:_TIMED] @ vectors.T)))
    return (time.perf_counter() - began) / min(_TIMED, len(vectors))


def row_of(recipe: profile.Profile, lexicon: Lexicon) -> tuple[Row, pipeline.Pipeline]:
    """Calibrate a profile; return its row and what was made of it."""
    began = time.perf_counter()
    made = pipeline.build(recipe, lexicon)
    seconds = time.perf_counter() - began
    channel, epsilon = made.channel, made.budget.description.high
    promise = channel.module.guarantee(channel.state, epsilon)
    risk, _ = assemble.risk_of(made)
    deniable = assemble.deniability_of(made)
    loss = promise.worst(epsilon)
    row = Row(
        mechanism=channel.name,
        parameters=dataclasses.asdict(channel.params),
        space=recipe.space.name,
        mapping=None if recipe.mapping is None else recipe.mapping.name,
        epsilon=epsilon,
        unit=promise.unit,
        metric=promise.metric,
        notion=promise.notion,
        reason=promise.reason,
        delta=promise.delta,
        worst_loss=loss if math.isfinite(loss) else None,
        risk=risk,
        n_w=None if deniable is None else deniable.n_w,
        seconds=seconds,
    )
    return row, made


def _show(recipe: profile.Profile, target: float, rows: list[Row]) -> None:
    console = screen.console()
    found = [row for row in rows if row.skipped is None]
    if found:
        title = (
            f"Risk at most {target:.4g} of words as profile {recipe.name} replaces "
            f"them, space {recipe.space.name}"
        )
        console.print(_table(title, found))
    for row in rows:
        if row.skipped is not None:
            console.print(Text(f"{row.mechanism}: not calibrated: {row.skipped}"))
        elif row.reason:
            console.print(Text(f"{row.mechanism}: no guarantee: {row.reason}"))
    console.print(Text(LIMITS, style="dim"))


def _table(title: str, rows: list[Row]) -> Table:
    table = Table(box=None, padding=(0, 1), title=title, title_justify="left")
    for column in ("mechanism", "parameters"):
        table.add_column(column)
    for column in ("epsilon", "risk", "N_w", "worst loss, nats", "seconds"):
        table.add_column(column, justify="right")
    table.add_column("guarantee")
    for row in rows:
        table.add_row(*(Text(cell) for cell in _cells(row)))
    return table


def _cells(row: Row) -> list[str]:
    risk = row.risk
    shown = "not measured"
    if risk is not None:
        shown = figures.share(risk.success)
        if risk.low is not None:
            shown = f"{figures.share(risk.low)} to {shown}"
    settings = [
        f"{key}={_brief(value)}"
        for key, value in row.parameters.items()
        if value is not None and value != ()
    ]
    settings += [f"mapping {row.mapping}"] if row.mapping else []
    loss = "unbounded" if row.worst_loss is None else above(row.worst_loss)
    return [
        row.mechanism,
        ", ".join(settings),
        f"{row.epsilon:g} {row.unit}",
        shown,
        "" if row.n_w is None else figures.share(row.n_w),
        f"{loss}, but for delta {row.delta:g}" if row.delta else loss,
        f"{row.seconds:.1f}",
        row.notion,
    ]


def _brief(value: Any) -> str:
    """Write a setting; of a table only how long it is."""
    return f"{len(value)} pairs" if isinstance(value, tuple) else str(value)
