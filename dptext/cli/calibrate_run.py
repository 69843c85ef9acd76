"""What `dptext calibrate` does with its options."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dptext import lexicons, pipeline, profile, registry
from dptext.adversaries.bayes import LIMITS, Risk
from dptext.errors import UsageError
from dptext.guarantees.wording import above
from dptext.report import assemble
from dptext.types import Lexicon


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
    if getattr(recipe.budget.params, "risk", None) is None:
        msg = "calibrate chooses epsilon itself: leave the budget's settings out"
        raise UsageError(msg)
    lexicon = lexicons.find(recipe.lexicon)
    rows = list(_every(name, over, lexicon)) if every else [_row(recipe, lexicon)]
    target = recipe.budget.params.risk
    if as_json:
        data = {
            "profile": recipe.name,
            "target": target,
            "lexicon": lexicon.name,
            "lexicon_digest": lexicon.digest,
            "rows": rows,
        }
        print(msgspec.json.format(msgspec.json.encode(data), indent=2).decode())  # noqa: T201
    else:
        _show(recipe, target, rows)


def _every(name: str, over: dict[str, Any], lexicon: Lexicon) -> Iterator[Row]:
    for each in registry.names("mechanisms"):
        own = dict(over.get("mechanism") or {})
        given = {**over, "mechanism": {**own, "name": each}, "mapping": None}
        try:
            if registry.find("mechanisms", each).FAMILY == "context":
                msg = "it looks at the whole text, and the ruler measures one word"
                raise UsageError(msg)
            yield _row(profile.load(name, given), lexicon)
        except UsageError as error:
            yield Row(each, {}, skipped=str(error))


def _row(recipe: profile.Profile, lexicon: Lexicon) -> Row:
    began = time.perf_counter()
    made = pipeline.build(recipe, lexicon)
    seconds = time.perf_counter() - began
    channel, epsilon = made.channel, made.spending.high
    promise = channel.module.guarantee(channel.state, epsilon)
    risk, _ = assemble.risk_of(made)
    deniable = assemble.deniability_of(made)
    loss = epsilon * promise.reach
    return Row(
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


def _show(recipe: profile.Profile, target: float, rows: list[Row]) -> None:
    console = Console()
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
        shown = f"{risk.success:.2%}"
        if risk.low is not None:
            shown = f"{risk.low:.2%} to {shown}"
    settings = [f"{key}={value}" for key, value in row.parameters.items()]
    settings += [f"mapping {row.mapping}"] if row.mapping else []
    loss = "unbounded" if row.worst_loss is None else above(row.worst_loss)
    return [
        row.mechanism,
        ", ".join(settings),
        f"{row.epsilon:g} {row.unit}",
        shown,
        "" if row.n_w is None else f"{row.n_w:.3f}",
        f"{loss}, but for delta {row.delta:g}" if row.delta else loss,
        f"{row.seconds:.1f}",
        row.notion,
    ]
