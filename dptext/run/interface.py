"""How messages name options: in the words of the interface that shows them.

`option` and `noun` write for the interface of the block `shown_in`, by default the
command line. A message is worded where it is made, so an error carries plain text.
"""

from __future__ import annotations

import contextlib
import json
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from dptext.errors import UsageError

#: Arguments of the functions of Python, by the option that does the same. Other options
#: are those of `dptext sanitize` alone.
ARGUMENTS = {
    "field": "fields",
    "id": "id",
    "missing": "missing",
    "drop": "drop",
    "pseudonym": "pseudonym",
    "format": "format",
    "encoding": "encoding",
    "on-error": "on_error",
    "out-dir": "out_dir",
    "jobs": "jobs",
    "profile": "profile",
    "risk": "risk",
    "epsilon": "epsilon",
    "mechanism": "mechanism",
    "lexicon": "lexicon",
    "topics": "topics",
    "decode": "decode",
    "key-file": "key",
    "set": "overrides",
    "pool": "pool",
    "model": "model",
    "mu": "mu",
    "clip": "clip",
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
        if name not in ARGUMENTS:
            return f"`dptext sanitize --{name}`"
        argument = ARGUMENTS[name]
        return "columns" if self.is_table and argument == "fields" else argument

    def repeated(self, name: str, values: Sequence[str]) -> str:
        """Say how one option names several values."""
        if self.is_python:
            return f"a list names several: {self.noun(name)}={list(values)!r}"
        each = " ".join(f"--{name} {value}" for value in values)
        return f"--{name} is repeated, once for each: {each}"

    def option(self, name: str, value: str = "") -> str:
        """Write an option with a value; one in capitals stands for any."""
        typed = " ".join((f"--{name}", *([shlex.quote(value)] if value else ())))
        if not self.is_python:
            return typed
        if name not in ARGUMENTS:
            return f"`dptext sanitize {typed}`"
        key, equals, setting = value.partition("=")
        if equals:  # of a profile
            shown = repr(_read(setting))
            for part in reversed(key.split(".")):
                shown = f"{{{part!r}: {shown}}}"
        else:
            shown = repr(value) if value and not value.isupper() else ""
        return f"{self.noun(name)}={shown}"


def _read(setting: str) -> object:
    """Return the value of a key that is written as JSON; others are text."""
    with contextlib.suppress(ValueError):
        return json.loads(setting)
    return setting


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


def unit() -> str:
    """Name a part of a record: tables have columns, files fields."""
    return "column" if _shown.get().is_table else "field"
