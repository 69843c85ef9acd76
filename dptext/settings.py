"""Plain data, as read from YAML or JSON, turned into settings: frozen dataclasses."""

from __future__ import annotations

import dataclasses
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


def _number(value: object) -> object:
    """Read "10%" as 0.1."""
    if isinstance(value, str) and value.endswith("%"):
        try:
            return float(value[:-1]) / 100.0
        except ValueError:
            return value
    return value
