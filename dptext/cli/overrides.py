"""From options to what is laid over the keys of a profile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

from dptext.errors import UsageError

if TYPE_CHECKING:
    from dptext.profile import Choices
    from dptext.types import JsonObject


def overrides(
    settings: Sequence[str] | None = None, **chosen: Unpack[Choices]
) -> JsonObject:
    """Turn options into keys of a profile; settings are those of --set.

    Raises UsageError when they conflict.
    """
    from dptext import profile

    set_: JsonObject = {}
    for setting in settings or ():
        _set(set_, setting)
    return profile.overrides_of(
        set_, lambda name: f"--{name.replace('_', '-')}", **chosen
    )


def _set(over: JsonObject, setting: str) -> None:
    path, equals, value = setting.partition("=")
    *parents, key = path.split(".")
    if not equals or not all((*parents, key)):
        raise UsageError(f"--set {setting}: write KEY=VALUE, as in tokens.number=mask")
    import yaml

    inner = over
    for parent in parents:
        part = inner.setdefault(parent, {})
        if not isinstance(part, dict):
            raise UsageError(f"--set {setting}: {parent} has no keys of its own")
        inner = part
    try:
        inner[key] = yaml.safe_load(value)
    except (yaml.YAMLError, RecursionError):
        inner[key] = value
