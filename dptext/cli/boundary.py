"""The error boundary around all commands, those that are yet to be written included.

What is wrong with the arguments, and whatever else goes wrong, ends in one line on
standard error and an exit code (`dptext.cli.faults`).
"""

from __future__ import annotations

import functools
import sys
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from typer.core import TyperGroup

from dptext.cli.faults import reported
from dptext.cli.numbers import Number

# Commands, options, contexts and errors of the parser, which has no public types.
Parsed = Any
# Options of earlier versions, and what each is called now.
RENAMED = {
    "--ruler": "--bayes-risk",
    "--no-ruler": "--no-bayes-risk",
    "--best-law": "--best-weights",
}


class ErrorBoundary(TyperGroup):
    """The command `dptext`: runs its sub-commands behind the boundary."""

    def __init__(self, **attributes: Parsed) -> None:
        super().__init__(**attributes)
        for command in _commands(self):
            command.callback = _checked(command)

    def main(
        self, args: Sequence[str] | None = None, *rest: Parsed, **named: Parsed
    ) -> Parsed:
        """Run a command and end the process with its exit code."""
        self._arguments = list(sys.argv[1:] if args is None else args)
        named["standalone_mode"] = False
        sys.exit(super().main(args, *rest, **named) or 0)

    def make_context(self, *rest: Parsed, **named: Parsed) -> Parsed:
        """Read the options that stand before a command."""
        with self._behind():
            return super().make_context(*rest, **named)

    def invoke(self, ctx: Parsed) -> Parsed:
        """Run the command that is named."""
        with self._behind():
            return super().invoke(ctx)

    def _behind(self) -> AbstractContextManager[None]:
        return reported(lambda error: _wrong(error, self._arguments))


def _commands(group: Parsed) -> Iterator[Parsed]:
    """Yield all commands of a group and of the groups in it."""
    for command in group.commands.values():
        if hasattr(command, "commands"):
            yield from _commands(command)
        else:
            yield command


def _checked(command: Parsed) -> Callable[..., object]:
    """Return a command's function, which refuses numbers that are none."""
    run = command.callback

    @functools.wraps(run)
    def checked(**values: object) -> object:
        numbers = _numbers(run)
        for option in command.params:
            value = values.get(option.name)
            number = numbers.get(option.name)
            for each in value if isinstance(value, list | tuple) else (value,):
                if number is not None and each is not None:
                    number.check(_name(option), each)
        return run(**values)

    return checked


def _numbers(function: Parsed) -> Mapping[str, Number]:
    """Return which numbers the options of a command admit, from its annotations."""
    hints = typing.get_type_hints(function, include_extras=True)
    numbers = {name: Number.of(name, hint) for name, hint in hints.items()}
    return {name: number for name, number in numbers.items() if number is not None}


def _name(option: Parsed) -> str:
    """Return the name of an option as people write it in full, or of an argument."""
    return str(max(option.opts, key=len))


def _wrong(error: Parsed, arguments: Sequence[str]) -> str:
    """Say in one line what is wrong with the arguments."""
    option, context = getattr(error, "param", None), getattr(error, "ctx", None)
    name = getattr(error, "option_name", "")
    if name in RENAMED:
        return f"{name}: this option is now {RENAMED[name]}"
    message = " ".join(error.format_message().split()).replace("Value error, ", "")
    if option is not None and context is not None:
        number = _numbers(context.command.callback).get(option.name)
        if number is not None:
            return number.problem_of(_name(option), _values(option.opts, arguments))
    if context is not None and message:
        message = f"{message} (see {context.command_path} --help)"
    return message


def _values(names: Sequence[str], arguments: Sequence[str]) -> list[str]:
    """Return what was written for an option."""
    values: list[str] = []
    for position, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        if argument in names:
            values += arguments[position + 1 : position + 2]
        elif equals and name in names:
            values.append(value)
    return values
