"""All groups of options of a run."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Iterator

from dptext.run.choices import Choices
from dptext.run.files import Outputs, Reports
from dptext.run.marks import Needs, Option, find_mark
from dptext.run.selection import Selection
from dptext.run.work import Keys, LedgerUse, Work

GROUPS = (Selection, Choices, Keys, LedgerUse, Outputs, Reports, Work)


def options(group: type) -> Iterator[tuple[str, Option, tuple[object, ...]]]:
    """Yield the options of a group: its field, how it is typed, and all marks."""
    hints = typing.get_type_hints(group, include_extras=True)
    for each in dataclasses.fields(group):
        marks = getattr(hints[each.name], "__metadata__", ())
        option = find_mark(marks, Option)
        if option is not None:
            yield each.name, option, marks


def named(kind: type) -> tuple[str, ...]:
    """Return the names of all options with a mark, as users spell them."""
    return tuple(
        sorted(
            option.spelled or name
            for group in GROUPS
            for name, option, marks in options(group)
            if find_mark(marks, kind) is not None
        )
    )


def needs(group: type) -> dict[str, Needs]:
    """Return what formats need for the options of a group, by field."""
    marked = {name: find_mark(marks, Needs) for name, _, marks in options(group)}
    return {name: need for name, need in marked.items() if need is not None}


def given_needs(group: object, usual: object) -> dict[str, Needs]:
    """Return the needs of the options that differ from usual ones, as users spell them.

    group, usual: of one class.
    """
    spelled = {name: option.spelled or name for name, option, _ in options(type(group))}
    return {
        spelled[name]: need
        for name, need in needs(type(group)).items()
        if getattr(group, name) != getattr(usual, name)
    }
