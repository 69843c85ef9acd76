"""How messages name options: in the words of the interface that shows them.

`option` and `noun` write for the interface of the block `shown_in`, by default the
command line. A message is worded where it is made, so an error carries plain text.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from dptext.errors import UsageError

# The argument of Python for an option that has another name there; None: there is no
# such argument, and `dptext sanitize` has the option.
ARGUMENTS = {
    "field": "fields",
    "key-file": "key",
    "set": "overrides",
}


@dataclass(frozen=True, slots=True)
class Interface:
    """The command line, or functions of Python; of a table fields are columns."""

    is_python: bool = False
    is_table: bool = False

    def noun(self, name: str) -> str:
        """Write an option as the subject of a sentence."""
        if not self.is_python:
            return f"--{name}"
        argument = ARGUMENTS.get(name, name).replace("-", "_")
        return "columns" if self.is_table and argument == "fields" else argument

    def option(self, name: str, value: str = "") -> str:
        """Write an option with a value; one in capitals stands for any."""
        if not self.is_python:
            return f"--{name} {value}".rstrip()
        shown = f"'{value}'" if value and not value.isupper() else ""
        return f"{self.noun(name)}={shown}"


COMMAND_LINE = Interface()
PYTHON = Interface(is_python=True)
TABLE = Interface(is_python=True, is_table=True)
_shown: ContextVar[Interface] = ContextVar("interface", default=COMMAND_LINE)


def current() -> Interface:
    """Return the interface that shows the messages of this block."""
    return _shown.get()


def option(name: str, value: str = "") -> str:
    """Write an option, with its value if there is one."""
    return _shown.get().option(name, value)


def noun(name: str) -> str:
    """Write an option as the subject of a sentence."""
    return _shown.get().noun(name)


@contextmanager
def shown_in(interface: Interface) -> Iterator[None]:
    """Word the messages of a block for an interface."""
    token = _shown.set(interface)
    try:
        yield
    finally:
        _shown.reset(token)


def refuse_both(first: str, is_first: object, second: str, is_second: object) -> None:
    """Raise UsageError for two options of which only one may be given."""
    if is_first and is_second:
        raise UsageError(f"give {noun(first)} or {noun(second)}, not both")
