"""Plain data, as read from YAML or JSON, turned into settings: frozen dataclasses."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar

import msgspec

from dptext import registry
from dptext.errors import UsageError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Settings = TypeVar("Settings", bound="DataclassInstance")


def convert(
    data: object, kind: type[Settings], location: str, beside: tuple[str, ...] = ()
) -> Settings:
    """Check plain data against a frozen dataclass; refuse keys that it lacks.

    location names the data in messages; beside are keys that stand beside these.
    """
    if not isinstance(data, Mapping):
        raise UsageError(f"{location}: give keys and values")
    known = tuple(field.name for field in dataclasses.fields(kind))
    for key in data:
        if key not in known:
            near = (*beside, *known)
            hint = registry.suggest(str(key), near) if near else "it has no parameters"
            raise UsageError(f"{location}.{key}: unknown key; {hint}")
    for key, value in data.items():
        if isinstance(value, float) and not abs(value) < float("inf"):
            raise UsageError(f"{location}.{key}: {value} is no finite number")
    plain = {key: _number(value) for key, value in data.items()}
    try:
        return msgspec.convert(plain, kind)
    except msgspec.ValidationError as error:
        reason, _, path = str(error).partition(" - at `$")
        raise UsageError(f"{location}{path.rstrip('`')}: {reason}") from None
    except UnicodeEncodeError:
        raise UsageError(f"{location}: not UTF-8 text") from None


def _number(value: object) -> object:
    """Read "10%" as 0.1."""
    if isinstance(value, str) and value.endswith("%"):
        try:
            return float(value[:-1]) / 100.0
        except ValueError:
            return value
    return value


def share(value: object, name: str) -> float:
    """Read a share: "20%", "0.2" or 0.2. Raises UsageError for what is none: 20, 120%.

    name says in the message what is read.
    """
    text = str(value).strip()
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        number = math.nan
    fraction = number / 100.0 if text.endswith("%") else number
    if 0.0 < fraction < 1.0 and not isinstance(value, bool):
        return fraction
    meant = "20% or 0.2"
    if 1.0 <= number < 100.0:
        meant = f"{number:g}% or {number / 100.0:g}"
    shown = text if len(text) <= 40 else f"{text[:40]}..."
    raise UsageError(f"{name} {shown}: give a share between 0 and 1, as in {meant}")
