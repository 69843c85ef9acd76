"""How messages name options: in the words of the interface that shows them.

`option` and `noun` write for the interface of the block `shown_in`, by default the
command line; those of Python are in dptext.run.python. A message is worded where it is
made, so an error carries plain text.
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
    """The command line, or calls of Python that take some options as keywords.

    Python has the other options only in the command `dptext sanitize`.
    """

    #: Keywords by option; None on the command line.
    keywords: Mapping[str, str] | None = None
    is_table: bool = False

    @property
    def is_python(self) -> bool:
        """Tell whether calls of Python show the messages."""
        return self.keywords is not None

    def noun(self, name: str) -> str:
        """Write an option as the subject of a sentence."""
        if self.keywords is None:
            return f"--{name}"
        if self.is_table and name == "field":
            return "columns"
        keyword = self.keywords.get(name.removeprefix("no-"))  # of a flag
        return keyword or f"`dptext sanitize --{name}`"

    def repeated(self, name: str, values: Sequence[str]) -> str:
        """Say how one option names several values."""
        if self.is_python:
            return f"a list names several: {self.noun(name)}={list(values)!r}"
        each = " ".join(f"--{name} {value}" for value in values)
        return f"--{name} is repeated, once for each: {each}"

    def option(self, name: str, value: object = "") -> str:
        """Write an option with a value; a text in capitals stands for any."""
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
    """Return the value of a key that is written as JSON; others are text."""
    with contextlib.suppress(ValueError):
        return json.loads(setting)
    return setting


COMMAND_LINE = Interface()
_shown: ContextVar[Interface] = ContextVar("interface", default=COMMAND_LINE)


def current() -> Interface:
    """Return the interface that shows the messages of this block."""
    return _shown.get()


def option(name: str, value: object = "") -> str:
    """Write an option, with its value if there is one."""
    return _shown.get().option(name, value)


def noun(name: str) -> str:
    """Write an option as the subject of a sentence."""
    return _shown.get().noun(name)


@contextlib.contextmanager
def shown_in(interface: Interface) -> Iterator[None]:
    """Word the messages of a block for an interface."""
    token = _shown.set(interface)
    try:
        yield
    finally:
        _shown.reset(token)


def refuse(reasons: Mapping[str, object]) -> None:
    """Raise UsageError with the first of these reasons that holds."""
    for reason, holds in reasons.items():
        if holds:
            raise UsageError(reason)


def refuse_both(first: str, is_first: object, second: str, is_second: object) -> None:
    """Raise UsageError for two options of which only one may be given."""
    refuse({f"give {noun(first)} or {noun(second)}, not both": is_first and is_second})


def refuse_alone(name: str, is_given: object, other: str, is_other: object) -> None:
    """Raise UsageError for an option without the one that it is about."""
    about = f"{noun(name)} needs {noun(other)}: give both"
    refuse({about: is_given and not is_other})


def unit() -> str:
    """Name a part of a record: tables have columns, files fields."""
    return "column" if _shown.get().is_table else "field"
