"""The error boundary around all commands, those that are yet to be written included.

What is wrong with the arguments, and whatever else goes wrong, ends in one line on
standard error and an exit code (`dptext.cli.faults`).
"""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager

from typer.core import TyperGroup

from dptext.cli.arguments import Parsed, name_of, numbers_of, wrong
from dptext.cli.faults import reported
from dptext.cli.screen import Screen


class ErrorBoundary(TyperGroup):
    """The command `dptext`: runs its sub-commands behind the boundary."""

    def __init__(self, **attributes: Parsed) -> None:
        super().__init__(**attributes)
        for command in (self, *_commands(self)):
            command.format_help = _styled(command.format_help)
            if not hasattr(command, "commands"):
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
        return reported(lambda error: wrong(error, self._arguments))


def _commands(group: Parsed) -> Iterator[Parsed]:
    """Yield all commands of a group, groups and the commands in them included."""
    for command in group.commands.values():
        yield command
        if hasattr(command, "commands"):
            yield from _commands(command)


def _styled(show: Callable[..., None]) -> Callable[..., None]:
    """Return what shows help, in colours where the terminal has them.

    Defaults of the environment and of files, which may be of others, are left out.
    """

    def shown(context: Parsed, formatter: Parsed) -> None:
        context.default_map = None
        with contextlib.ExitStack() as stack:
            if isinstance(sys.stdout, Screen):
                stack.enter_context(sys.stdout.styled())
            show(context, formatter)

    return shown


def _checked(command: Parsed) -> Callable[..., object]:
    """Return a command's function, which refuses numbers that are none."""
    run = command.callback

    @functools.wraps(run)
    def checked(**values: object) -> object:
        numbers = numbers_of(run)
        for option in command.params:
            value = values.get(option.name)
            number = numbers.get(option.name)
            for each in value if isinstance(value, list | tuple) else (value,):
                if number is not None and each is not None:
                    number.check(name_of(option), each)
        return run(**values)

    return checked
