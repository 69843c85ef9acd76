"""How messages name options, in the style of the current interface.

`option` and `noun` use the interface set by `shown_in`, by default the
command line; Python's is in dptext.run.python. A message is worded where it is
created, so an error contains plain text.
"""

from __future__ import annotations

import contextlib
import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass

from dptext.errors import UsageError


@dataclass(frozen=True, slots=True)
class Interface:
    """The command line, or Python calls that take some options as keywords.

    In Python, the other options exist only in the command `dptext sanitize`.
    """

    #: Keywords by option; None on the command line.
    keywords: Mapping[str, str] | None = None
    is_table: bool = False

    @property
    def is_python(self) -> bool:
        """Return whether messages are for Python callers."""
        return self.keywords is not None

    def noun(self, name: str) -> str:
        """Name an option as the subject of a sentence."""
        if self.keywords is None:
            return f"--{name}"
        if self.is_table and name == "field":
            return "columns"
        keyword = self.keywords.get(name.removeprefix("no-"))  # of a flag
        return keyword or f"`dptext sanitize --{name}`"

    def repeated(self, name: str, values: Sequence[str]) -> str:
        """Describe how one option names several values."""
        if self.is_python:
            return f"a list names several: {self.noun(name)}={list(values)!r}"
        each = " ".join(f"--{name} {value}" for value in values)
        return f"give --{name} once for each value: {each}"

    def option(self, name: str, value: object = "") -> str:
        """Format an option with a value; upper-case text is a placeholder."""
        text = str(value)
        typed = " ".join((f"--{name}", *([shlex.quote(text)] if text else ())))
        if self.keywords is None:
            return typed
        if name.startswith("no-"):
            name, value, text = name.removeprefix("no-"), False, "False"
        if name not in self.keywords:
            return f"`dptext sanitize {typed}`"
        key, equals, setting = text.partition("=")
        if equals:  # of a profile
            shown = repr(_read(setting))
            for part in reversed(key.split(".")):
                shown = f"{{{part!r}: {shown}}}"
        else:
            shown = "" if not text or text.isupper() else repr(value)
        return f"{self.noun(name)}={shown}"


def _read(setting: str) -> object:
    """Parse a key's value as JSON, or return it as text."""
    with contextlib.suppress(ValueError):
        return json.loads(setting)
    return setting


COMMAND_LINE = Interface()
_shown: ContextVar[Interface] = ContextVar("interface", default=COMMAND_LINE)


def current() -> Interface:
    """Return the interface for messages in the current block."""
    return _shown.get()


def option(name: str, value: object = "") -> str:
    """Format an option, with its value if given."""
    return _shown.get().option(name, value)


def noun(name: str) -> str:
    """Name an option as the subject of a sentence."""
    return _shown.get().noun(name)


@contextlib.contextmanager
def shown_in(interface: Interface) -> Iterator[None]:
    """Use an interface for messages in a block."""
    token = _shown.set(interface)
    try:
        yield
    finally:
        _shown.reset(token)


def refuse(reasons: Mapping[str, object]) -> None:
    """Raise UsageError with the first applicable reason."""
    for reason, holds in reasons.items():
        if holds:
            raise UsageError(reason)


def refuse_both(first: str, is_first: object, second: str, is_second: object) -> None:
    """Raise UsageError if both of two exclusive options are given."""
    refuse({f"give {noun(first)} or {noun(second)}, not both": is_first and is_second})


def refuse_alone(name: str, is_given: object, other: str, is_other: object) -> None:
    """Raise UsageError if an option is given without the option it needs."""
    about = f"{noun(name)} needs {noun(other)}: give both"
    refuse({about: is_given and not is_other})


def unit() -> str:
    """Return the noun for a part of a record: column for tables, field for files."""
    return "column" if _shown.get().is_table else "field"
