"""A calibrated mechanism in words: a row of a table, a line, a part of a profile."""

from __future__ import annotations

from dptext.guarantees.rounding import above
from dptext.report import figures
from dptext.report.calibration import Row


def line(row: Row) -> str:
    """Write a row in one line, as it is done."""
    if row.skipped is not None:
        return f"{row.mechanism}: not calibrated: {row.skipped}"
    _, _, epsilon, risk, _, loss, seconds, _ = cells(row)
    return (
        f"{row.mechanism}: epsilon {epsilon}, risk {risk}, worst loss {loss} nats "
        f"({seconds} s)"
    )


def cells(row: Row) -> list[str]:
    """Return a calibrated row for people: mechanism, parameters, epsilon, ..."""
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


def _brief(value: object) -> str:
    """Write a setting; of a table only how long it is."""
    return f"{len(value)} pairs" if isinstance(value, tuple) else str(value)
