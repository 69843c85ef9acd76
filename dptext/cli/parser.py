"""Commands as Typer runs them: settings, help on one screen, errors in one line.

Invalid arguments and all other failures of any command end in one line on standard
error and an exit code (`dptext.cli.faults`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import os
import re
import sys
import typing
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from dptext import streams
from dptext.cli import applying, configuration, faults, outputs, screen
from dptext.cli.configuration import Configuration, Setting
from dptext.cli.values import BadValue
from dptext.errors import UsageError

# Options and errors of the parser, which has no public types.
Parsed = Any
# Keys of a context: the settings that hold for the command, by parameter, and the file.
SETTINGS, FILE = "dptext.settings", "dptext.file"
# The label of a file above the working folder, whose settings no option hides.
_ABOVE = "dptext.above"
# The settings of lists that were typed instead.
_REPLACED = "dptext.replaced"
_HELP_ALL = "help_all"


class _Plain:
    """A command with help in colours that names no types, as in <bool>."""

    @functools.cached_property
    def _types(self) -> dict[str, Parsed]:
        """Return the declared types of the parameters."""
        function = getattr(self, "callback", None)
        declared = () if function is None else _parameters(function)
        return {each.name: each.annotation for each in declared}

    def get_params(self, ctx: Parsed) -> Parsed:
        """Return the options and arguments."""
        params = super().get_params(ctx)  # type: ignore[misc]
        for each in params:
            if not isinstance(each.process_value, _Reading):
                each.process_value = _Reading(each, self._types.get(each.name))
            if each.param_type_name == "argument":
                each.display_type = lambda ctx: ""
            elif each.is_flag:
                each.metavar = ""
        return params

    def format_help(self, ctx: Parsed, formatter: Parsed) -> None:
        """Show help, without defaults from settings, which differ between users."""
        ctx.default_map = None
        with screen.styled():
            super().format_help(ctx, formatter)  # type: ignore[misc]


class _Reading:
    """Reads the values of an option or argument.

    Typer makes an adapter of pydantic for each parameter, given or not, which takes a
    sixth of the time of one line. So it reads only values of other types than those
    that the options of dptext have.
    """

    def __init__(self, option: Parsed, annotation: Parsed) -> None:
        self._option, self._by_typer = option, option.process_value
        marks = getattr(annotation, "__metadata__", ())
        parsers = (getattr(mark, "parser", None) for mark in marks)
        self._parse = next(filter(None, parsers), None)
        self._kinds = _parts(annotation)

    def __call__(self, context: Parsed, value: Parsed) -> Parsed:
        """Return the value of the parameter. Raises BadValue."""
        option = self._option
        is_list = option.multiple or option.nargs != 1
        if value is None and not option.required:
            return () if is_list else None
        several = value if is_list else [value]
        if option.callback is None and several and isinstance(several, list | tuple):
            with contextlib.suppress(_OtherValue, ValueError):
                values = [self._convert(each) for each in several]
                return values if is_list else values[0]
        return self._by_typer(context, value)

    def _convert(self, value: Parsed) -> Parsed:
        if self._parse is not None:
            return self._parse(value)
        if Path in self._kinds and isinstance(value, str | Path):
            return Path(value)
        if type(value) in self._kinds:
            return value
        raise _OtherValue


class _OtherValue(Exception):
    """A value that Typer reads."""


def _parts(annotation: Parsed) -> set[Parsed]:
    """Return a type and all of which it is made: list[str], None and str of options."""
    inside = typing.get_args(annotation)
    return {annotation}.union(*map(_parts, inside)) if inside else {annotation}


class Command(_Plain, TyperCommand):
    """A command with options that the environment and a file may set."""

    def parse_args(self, ctx: Parsed, args: list[str]) -> list[str]:
        """Read the options; one that is typed overrides settings of others."""
        rest = super().parse_args(ctx, args)
        settings = settings_of(ctx)
        typed = {each.name for each in self.params if is_typed(ctx, each.name)}
        overridden = configuration.overridden(typed)
        ctx.meta[_REPLACED] = {
            name: each for name, each in settings.items() if name in typed
        }
        for option in self.params:
            if option.name in typed:
                settings.pop(option.name, None)
            elif option.name in overridden and option.name in settings:
                del settings[option.name]
                ctx.params[option.name] = option.process_value(ctx, option.default)
        return rest

    def invoke(self, ctx: Parsed) -> Parsed:
        """Check options and outputs together, and run the command."""
        _name_standard_output(ctx.params)
        _name_folder(ctx.params)
        defaults = {each.name: each.default for each in self.params}
        typed = [name for name in ctx.params if is_typed(ctx, name)]
        differing = applying.differing(typed, ctx.params, defaults)
        applying.check(ctx.params, differing)
        ctx.meta[applying.TYPED] = differing
        ctx.meta[outputs.READ] = outputs.check_named(ctx.params, ctx.meta.get(FILE))
        settings, above = settings_of(ctx), ctx.meta.get(_ABOVE)
        hidden = {name: each for name, each in settings.items() if each.source == above}
        # With --json a run writes nothing else on standard error.
        if ctx.params.get("json") and "verbose" in ctx.params:
            ctx.meta[screen.NOTICE] = _describe_sources(hidden)
        elif ctx.params.get("quiet"):
            _print_sources(hidden)
        else:
            _print_sources(settings)
            _name_kept(ctx.params, ctx.meta[_REPLACED])
        return super().invoke(ctx)


class Group(_Plain, TyperGroup):
    """A group of commands."""


class Program(Group):
    """The command `dptext`: ends each run in one line and an exit code."""

    def main(self, *rest: Parsed, **named: Parsed) -> Parsed:
        """Run a command and end the process with its exit code."""
        named["standalone_mode"] = False
        sys.exit(super().main(*rest, **named) or 0)

    def make_context(self, *rest: Parsed, **named: Parsed) -> Parsed:
        """Read the options that stand before a command."""
        with faults.reported(describe_error):
            return super().make_context(*rest, **named)

    def invoke(self, ctx: Parsed) -> Parsed:
        """Run the command that is named."""
        with faults.reported(describe_error):
            return super().invoke(ctx)


def is_typed(context: typer.Context, name: str) -> bool:
    """Tell whether a parameter was given on the command line."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def settings_of(context: typer.Context) -> dict[str, Setting]:
    """Return the settings that hold for a command, by parameter."""
    settings: dict[str, Setting] = context.meta.setdefault(SETTINGS, {})
    return settings


def find_configuration(context: typer.Context) -> Configuration:
    """Return the configuration chosen by the options before a command."""
    root = context.find_root().params
    if root.get("no_config"):
        return Configuration()
    path = root.get("config")
    return (
        configuration.read_named(Path(path)) if path else configuration.find_nearest()
    )


def label_above(context: typer.Context, file: Configuration) -> str:
    """Return the label of a configuration that was found above the working folder.

    Empty for a file of the working folder, and for one that the user names.
    """
    is_named = context.find_root().params.get("config")
    return "" if is_named or not file.is_above else file.label


def set_defaults(root: typer.Context, command: str) -> None:
    """Have the parser use settings as the defaults of a command. Raises UsageError."""
    if command not in configuration.COMMANDS:
        return
    group: Parsed = root.command
    parameters = group.get_command(root, command).params
    file = find_configuration(root)
    settings = configuration.layered_settings(command, parameters, file)
    root.meta[SETTINGS], root.meta[FILE] = settings, file.path
    root.meta[_ABOVE] = label_above(root, file)
    root.default_map = {command: {name: each.value for name, each in settings.items()}}


def default_values(
    command: str, context: typer.Context
) -> tuple[dict[str, Any], dict[str, Setting]]:
    """Return the defaults of a command, and the settings behind them, by parameter.

    Raises UsageError for a setting that is invalid for its option.
    """
    root: Parsed = context.find_root()
    set_defaults(root, command)
    parsed = root.command.get_command(root, command)
    try:
        with parsed.make_context(command, [], root) as inner:
            return inner.params, settings_of(inner)
    except typer.BadParameter as error:
        raise UsageError(describe_error(error)) from None


def describe_error(error: Parsed) -> str:
    """Return the message on invalid arguments, in one line."""
    option, context = getattr(error, "param", None), getattr(error, "ctx", None)
    if option is not None and context is not None:
        setting = settings_of(context).get(option.name)
        if setting is not None and not is_typed(context, option.name):
            return f"{setting.location}: {error.message}"
        if isinstance(error, BadValue):
            return f"{max(option.opts, key=len)} {error.message}"
    message = " ".join(error.format_message().split())
    if context is not None and message:
        message = f"{message} (see {context.command_path} --help)"
    return message


def _name_standard_output(values: dict[str, Parsed]) -> None:
    """Turn other names of standard output, as /dev/stdout, into "-"."""
    for name in outputs.OUTPUTS:
        value = values.get(name)
        if isinstance(value, str | Path) and streams.descriptor(value) == 1:
            values[name] = type(value)("-")


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


def _describe_sources(settings: dict[str, Setting]) -> str:
    """Return the options that settings decide, by variable and file, in one line."""
    names: dict[str, list[str]] = {}
    for name, each in sorted(settings.items()):
        names.setdefault(each.source, []).append(name.rstrip("_"))
    return "; ".join(f"from {key}: {', '.join(names[key])}" for key in names)


def _print_sources(settings: dict[str, Setting]) -> None:
    if line := _describe_sources(settings):
        faults.print_line(line)


def _name_kept(values: dict[str, Parsed], replaced: dict[str, Setting]) -> None:
    """Print the fields that stay as a typed list replaces one of a variable or file."""
    changed = {
        each
        for name in ("field", "drop", "pseudonym")
        for each in values.get(name) or ()
    }
    for name in ("drop", "pseudonym"):
        setting = replaced.get(name)
        listed = [] if setting is None else typing.cast("list[str]", setting.value)
        kept = [
            each
            for each in listed
            if not any(f"{each}.".startswith(f"{other}.") for other in changed)
        ]
        if setting is not None and kept:
            faults.print_line(
                f"--{name} replaces the list of {setting.source}, so that these fields "
                f"stay unchanged: {', '.join(kept)}; name them, too, to change that"
            )


def add(
    app: typer.Typer,
    command: Callable[..., None],
    name: str | None = None,
    examples: Sequence[str] = (),
) -> None:
    """Add a command; its help is its docstring, with examples at the end."""
    # A paragraph of help is one line, as wide as the terminal.
    text = re.sub(r"(?<=\S)\n(?=\S)", " ", inspect.getdoc(command) or "")
    # Help has colours by markup, where a bracket opens a style.
    lines = [f"Example: {each}".replace("[", "\\[") for each in examples]
    app.command(
        name or command.__name__,
        cls=Command,
        help=text,
        epilog="\n\n".join(lines),
    )(spread(command))


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command for Typer: each group of options is replaced by its options.

    A group is a parameter with a dataclass as its type: each field, an option, becomes
    a parameter. Commands with hidden options get --help-all.
    """
    groups: dict[str, type] = {}
    parameters: list[inspect.Parameter] = []
    for parameter in _parameters(command):
        kind = parameter.annotation
        if dataclasses.is_dataclass(kind) and isinstance(kind, type):
            groups[parameter.name] = kind
            parameters += _parameters(kind)
        else:
            parameters.append(parameter)
    count = sum(map(_is_hidden, parameters))
    if count:
        parameters.append(_help_all(count))

    @functools.wraps(command)
    def run(**values: object) -> None:
        values.pop(_HELP_ALL, None)
        for name, group in groups.items():
            fields = dataclasses.fields(group)
            values[name] = group(
                **{each.name: values.pop(each.name) for each in fields}
            )
        command(**values)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run


def _parameters(function: Callable[..., object]) -> list[inspect.Parameter]:
    """Return the parameters of a function or class, their types looked up."""
    hints = typing.get_type_hints(function, include_extras=True)
    parameters = inspect.signature(function).parameters
    return [each.replace(annotation=hints[name]) for name, each in parameters.items()]


def _is_hidden(parameter: inspect.Parameter) -> bool:
    marks = getattr(parameter.annotation, "__metadata__", ())
    return any(getattr(mark, "hidden", False) for mark in marks)


def _help_all(count: int) -> inspect.Parameter:
    """Return the parameter of --help-all, which shows hidden options, too."""
    declared = typer.Option(
        "--help-all",
        is_eager=True,
        callback=_show_all,
        help=f"Show all options: {count} more.",
    )
    return inspect.Parameter(
        _HELP_ALL,
        inspect.Parameter.KEYWORD_ONLY,
        default=False,
        annotation=Annotated[bool, declared],
    )


def _show_all(context: typer.Context, is_asked: bool) -> None:
    """Show the help with all options, and end."""
    if not is_asked or context.resilient_parsing:
        return
    command: Parsed = context.command
    hidden = [option for option in command.params if option.hidden]
    try:
        for option in hidden:
            option.hidden = False
        typer.echo(context.get_help())
    finally:
        for option in hidden:
            option.hidden = True
    raise typer.Exit
