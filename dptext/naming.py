"""The name of a profile of which something was changed: it says what."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dptext.profile import Part, Profile

STAGES = ("mechanism", "space", "mapping", "budget")
_NAMED = 4  # changes that a name lists
_LONGEST = 24  # characters of a value in a name


def named(base: Profile | None, found: Profile) -> str:
    """Return the base's name with what differs, None where the base is none by itself.

    As in "balanced with mechanism=laplace, epsilon=4"; with more than a few changes it
    is "custom, from balanced".
    """
    changes = [] if base is None else list(_changes(base, found))
    if base is None or len(changes) > _NAMED:
        return f"custom, from {found.name}"
    return f"{found.name} with {', '.join(changes)}" if changes else found.name


def _changes(base: Profile, found: Profile) -> Iterator[str]:
    """Yield what differs, each as KEY=VALUE."""
    if found.lexicon != base.lexicon:
        yield f"lexicon={_spelled(found.lexicon)}"
    if found.strategy != base.strategy:
        yield f"strategy={found.strategy}"
    for stage in STAGES:
        yield from _changed_part(stage, getattr(base, stage), getattr(found, stage))
    before = dataclasses.asdict(base.tokens)
    for key, value in dataclasses.asdict(found.tokens).items():
        if value != before[key]:
            yield f"tokens.{key}={_spelled(value)}"


def _changed_part(stage: str, base: Part | None, found: Part | None) -> Iterator[str]:
    # A mechanism with a mapping is given the nearest word by itself.
    if found is None or (base is None and found.name == "nearest"):
        return
    same = base is not None and base.name == found.name
    if not same:
        yield f"{stage}={found.name}"
    before = dataclasses.asdict(base.params) if base and same else _defaults(found)
    for key, value in dataclasses.asdict(found.params).items():
        if key in before and value == before[key]:
            continue
        if stage == "budget" and key in ("epsilon", "risk"):
            if value is not None:
                yield f"{key}={100 * value:g}%" if key == "risk" else f"{key}={value:g}"
        else:
            yield f"{stage}.{key}={_spelled(value)}"


def _defaults(part: Part) -> dict[str, Any]:
    out = {}
    for each in dataclasses.fields(part.params):
        if each.default is not dataclasses.MISSING:
            out[each.name] = each.default
        elif each.default_factory is not dataclasses.MISSING:
            out[each.name] = each.default_factory()
    return out


def _spelled(value: Any) -> str:
    """Write a value in a name: of a path its last part, nothing long."""
    text = PurePath(value).name if isinstance(value, str) else str(_plain(value))
    return text if len(text) <= _LONGEST else "..."


def _plain(value: Any) -> Any:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    return f"{value:g}" if isinstance(value, float) else value
