"""From the choices of a run (epsilon, risk, mechanism) to keys of a profile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypedDict, Unpack

from dptext.errors import UsageError
from dptext.settings import share

if TYPE_CHECKING:
    from dptext.types import JsonObject


class Choices(TypedDict, total=False):
    """What may be chosen beside a profile."""

    epsilon: float | None
    epsilon_per_text: float | None
    risk: str | float | None
    mechanism: str | None
    decode: str | None
    lexicon: str | None
    keep_list: Sequence[str] | None
    mask_list: Sequence[str] | None
    form: Sequence[str] | None


def overrides(
    option: Callable[[str], str] = str, **chosen: Unpack[Choices]
) -> JsonObject:
    """Return keys of a profile; option writes a name as the user knows it.

    Raises UsageError for choices that conflict, or an epsilon that is none.
    """
    wanted = {name: value for name, value in chosen.items() if value is not None}
    spent = [name for name in ("epsilon", "epsilon_per_text", "risk") if name in wanted]
    if len(spent) > 1:
        raise UsageError(f"give only one of {', '.join(map(option, spent))}")
    over: JsonObject = {}
    if "mechanism" in wanted:
        over |= {"mechanism": {"name": wanted["mechanism"]}, "mapping": None}
    if "lexicon" in wanted:
        over["lexicon"] = wanted["lexicon"]
    if "decode" in wanted:
        over["decoder"] = {"name": wanted["decode"]}
    tokens: JsonObject = {
        key: {"files": wanted[name]}
        for key, name in (("keep", "keep_list"), ("mask", "mask_list"))
        if name in wanted
    }
    if "form" in wanted:
        tokens["forms"] = wanted["form"]
    if tokens:
        over["tokens"] = tokens
    for name in spent:
        over["budget"] = _budget(name, wanted[name], option(name))
    return over


def _budget(name: str, value: object, option: str) -> JsonObject:
    if name == "risk":
        return {"name": "uniform", "epsilon": None, "risk": share(value, option)}
    if not (isinstance(value, int | float) and 0 < value < float("inf")):
        raise UsageError(f"{option} {value!r}: give a finite number above 0")
    if name == "epsilon":
        return {"name": "uniform", "epsilon": float(value), "risk": None}
    return {"name": "per-text", "epsilon": float(value)}
