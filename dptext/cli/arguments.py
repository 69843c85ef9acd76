"""What is wrong with the arguments of a command, in one line."""

from __future__ import annotations

import typing
from collections.abc import Mapping, Sequence
from typing import Any

from dptext.cli.numbers import Number

# Commands, options, contexts and errors of the parser, which has no public types.
Parsed = Any
# Options of earlier versions, and what each is called now.
RENAMED = {
    "--ruler": "--bayes-risk",
    "--no-ruler": "--no-bayes-risk",
}
# Options that are gone, and what to do instead.
GONE = dict.fromkeys(
    ("--best-weights", "--best-law", "--epsilon-cap"),
    "weights are solved for in a checkout of dptext: "
    "python -m tools.best_weights --help",
)


def numbers_of(function: Parsed) -> Mapping[str, Number]:
    """Return which numbers the options of a command admit, from its annotations."""
    hints = typing.get_type_hints(function, include_extras=True)
    numbers = {name: Number.of(name, hint) for name, hint in hints.items()}
    return {name: number for name, number in numbers.items() if number is not None}


def name_of(option: Parsed) -> str:
    """Return the name of an option as people write it in full, or of an argument."""
    return str(max(option.opts, key=len))


def wrong(error: Parsed, arguments: Sequence[str]) -> str:
    """Say in one line what is wrong with the arguments."""
    option, context = getattr(error, "param", None), getattr(error, "ctx", None)
    name = getattr(error, "option_name", "")
    if name in RENAMED:
        return f"{name}: this option is now {RENAMED[name]}"
    if name in GONE:
        return f"{name}: {GONE[name]}"
    message = " ".join(error.format_message().split()).replace("Value error, ", "")
    if option is not None and context is not None:
        number = numbers_of(context.command.callback).get(option.name)
        if number is not None:
            return number.problem_of(name_of(option), _values(option.opts, arguments))
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
