"""Options as Python keywords: names, types and values, from the declaration."""

from __future__ import annotations

import functools
import inspect
import os
import re
import textwrap
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from dptext.errors import UsageError
from dptext.run import choices, groups, marks, selection
from dptext.run.interface import Interface, noun
from dptext.run.work import Keys, LedgerUse, Outputs, Reports, Work

Group = TypeVar("Group")
Function = TypeVar("Function", bound=Callable[..., Any])

_NAMES = {str: "a text", bool: "True or False", int: "a number", float: "a number"}
_WIDTH = 80  # of lines of help
_SPELLED = {Path: "str | os.PathLike[str]", type(None): "None"}


@dataclass(frozen=True, slots=True)
class Keyword:
    """An option as a Python keyword."""

    name: str
    #: Its field in the group.
    field: str
    option: marks.Option
    #: Type of the field.
    kind: Any
    default: object

    @property
    def kinds(self) -> tuple[Any, ...]:
        """Return the types of the keyword's values."""
        return typing.get_args(self.kind) or (self.kind,)

    @property
    def is_list(self) -> bool:
        """Return whether the value is a list of names, or a single name."""
        return typing.get_origin(self.kind) is tuple

    @property
    def is_path(self) -> bool:
        """Return whether the value is a path."""
        return self.option.metavar in ("FILE", "FOLDER")

    @property
    def annotation(self) -> str:
        """Return the type annotation as code."""
        if self.is_list:
            return "str | Sequence[str]"
        names = [_SPELLED.get(each) or _spelled(each) for each in self.kinds]
        spelled = " | ".join(names)
        if self.is_path and "PathLike" not in spelled:
            return spelled.replace("str", _SPELLED[Path])
        if (values := getattr(self.option.parse, "values", None)) is not None:
            known = ", ".join(f'"{value}"' for value in values)
            return spelled.replace("str", f"Literal[{known}]")
        is_auto = getattr(self.option.parse, "auto", False)
        return f'{spelled} | Literal["auto"]' if is_auto else spelled

    def read(self, value: Any) -> Any:
        """Convert a keyword's value to its field's. Raises TypeError and UsageError."""
        shown = noun(self.option.name(self.field))
        if value is None and self.default is None:
            return None
        if self.is_list:
            return tuple(listed(value, shown))
        if self.is_path:
            if bytes not in self.kinds:
                path = to_path(value, shown)
                return Path(path) if Path in self.kinds else path
            if isinstance(value, bytes | bytearray):
                return bytes(value)
            return to_path(value, shown, "bytes or the path of a file")
        parse = self.option.parse
        # Numbers are parsed, also from text; for Python a bool is an int.
        is_flag = isinstance(value, bool) and bool not in self.kinds
        is_known = isinstance(parse, marks.Number) or isinstance(value, self.kinds)
        if is_flag or not is_known:
            known = " or ".join(filter(None, map(_NAMES.get, self.kinds)))
            raise TypeError(f"{shown}: give {known}, not {type(value).__name__}")
        try:
            return value if parse is None else parse(value)
        except marks.BadValue as error:
            raise UsageError(f"{shown} {error}") from None


def _spelled(kind: Any) -> str:
    """Return the name of a type, with the arguments of a generic type."""
    return kind.__name__ if isinstance(kind, type) else str(kind)


@functools.cache
def keywords(group: Any, interface: str = marks.PYTHON) -> tuple[Keyword, ...]:
    """Return a group's options that Python calls take, or those on tables."""
    hints, declared = typing.get_type_hints(group), {f.name: f for f in fields(group)}
    taken = []
    for name, option, each in groups.options(group):
        out = {mark.interface for mark in each if isinstance(mark, marks.NotIn)}
        if out & {interface, marks.PYTHON}:
            continue
        default: object = declared[name].default
        if default is MISSING or isinstance(default, tuple):
            default = option.usual
        keyword = Keyword(
            name=option.python or option.name(name).replace("-", "_"),
            field=name,
            option=option,
            kind=hints[name],
            default=default,
        )
        taken.append(keyword)
    return tuple(taken)


def fill(group: Callable[..., Group], values: Mapping[str, object]) -> Group:
    """Fill a group's options from keywords, ignoring keywords of other groups.

    Raises TypeError and UsageError.
    """
    return group(
        **{
            each.field: each.read(values[each.name])
            if each.name in values
            else each.default
            for each in keywords(group)
        }
    )


def named(several: Iterable[Keyword], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of those keywords that are given."""
    return {each.name: values[each.name] for each in several if each.name in values}


_CHOICES, _OF_TABLES = (
    keywords(choices.Choices),
    keywords(selection.Selection, marks.TABLE),
)
#: The keywords of calls, beside profile, overrides, columns.
OF_PROFILES = tuple(
    each for each in _CHOICES if each.name not in ("profile", "overrides")
)
CHOICES = (*OF_PROFILES, *keywords(Keys))
OF_TABLES = tuple(each for each in _OF_TABLES if each.name != "fields")
OF_FILES = tuple(
    each
    for group in (selection.Selection, Outputs, LedgerUse, Reports, Work)
    for each in keywords(group)
)
_OF_TEXTS = ("topics", "decode", "marks", "words", "keep_words")
OF_VECTORS = (
    *keywords(choices.Pooling),
    *keywords(choices.Noise),
    *(each for each in CHOICES if each.name not in _OF_TEXTS),
)


def _names(*several: Keyword) -> dict[str, str]:
    """Map options to keyword names."""
    return {each.option.name(each.field): each.name for each in several}


PYTHON = Interface(_names(*_CHOICES, *CHOICES, *OF_FILES, *OF_VECTORS))
TABLE = Interface(_names(*_CHOICES, *CHOICES, *_OF_TABLES), is_table=True)


def takes(*several: Keyword) -> Callable[[Function], Function]:
    """Replace a function's `**options` by these keywords, with their help."""

    def give(function: Function) -> Function:
        signature = inspect.signature(function)
        declared = [
            each
            for each in signature.parameters.values()
            if each.kind is not each.VAR_KEYWORD
        ]
        taken = {each.name for each in declared}
        more = [each for each in several if each.name not in taken]
        parameters = declared + [
            inspect.Parameter(
                each.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=each.default,
                annotation=each.annotation,
            )
            for each in more
        ]
        signature = signature.replace(parameters=parameters)

        @functools.wraps(function)
        def call(*args: Any, **named: Any) -> Any:
            bound = signature.bind(*args, **named)
            return function(*bound.args, **bound.kwargs)

        call.__signature__ = signature  # type: ignore[attr-defined]
        call.__doc__ = _with_help(inspect.getdoc(function) or "", more)
        return typing.cast(Function, call)

    return give


def _with_help(text: str, several: Iterable[Keyword]) -> str:
    """Add the help of keywords to a docstring, unless it describes them."""
    described = " ".join(re.findall(r"^- ([\w, ]+):", text, re.MULTILINE))
    lines = [text, ""]
    for each in several:
        if each.name not in re.findall(r"\w+", described):
            line = f"- {each.name}: {each.option.help}"
            line = re.sub("--([a-z-]+)", lambda option: PYTHON.noun(option[1]), line)
            lines += textwrap.wrap(line, _WIDTH, subsequent_indent="  ")
    return "\n".join(lines).rstrip()


def listed(names: object, shown: str) -> list[str]:
    """Return names as a list; a single name may stand alone. Raises TypeError."""
    is_one = isinstance(names, str) or not isinstance(names, Iterable)
    several: list[object] = [names] if is_one else list(typing.cast(Any, names))
    for name in several:
        if not isinstance(name, str):
            kind = type(name).__name__
            raise TypeError(f"{shown}: give a name or a list of names, not {kind}")
    return typing.cast("list[str]", several)


def to_path(path: object, shown: str, known: str = "a path") -> str:
    """Return a path as text. Raises TypeError for anything else."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"{shown}: give {known}, not {type(path).__name__}")
    return os.fspath(path)
