"""All option groups of a run."""

from __future__ import annotations

import dataclasses
import functools
import typing

from dptext.run import choices, selection
from dptext.run.marks import Needs, Option, find_mark
from dptext.run.work import Keys, LedgerUse, Outputs, Reports, Work

GROUPS = (selection.Selection, choices.Choices, Keys, LedgerUse, Outputs, Reports, Work)


@functools.cache
def options(group: type) -> tuple[tuple[str, Option, tuple[object, ...]], ...]:
    """Return a group's options: field, typed name, and all marks."""
    hints = typing.get_type_hints(group, include_extras=True)
    marks = {
        each.name: getattr(hints[each.name], "__metadata__", ())
        for each in dataclasses.fields(group)
    }
    declared = {name: find_mark(each, Option) for name, each in marks.items()}
    return tuple(
        (name, option, marks[name])
        for name, option in declared.items()
        if option is not None
    )


@functools.cache
def named(kind: type) -> tuple[str, ...]:
    """Return the names of all options with a mark, as users type them."""
    return tuple(
        sorted(
            option.spelled or name
            for group in GROUPS
            for name, option, marks in options(group)
            if find_mark(marks, kind) is not None
        )
    )


def needs(group: type) -> dict[str, Needs]:
    """Return what a group's options require of formats, by field."""
    marked = {name: find_mark(marks, Needs) for name, _, marks in options(group)}
    return {name: need for name, need in marked.items() if need is not None}


def given_needs(group: object, usual: object) -> dict[str, Needs]:
    """Return the requirements of options that differ from `usual`, by typed name.

    group and usual have the same class.
    """
    kind: type = type(group)
    spelled = {name: option.spelled or name for name, option, _ in options(kind)}
    return {
        spelled[name]: need
        for name, need in needs(kind).items()
        if getattr(group, name) != getattr(usual, name)
    }
