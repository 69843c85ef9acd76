"""From the choices of a run (epsilon, risk, mechanism) to keys of a profile."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from dptext.errors import UsageError

if TYPE_CHECKING:
    from dptext.types import JsonObject


def share(value: object, name: str) -> float:
    """Read a share: "10%", "0.1" or 0.1. Raises UsageError that names the option."""
    text = str(value)
    try:
        percent = text.endswith("%")
        number = float(text.rstrip("%")) / (100.0 if percent else 1.0)
    except ValueError:
        number = float("nan")
    if not 0.0 < number < 1.0:
        shown = text if len(text) <= 40 else f"{text[:40]}..."
        msg = f"{name} {shown}: give a share between 0 and 1, as in 10% or 0.1"
        raise UsageError(msg)
    return number


def overrides(
    *,
    epsilon: float | None = None,
    epsilon_per_text: float | None = None,
    risk: str | float | None = None,
    mechanism: str | None = None,
    lexicon: str | None = None,
    decode: str | None = None,
    option: Callable[[str], str] = str,
) -> JsonObject:
    """Return keys of a profile; option writes a name as the user knows it.

    Raises UsageError for choices that conflict, or an epsilon that is none.
    """
    budgets = {
        "epsilon": epsilon,
        "epsilon_per_text": epsilon_per_text,
        "risk": risk,
    }
    chosen = [name for name, value in budgets.items() if value is not None]
    if len(chosen) > 1:
        msg = f"give only one of {', '.join(map(option, chosen))}"
        raise UsageError(msg)
    over: JsonObject = {}
    if mechanism is not None:
        over["mechanism"] = {"name": mechanism}
        over["mapping"] = None
    if decode is not None:
        over["decoder"] = {"name": decode}
    if lexicon is not None:
        over["lexicon"] = lexicon
    for name in chosen:
        over["budget"] = _budget(name, budgets[name], option(name))
    return over


def _budget(name: str, value: object, option: str) -> JsonObject:
    if name == "risk":
        return {"name": "uniform", "epsilon": None, "risk": share(value, option)}
    if not (isinstance(value, int | float) and 0 < value < float("inf")):
        msg = f"{option} {value!r}: give a finite number above 0"
        raise UsageError(msg)
    if name == "epsilon":
        return {"name": "uniform", "epsilon": value, "risk": None}
    return {"name": "per-text", "epsilon": value}
