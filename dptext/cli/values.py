"""What an option admits, and what is said of a value that it does not."""

from __future__ import annotations

import math
import os
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
        try:
            number = self.kind(value)
            problem = self._problem(number)
        except ValueError:
            problem = self._kind_of(str(value))
        if problem:
            text = str(value)
            shown = text if len(text) <= 40 else f"{text[:40]}..."
            raise BadValue(f"{shown}: {problem}; give {self.accepted}")
        return number

    @property
    def accepted(self) -> str:
        """Say what is accepted, as in "an integer from 1 to 256"."""
        said = self._range
        return said if self._other is None else f"{said}, or {self._other[0]}"

    @property
    def _range(self) -> str:
        said = "an integer" if self.kind is int else "a number"
        if self.low is not None and self.high is not None and not self._above:
            return f"{said} from {self.low:.12g} to {self.high:.12g}"
        if self.low is not None:
            least = "above" if self._above else "of at least"
            return f"{said} {least} {self.low:.12g}"
        return said

    def _kind_of(self, text: str) -> str:
        """Say what a text is that cannot be read as a number of this kind."""
        try:
            value = float(text)
        except ValueError:
            return "not a number"
        return "not an integer" if math.isfinite(value) else "not finite"

    def _problem(self, value: float) -> str:
        """Say what is wrong with a number; "" where nothing is."""
        if value != value:
            return "not a number"
        if value in (math.inf, -math.inf):
            return "not finite"
        low, high = self.low, self.high
        if low is not None and (value <= low if self._above else value < low):
            return "too small"
        if high is not None and value > high:
            return "too large"
        if self.kind is int and abs(value) > LARGEST:
            return f"beyond {LARGEST}"
        return ""


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
