"""From options to what is laid over the keys of a profile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

from dptext import choices
from dptext.errors import UsageError

if TYPE_CHECKING:
    from dptext.types import JsonObject


def overrides(
    settings: Sequence[str] | None = None, **chosen: Unpack[choices.Choices]
) -> JsonObject:
    """Turn options into keys of a profile; settings are those of --set.

    Raises UsageError when they conflict.
    """
    over = choices.overrides(lambda name: f"--{name.replace('_', '-')}", **chosen)
    for setting in settings or ():
        _set(over, setting)
    return over


def _set(over: JsonObject, setting: str) -> None:
    path, equals, value = setting.partition("=")
    *parents, key = path.split(".")
    if not equals or not all((*parents, key)):
        raise UsageError(f"--set {setting}: write KEY=VALUE, as in tokens.number=mask")
    import yaml

    from dptext.profile import DEFAULTS

    inner = over
    for parent in parents:
        if inner.get(parent, {}) is None:  # the mapping of another mechanism
            inner[parent] = {"name": DEFAULTS[parent]}
        part = inner.setdefault(parent, {})
        if not isinstance(part, dict):
            raise UsageError(f"--set {setting}: {parent} has no keys of its own")
        inner = part
    try:
        inner[key] = yaml.safe_load(value)
    except (yaml.YAMLError, RecursionError):
        inner[key] = value
