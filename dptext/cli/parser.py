"""Commands as Typer runs them: settings, help on one screen, errors in one line.

Invalid arguments and all other failures of any command end in one line on standard
error and an exit code (`dptext.cli.faults`).
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import functools
import importlib
import inspect
import os
import re
import sys
import types
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.models import ParameterInfo

from dptext.cli import configuration, conflicts, faults, options
from dptext.cli.configuration import Configuration, Setting
from dptext.cli.options import BadValue
from dptext.cli.screen import Screen
from dptext.errors import UsageError

# Commands, options, contexts and errors of the parser, which has no public types.
Parsed = Any
_annotated: Any = typing.Annotated  # with types that are not known before
_SETTINGS, _FILE, _EVERY = "dptext.settings", "dptext.file", "dptext.every"
_GIVEN = (str, bool, list)  # The types of options on the command line.
_YES, _NO = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


class _Fitted:
    """A command whose options read plain values, and whose help has colours."""

    def get_params(self, ctx: Parsed) -> Parsed:
        """Return the options."""
        return list(map(_fitted, super().get_params(ctx)))  # type: ignore[misc]

    def format_help(self, ctx: Parsed, formatter: Parsed) -> None:
        """Show help, without defaults from settings, which differ between users."""
        ctx.default_map = None
        with _styled():
            super().format_help(ctx, formatter)  # type: ignore[misc]


class Command(_Fitted, TyperCommand):
    """A command whose options may be set by the environment and by a file.

    Hidden options are of rare use: `--help-all` shows them.
    """

    def get_params(self, ctx: Parsed) -> Parsed:
        """Return the options; with --help-all none is hidden."""
        params = super().get_params(ctx)
        if ctx.meta.get(_EVERY):
            params = list(map(copy.copy, params))
            for option in params:
                option.hidden = False
        return params

    def parse_args(self, ctx: Parsed, args: list[str]) -> list[str]:
        """Read the options, and set missing ones from settings."""
        ctx.meta[_EVERY] = "--help-all" in args
        if self.name in configuration.COMMANDS and not ctx.resilient_parsing:
            parsed = self.make_parser(ctx).parse_args(list(args))[0]
            typed = {name for name in parsed if isinstance(parsed[name], _GIVEN)}
            file = find_configuration(ctx)
            set_ = configuration.layered_settings(self.name, self.params, typed, file)
            ctx.meta[_SETTINGS], ctx.meta[_FILE] = set_, file.path
            ctx.default_map = {name: each.value for name, each in set_.items()}
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Parsed) -> Parsed:
        """Check options and outputs together, and run the command."""
        from dptext.cli import applying, outputs

        set_ = ctx.meta.get(_SETTINGS, {})
        _name_folder(ctx.params)
        usual = {option.name: option.default for option in self.params}
        conflicts.check(usual, ctx.params)
        typed = applying.typed_options(usual, ctx.params, set_)
        applying.check(ctx.params, typed)
        ctx.meta[applying.TYPED] = typed
        ctx.meta[outputs.READ] = outputs.check_named(ctx.params, ctx.meta.get(_FILE))
        # With --json a run writes nothing else on standard error.
        silent = ctx.params.get("json") and "verbose" in ctx.params
        if set_ and not (silent or ctx.params.get("quiet")):
            names: dict[str, list[str]] = {}
            for name, each in sorted(set_.items()):
                names.setdefault(each.source, []).append(name.rstrip("_"))
            said = (f"from {key}: {', '.join(names[key])}" for key in names)
            faults.say("; ".join(said))
        return super().invoke(ctx)

    def collect_usage_pieces(self, ctx: Parsed) -> list[str]:
        """Return the parts of the line of usage."""
        pieces = super().collect_usage_pieces(ctx)
        return [re.sub(r"\.{3}(.)\.{3}", r"\1...", each) for each in pieces]

    def format_help(self, ctx: Parsed, formatter: Parsed) -> None:
        """Show help; its last line says how to see the options of rare use."""
        rare = sum(each.hidden for each in self.get_params(ctx))
        every = f"{rare} more options: {ctx.command_path} --help-all"
        self.epilog = every if rare else None
        super().format_help(ctx, formatter)


def _name_folder(values: dict[str, Parsed]) -> None:
    """Turn --output into --out-dir if an input is a folder. Raises UsageError."""
    folder = next(filter(os.path.isdir, values.get("files") or ()), None)
    output = values.get("output")
    if not folder or not output or values.get("out_dir", "absent"):
        return
    from dptext import formats

    if os.path.isfile(output) or formats.by_suffix(output):
        raise UsageError(
            f"-o {output}: {folder} is a folder, whose files each get an output of "
            "their own; give -o a folder, or name one file to read"
        )
    values["out_dir"], values["output"] = output, None


class Group(_Fitted, TyperGroup):
    """A group of commands."""


class Program(Group):
    """The command `dptext`: ends each run in one line and an exit code."""

    def main(self, *rest: Parsed, **named: Parsed) -> Parsed:
        """Run a command and end the process with its exit code."""
        named["standalone_mode"] = False
        sys.exit(super().main(*rest, **named) or 0)

    def make_context(self, *rest: Parsed, **named: Parsed) -> Parsed:
        """Read the options that stand before a command."""
        with faults.reported(wrong):
            return super().make_context(*rest, **named)

    def invoke(self, ctx: Parsed) -> Parsed:
        """Run the command that is named."""
        with faults.reported(wrong):
            return super().invoke(ctx)


@contextlib.contextmanager
def _styled() -> Iterator[None]:
    """Let colours of help pass, where the terminal has them.

    What lays help out is loaded without its Markdown and tracebacks: they take a third
    of the time of `dptext --help`, which shows neither.
    """
    unused = {"rich.markdown": "Markdown", "rich.traceback": "Traceback"}
    if not unused.keys() & sys.modules.keys():
        for module, name in unused.items():
            sys.modules[module] = types.ModuleType(module)
            setattr(sys.modules[module], name, type(name, (), {}))
        try:
            importlib.import_module("typer.rich_utils")
        finally:
            for module in unused:
                del sys.modules[module]
    screen = sys.stdout
    with screen.styled() if isinstance(screen, Screen) else contextlib.nullcontext():
        yield


def find_configuration(ctx: Parsed) -> Configuration:
    """Return the configuration chosen by the options before a command."""
    root = ctx.find_root().params
    if root.get("no_config"):
        return Configuration()
    path = root.get("config")
    # Some versions of Typer leave the options of a group unread.
    return configuration.named(Path(path)) if path else configuration.nearest()


def default_values(
    command: str, ctx: Parsed
) -> tuple[dict[str, object], dict[str, Setting]]:
    """Return the defaults of a command, and the settings behind them, by parameter.

    Raises UsageError for a setting that is invalid for its option.
    """
    root = ctx.find_root()
    try:
        parsed = root.command.get_command(root, command)
        with parsed.make_context(command, [], root) as inner:
            return inner.params, inner.meta[_SETTINGS]
    except faults.PARSER as error:
        raise UsageError(wrong(error)) from None


def wrong(error: Parsed) -> str:
    """Return the message on invalid arguments, in one line."""
    option, context = getattr(error, "param", None), getattr(error, "ctx", None)
    if option is not None and context is not None:
        if setting := context.meta.get(_SETTINGS, {}).get(option.name):
            return f"{setting.where}: {error.message}"
        if isinstance(error, BadValue):
            return f"{max(option.opts, key=len)} {error.message}"
    message = " ".join(error.format_message().split())
    if context is not None and message:
        message = f"{message} (see {context.command_path} --help)"
    return message


def add(
    app: typer.Typer, command: Callable[..., None], name: str | None = None
) -> None:
    """Add a command, with its groups replaced by their options."""
    # A paragraph of help is one line, as wide as the terminal.
    text = re.sub(r"(?<=\S)\n(?=\S)", " ", inspect.getdoc(command) or "")
    app.command(name or command.__name__, cls=Command, help=text)(spread(command))


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command for Typer, with groups replaced by their options.

    A group is a parameter with a dataclass as its type; the fields are options. Other
    keyword-only parameters are options, too, and the rest are arguments.
    """
    parameters: list[inspect.Parameter] = []
    groups: dict[str, tuple[type, list[str]]] = {}
    for parameter in _parameters(command):
        kind = parameter.annotation
        if isinstance(kind, type) and dataclasses.is_dataclass(kind):
            parts = [_declared(each, option=True) for each in _parameters(kind)]
            groups[parameter.name] = kind, [each.name for each in parts]
            parameters += [each.replace(kind=parameter.kind) for each in parts]
        else:
            option = parameter.kind is parameter.KEYWORD_ONLY
            parameters.append(_declared(parameter, option=option))

    @functools.wraps(command)
    def run(**values: object) -> None:
        for name, (group, names) in groups.items():
            values[name] = group(**{each: values.pop(each) for each in names})
        command(**values)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run


def _parameters(function: Callable[..., object]) -> list[inspect.Parameter]:
    """Return the parameters of a function or class, their types looked up."""
    hints = typing.get_type_hints(function, include_extras=True)
    parameters = inspect.signature(function).parameters
    return [each.replace(annotation=hints[name]) for name, each in parameters.items()]


def _declared(parameter: inspect.Parameter, *, option: bool) -> inspect.Parameter:
    """Return a parameter with its declaration for Typer, unless it has one."""
    hint: Any = parameter.annotation
    kind, *marks = typing.get_args(hint) if hasattr(hint, "__metadata__") else [hint]
    if kind is typer.Context or any(isinstance(mark, ParameterInfo) for mark in marks):
        return parameter
    info = options.make_argument(marks)
    if option:
        info = options.make_option(parameter.name, parameter.default, marks)
    return parameter.replace(annotation=_annotated[kind, info])


def _flag(value: object) -> bool:
    """Read a setting of a flag. Raises BadValue."""
    word = str(value).lower()
    if word not in (*_YES, *_NO):
        raise BadValue(f"{value}: give true or false")
    return word in _YES


class _Reader:
    """Reads the values of an option with its parser, or with the type itself.

    Recent versions of Typer load Pydantic to read the first value, a tenth of the time
    that one line takes. Earlier ones read values by themselves and do not ask for this.
    """

    def __init__(self, kind: Any, parser: Callable[[Any], object] | None) -> None:
        self._read = parser or (_flag if kind is bool else kind)

    def coerce(self, value: Any, param: Parsed, ctx: Parsed) -> object:
        """Return the value of an option. Raises BadValue."""
        several = param.multiple or param.nargs == -1
        if value is None:
            return () if several else None
        try:
            return list(map(self._read, value)) if several else self._read(value)
        except UsageError as error:
            raise BadValue(str(error)) from None


def _fitted(option: Parsed) -> Parsed:
    """Have an option, or argument, read plain values, and name them in help."""
    if getattr(option, "_runtime_param", option) is not None:
        return option
    kind = option.type_descriptor.annotation
    kind = (*typing.get_args(kind), kind)[0]
    option._runtime_param = _Reader(kind, option.type_descriptor.parameter_info.parser)
    metavar = {bool: "", str: "NAME", Path: "FILE"}.get(kind, "NUMBER")
    if option.param_type_name == "argument":
        option.display_type = lambda ctx: ""
        metavar = "FILE..." if option.nargs == -1 else option.name.upper()
    option.metavar = metavar if option.metavar is None else option.metavar
    return option
