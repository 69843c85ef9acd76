"""What is known of a setting beside its type and default: help, spelling, uses."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

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
    """An option of a command, or an argument of Python."""

    help: str
    #: Heading in the help; "" for that of a command.
    heading: str = ""
    #: Reads a value that was typed; it raises BadValue.
    parse: Callable[[Any], Any] | None = None
    #: Turns all typed values of a repeatable option into the value of its field.
    collect: Callable[[Any], Any] | None = None
    #: Values of a repeatable option that is not typed.
    usual: tuple[Any, ...] = ()
    #: The value in the help; flags have none.
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
        """Return the option of a field, without dashes before it."""
        return self.spelled or field.replace("_", "-")


@dataclass(frozen=True, slots=True)
class Needs:
    """A property of formats without which a setting means nothing."""

    #: Attribute of dptext.formats.Format.
    quality: str
    reason: str
    #: A format with the property, where users may have meant one.
    example: str = ""


class Writes:
    """Marks a setting that names a file to write."""


class Names:
    """Marks a setting whose text is never the name of a file to read."""


@dataclass(frozen=True, slots=True)
class ByFile:
    """Marks a setting that configuration files and variables may set."""

    #: Whether the value is a path, by the value itself and the path in its folder.
    is_path: Callable[[str, Path], bool] | None = None


class ByVariable:
    """Marks a secret that a variable may name, but no file that others share."""


#: Interfaces beside the command line: configuration files, calls of Python, and calls
#: for tables in memory.
FILE, PYTHON, TABLE = "file", "python", "table"


@dataclass(frozen=True, slots=True)
class NotIn:
    """Marks a setting that an interface does not have."""

    interface: str
    reason: str


def find_mark(marks: Iterable[object], *kinds: type[Mark]) -> Mark | None:
    """Return the mark of one of the kinds, if there is one."""
    return next((mark for mark in marks if isinstance(mark, kinds)), None)
