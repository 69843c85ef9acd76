"""What an option admits, and what is said of a value that it does not."""

from __future__ import annotations

import contextlib
import os
import sys
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer

# What no file, machine or epsilon comes near; larger integers break what counts them.
LARGEST = 2**62
MOST_JOBS = 256


class BadValue(typer.BadParameter):
    """A value that an option does not admit; the message begins with the value."""


class Number:
    """The numbers from low to high (None: any); above: without low itself.

    An instance reads a number, as the parser of an option. other is a word that stands
    for a number: the function returns it.
    """

    def __init__(
        self,
        kind: type[int] | type[float],
        low: float | None = None,
        high: float | None = None,
        *,
        above: bool = False,
        other: tuple[str, Callable[[], int]] | None = None,
    ) -> None:
        self.kind, self.low, self.high = kind, low, high
        self._above, self._other = above, other
        name = "INTEGER" if kind is int else "NUMBER"
        self.__name__ = name if other is None else f"{name}|{other[0]}"

    def __call__(self, value: str | float) -> float:
        """Return the number that is written. Raises BadValue."""
        if self._other is not None and value == self._other[0]:
            return self._other[1]()
        most = LARGEST if self.kind is int else sys.float_info.max
        low = -most if self.low is None else self.low
        high = most if self.high is None else self.high
        with contextlib.suppress(ValueError):
            number = self.kind(value)
            if low <= number <= high and not (self._above and number == low):
                return number
        shown = str(value)
        shown = shown if len(shown) <= 40 else f"{shown[:40]}..."
        raise BadValue(f"{shown}: give {self.accepted}")

    @property
    def accepted(self) -> str:
        """Say what is accepted, as in "an integer from 1 to 256"."""
        said = "an integer" if self.kind is int else "a number"
        if self.low is not None and self.high is not None and not self._above:
            said += f" from {self.low:.12g} to {self.high:.12g}"
        elif self.low is not None:
            said += f" {'above' if self._above else 'of at least'} {self.low:.12g}"
        return said if self._other is None else f"{said}, or {self._other[0]}"


def one_of(*values: str) -> Callable[[str], str]:
    """Return the parser of an option that takes one of some values."""

    def text(value: str) -> str:
        if value not in values:
            raise BadValue(f"{value}: choose {', '.join(values[:-1])} or {values[-1]}")
        return value

    return text


def known_format(name: str) -> str:
    """Read the name of a format of records. Raises BadValue."""
    from dptext import registry

    return one_of(*registry.names("formats"))(name)


def encoding(name: str) -> str | None:
    """Read the name of an encoding; None is UTF-8. Raises BadValue."""
    from dptext import streams
    from dptext.errors import UsageError

    try:
        return streams.known_encoding(name)
    except UsageError as error:
        raise BadValue(str(error)) from None


def cores() -> int:
    """Return the number of cores that this process may use."""
    try:
        number = len(os.sched_getaffinity(0))
    except AttributeError:  # no such call on this system
        number = os.cpu_count() or 1
    return min(number, MOST_JOBS)


class _Conversion:
    """Reads plain values; all others, and wrong ones, are left to Typer.

    Recent versions of Typer load Pydantic to read the first value, a tenth of the time
    that one line takes. Earlier ones read values by themselves and do not ask for this.
    """

    def __init__(self, option: Any) -> None:
        self._kind = option.type_descriptor.annotation
        self._parser = option.type_descriptor.parameter_info.parser

    def coerce(self, value: object, param: Any, ctx: Any) -> object:
        """Return the value of an option. Raises BadParameter."""
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        try:
            return self._plain(value, self._kind)
        except (ValueError, typer.BadParameter):
            param._runtime_param = None  # now Typer's own is made
            return param.get_runtime_param().coerce(value, param, ctx)

    def _plain(self, value: Any, kind: Any) -> object:
        if typing.get_origin(kind) is list and isinstance(value, list | tuple):
            return [self._plain(each, typing.get_args(kind)[0]) for each in value]
        if self._parser is not None:
            return self._parser(value)
        if kind in (str, int, float) and type(value) is kind:
            return value
        if kind is Path and (os.access(value, os.R_OK) or not os.path.exists(value)):
            return Path(value)
        raise ValueError


def read_plainly(options: list[Any]) -> list[Any]:
    """Have options read plain values without loading what reads any; return them."""
    for option in options:
        if getattr(option, "_runtime_param", option) is None:
            option._runtime_param = _Conversion(option)
    return options
