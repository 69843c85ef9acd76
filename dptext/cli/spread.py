"""Commands whose parameters are groups of options (dptext.cli.groups)."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import typing
from collections.abc import Callable


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with the options of its groups in place of the groups."""
    parameters: list[inspect.Parameter] = []
    groups: dict[str, tuple[type, list[str]]] = {}
    for name, parameter in _parameters(command):
        kind = parameter.annotation
        if isinstance(kind, type) and dataclasses.is_dataclass(kind):
            fields = _parameters(kind)
            groups[name] = kind, [each for each, _ in fields]
            parameters += [each.replace(kind=parameter.kind) for _, each in fields]
        else:
            parameters.append(parameter)

    @functools.wraps(command)
    def run(**values: object) -> None:
        for name, (group, names) in groups.items():
            values[name] = group(**{each: values.pop(each) for each in names})
        command(**values)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run


def _parameters(function: Callable[..., object]) -> list[tuple[str, inspect.Parameter]]:
    """Return the parameters of a function or class, their types looked up."""
    hints = typing.get_type_hints(function, include_extras=True)
    return [
        (name, parameter.replace(annotation=hints[name]))
        for name, parameter in inspect.signature(function).parameters.items()
    ]
