"""Metadata of a setting other than type and default: help, spelling, uses."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from dptext import registry, streams
from dptext.errors import UsageError

Mark = TypeVar("Mark")

# Headings of the help, in the words of the docs.
INPUT = "Input"
LAYOUT = "CSV, TSV and encodings"
RECORDS = "Records"
GUARANTEE = "Guarantee"
KEYS = "Keys and repeatable runs"
LEDGER = "Ledger"
MEASURES = "Measures"
OUTPUT = "Output and report"
FOLDERS = "Many files and Spark"


@dataclass(frozen=True, slots=True)
class Option:
    """A command-line option, or Python argument."""

    help: str
    #: Heading in the help; "" for that of a command.
    heading: str = ""
    #: Reads a value that was typed; it raises BadValue.
    parse: Callable[[Any], Any] | None = None
    #: Turns all typed values of a repeatable option into the value of its field.
    collect: Callable[[Any], Any] | None = None
    #: Values of a repeatable option that is not typed.
    usual: tuple[Any, ...] = ()
    #: The value in the help, else that of its parser; flags have none.
    metavar: str = ""
    #: As in "-f".
    short: str = ""
    #: The option without dashes, where the field has another name.
    spelled: str = ""
    #: The keyword of Python, where it is not the option with underscores.
    python: str = ""
    #: Whether only --help-all shows it.
    hidden: bool = False

    def name(self, field: str) -> str:
        """Return a field's option name, without leading dashes."""
        return self.spelled or field.replace("_", "-")


@dataclass(frozen=True, slots=True)
class Needs:
    """A property of formats that a setting requires."""

    #: Attribute of dptext.formats.Format.
    quality: str
    reason: str
    #: A format with the property, where users may have meant one.
    example: str = ""


class Writes:
    """Marks a setting that names a file to write."""


class Names:
    """Marks a setting whose text never names a file to read."""


@dataclass(frozen=True, slots=True)
class ByFile:
    """Marks a setting that configuration files and variables may set."""

    #: Whether the value is a path, by the value itself and the path in its folder.
    is_path: Callable[[str, Path], bool] | None = None


class ByVariable:
    """Marks a secret that a variable may name, but no shared file."""


#: Interfaces beside the command line: configuration files, calls of Python, and calls
#: for tables in memory.
FILE, PYTHON, TABLE = "file", "python", "table"


@dataclass(frozen=True, slots=True)
class NotIn:
    """Marks a setting that an interface lacks."""

    interface: str
    reason: str


def find_mark(marks: Iterable[object], *kinds: type[Mark]) -> Mark | None:
    """Return the first mark of one of these kinds, or None."""
    return next((mark for mark in marks if isinstance(mark, kinds)), None)


# Beyond any file, machine or epsilon; larger integers overflow in counters.
LARGEST = 2**62
MOST_JOBS = 256
_LONGEST = 40  # characters of a value that a message quotes
_DELIMITERS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}


class BadValue(UsageError):
    """An option rejects a value; the message begins with the value."""


@dataclass(frozen=True, kw_only=True)
class Number:
    """Parser of an option for numbers in a range."""

    kind: type[int] | type[float]
    #: Least number; None for any.
    low: float | None = None
    #: Largest number; None for any.
    high: float | None = None
    #: Whether low itself is excluded.
    above: bool = False
    #: Whether "auto" stands for the number of cores.
    auto: bool = False
    #: Typer before 0.29 asks every parser for its name.
    __name__ = "NUMBER"

    def __call__(self, value: str | float) -> float:
        """Parse a number. Raises BadValue."""
        if self.auto and value == "auto":
            return cores()
        most = LARGEST if self.kind is int else sys.float_info.max
        low = -most if self.low is None else self.low
        high = most if self.high is None else self.high
        with contextlib.suppress(ValueError, TypeError):
            number = self.kind(value)
            is_whole = isinstance(value, str) or number == value
            is_above = number > low if self.above else number >= low
            if is_whole and is_above and number <= high:
                return number
        shown = str(value)
        shown = shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}..."
        raise BadValue(f"{shown}: give {self.accepted}")

    @property
    def accepted(self) -> str:
        """Describe the range, as in "an integer from 1 to 256"."""
        range_, style = "a number", ".12g"
        if self.kind is int:
            range_, style = "an integer", ",d"
        if self.low is not None and self.high is not None:
            range_ += f" from {self.low:{style}} to {self.high:{style}}"
        elif self.low is not None:
            word = "above" if self.above else "of at least"
            range_ += f" {word} {self.low:{style}}"
        return f"{range_}, or auto" if self.auto else range_


@dataclass(frozen=True)
class OneOf:
    """Parser of an option with a fixed set of values."""

    values: tuple[str, ...]
    __name__ = "NAME"

    def __call__(self, value: str) -> str:
        """Return the value if it is allowed. Raises BadValue."""
        if value not in self.values:
            *others, last = self.values
            known = " or ".join(filter(None, (", ".join(others), last)))
            raise BadValue(f"{value}: choose {known}")
        return value


def one_of(*values: str) -> OneOf:
    """Return a parser for a fixed set of values."""
    return OneOf(values)


def parse_delimiter(value: str) -> str:
    """Parse a delimiter or its name. Raises BadValue."""
    delimiter = _DELIMITERS.get(value.lower(), value)
    if len(delimiter) != 1 or delimiter in '"\r\n':
        names = ", ".join(name for name in _DELIMITERS if name.isalpha())
        raise BadValue(
            f"{value}: give one character, not a quote or a line end, or {names}"
        )
    return delimiter


def parse_encoding(value: str) -> str | None:
    """Parse the name of an encoding; None for UTF-8. Raises BadValue."""
    try:
        return streams.known_encoding(value)
    except UsageError as error:
        raise BadValue(str(error)) from None


def parse_format(name: str) -> str:
    """Parse the name of a record format. Raises BadValue."""
    return one_of(*registry.names("formats"))(name)


def cores() -> int:
    """Return the number of cores available to this process."""
    try:
        number = len(os.sched_getaffinity(0))
    except AttributeError:  # no such call on this system
        number = os.cpu_count() or 1
    return min(number, MOST_JOBS)
