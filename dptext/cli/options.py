"""From options to values, shared by commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dptext import choices
from dptext.choices import share as share
from dptext.errors import UsageError


def overrides(
    epsilon: float | None,
    epsilon_per_text: float | None,
    risk: str | None,
    mechanism: str | None,
    lexicon: str | None,
    settings: Sequence[str],
) -> dict[str, Any]:
    """Turn options into keys of a profile. Raises UsageError when they conflict."""
    over = choices.overrides(
        epsilon=epsilon,
        epsilon_per_text=epsilon_per_text,
        risk=risk,
        mechanism=mechanism,
        lexicon=lexicon,
        option=lambda name: f"--{name.replace('_', '-')}",
    )
    for setting in settings:
        _set(over, setting)
    return over


def _set(over: dict[str, Any], setting: str) -> None:
    path, equals, value = setting.partition("=")
    keys = path.split(".")
    if not equals or not all(keys):
        msg = f"--set {setting}: write KEY=VALUE, as in tokens.number=mask"
        raise UsageError(msg)
    import yaml

    inner = over
    for key in keys[:-1]:
        part = inner.setdefault(key, {})
        if not isinstance(part, dict):
            msg = f"--set {setting}: {key} has no keys of its own"
            raise UsageError(msg)
        inner = part
    try:
        inner[keys[-1]] = yaml.safe_load(value)
    except yaml.YAMLError:
        inner[keys[-1]] = value
