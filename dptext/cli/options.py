"""From options to values, shared by commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dptext.errors import UsageError


def share(given: str, name: str) -> float:
    """Read a share: "10%" or "0.1". Raises UsageError that names the option."""
    try:
        percent = given.endswith("%")
        value = float(given.rstrip("%")) / (100.0 if percent else 1.0)
    except ValueError:
        value = float("nan")
    if not 0.0 < value < 1.0:
        msg = f"{name}: give a share between 0 and 1, as in 10% or 0.1"
        raise UsageError(msg)
    return value


def overrides(
    epsilon: float | None,
    epsilon_per_text: float | None,
    risk: str | None,
    mechanism: str | None,
    lexicon: str | None,
    settings: Sequence[str],
) -> dict[str, Any]:
    """Turn options into keys of a profile. Raises UsageError when they conflict."""
    given = {
        "--epsilon": epsilon,
        "--epsilon-per-text": epsilon_per_text,
        "--risk": risk,
    }
    chosen = [name for name, value in given.items() if value is not None]
    if len(chosen) > 1:
        msg = f"give only one of {', '.join(chosen)}"
        raise UsageError(msg)
    over: dict[str, Any] = {}
    if mechanism is not None:
        over["mechanism"] = {"name": mechanism}
        over["mapping"] = None
    if lexicon is not None:
        over["lexicon"] = lexicon
    if epsilon is not None:
        over["budget"] = {"name": "uniform", "epsilon": epsilon, "risk": None}
    if epsilon_per_text is not None:
        over["budget"] = {"name": "per-text", "epsilon": epsilon_per_text}
    if risk is not None:
        wanted = share(risk, "--risk")
        over["budget"] = {"name": "uniform", "epsilon": None, "risk": wanted}
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
        found = inner.setdefault(key, {})
        if not isinstance(found, dict):
            msg = f"--set {setting}: {key} has no keys of its own"
            raise UsageError(msg)
        inner = found
    try:
        inner[keys[-1]] = yaml.safe_load(value)
    except yaml.YAMLError:
        inner[keys[-1]] = value
