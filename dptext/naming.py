"""The name of a profile of which something was changed: it says what."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING

from dptext.types import JsonObject

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from dptext.profile import Part, Profile

_STAGES = ("mechanism", "space", "mapping", "budget", "decoder")
_NAMED = 4  # changes that a name lists
_LONGEST = 24  # characters of a value in a name


def named(base: Profile | None, profile: Profile) -> str:
    """Return the base's name with what differs, None where the base is none by itself.

    As in "balanced with mechanism=laplace, epsilon=4"; with more than a few changes it
    is "custom, from balanced".
    """
    changes = [] if base is None else list(_changes(base, profile))
    if base is None or len(changes) > _NAMED:
        return f"custom, from {profile.name}"
    return f"{profile.name} with {', '.join(changes)}" if changes else profile.name


def _changes(base: Profile, profile: Profile) -> Iterator[str]:
    """Yield what differs, each as KEY=VALUE."""
    if profile.lexicon != base.lexicon:
        yield f"lexicon={_spelled(profile.lexicon)}"
    if profile.strategy != base.strategy:
        yield f"strategy={profile.strategy}"
    old, new = base.parts(), profile.parts()
    for stage in filter(new.get, _STAGES):
        # Another mechanism writes its draws unless a decoder is named with it.
        if stage == "decoder" and new[stage].name == "none" and _other(old, new):
            continue
        yield from _changed_part(stage, old.get(stage), new[stage])
    before = base.tokens.settings()
    for key, value in profile.tokens.settings().items():
        if value != before.get(key):
            yield f"tokens.{key}={_spelled(value)}"


def _other(
    old: Mapping[str, Part[DataclassInstance]],
    new: Mapping[str, Part[DataclassInstance]],
) -> bool:
    """Tell whether the mechanism is another one."""
    before, now = old.get("mechanism"), new.get("mechanism")
    return before is None or now is None or before.name != now.name


def _changed_part(
    stage: str, base: Part[DataclassInstance] | None, part: Part[DataclassInstance]
) -> Iterator[str]:
    # Noise without a mapping gets the nearest word by itself.
    if base is None and part.name == "nearest":
        return
    same = base is not None and base.name == part.name
    if not same:
        yield f"{stage}={part.name}"
    before = dataclasses.asdict(base.params) if base and same else _defaults(part)
    for key, value in dataclasses.asdict(part.params).items():
        if key in before and value == before[key]:
            continue
        if stage == "budget" and key in ("epsilon", "risk"):
            if value is not None:
                yield f"{key}={100 * value:g}%" if key == "risk" else f"{key}={value:g}"
        else:
            yield f"{stage}.{key}={_spelled(value)}"


def _defaults(part: Part[DataclassInstance]) -> JsonObject:
    defaults = {}
    for each in dataclasses.fields(part.params):
        if each.default is not dataclasses.MISSING:
            defaults[each.name] = each.default
        elif each.default_factory is not dataclasses.MISSING:
            defaults[each.name] = each.default_factory()
    return defaults


def _spelled(value: object) -> str:
    """Write a value in a name: of a path its last part, nothing long."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    text = f"{value:g}" if isinstance(value, float) else str(value)
    text = PurePath(text).name if isinstance(value, str) else text
    return text if len(text) <= _LONGEST else "..."
