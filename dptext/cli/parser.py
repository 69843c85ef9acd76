"""Typer commands: settings, one-screen help, one-line errors.

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
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from dptext import streams
from dptext.cli import configuration, faults, options, screen
from dptext.cli.configuration import Configuration, Setting
from dptext.errors import DptextError, UsageError
from dptext.run import choices, selection
from dptext.run.marks import (
    BadValue,
    ByFile,
    ByVariable,
    Needs,
    Option,
    Writes,
    find_mark,
)

# Options and errors of the parser, which has no public types.
Parsed = Any
# Keys of a context: the settings that hold for the command, by parameter, and the file.
SETTINGS, FILE = "dptext.settings", "dptext.file"
# The needs of typed options.
NEEDS = "dptext.needs"
# The label of a file above the working folder, whose settings no option hides.
_ABOVE = "dptext.above"
# The settings of lists that were typed instead.
_REPLACED = "dptext.replaced"
_HELP_ALL = "help_all"


class _Plain:
    """A command whose coloured help shows no types such as <bool>."""

    @functools.cached_property
    def types(self) -> dict[str, tuple[Parsed, tuple[Parsed, ...]]]:
        """Return the declared types of the parameters, with their marks."""
        function = getattr(self, "callback", None)
        declared = () if function is None else _parameters(function)
        return {each.name: _split(each.annotation) for each in declared}

    @property
    def marks(self) -> dict[str, tuple[Parsed, ...]]:
        """Return the marks of the parameters."""
        return {name: marks for name, (_, marks) in self.types.items()}

    def get_params(self, ctx: Parsed) -> Parsed:
        """Return the options and arguments."""
        params = super().get_params(ctx)  # type: ignore[misc]
        for each in params:
            if not isinstance(each.process_value, _Reading):
                each.process_value = _Reading(
                    each, *self.types.get(each.name, (None, ()))
                )
            if each.param_type_name == "argument":
                each.display_type = lambda ctx: ""
            elif each.is_flag:
                each.metavar = ""
        return params

    def format_help(self, ctx: Parsed, formatter: Parsed) -> None:
        """Show help without defaults from settings, which vary between users."""
        ctx.default_map = None
        with screen.styled():
            super().format_help(ctx, formatter)  # type: ignore[misc]


class _Reading:
    """Converts the values of an option or argument.

    Typer builds a pydantic adapter for each parameter, given or not, which takes a
    sixth of the run time for one line. So Typer converts only types that dptext's own
    options do not use.
    """

    def __init__(self, option: Parsed, kind: Parsed, marks: Sequence[Parsed]) -> None:
        self._option, self._by_typer = option, option.process_value
        parsers = (getattr(mark, "parser", None) for mark in marks)
        self._parse = next(filter(None, parsers), None)
        self._kinds = _parts(kind)

    def __call__(self, context: Parsed, value: Parsed) -> Parsed:
        """Convert the value of the parameter. Raises BadValue."""
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
    """A value that Typer converts."""


def _parts(annotation: Parsed) -> set[Parsed]:
    """Return all types in an annotation: list[str], None and str for options."""
    inside = typing.get_args(annotation)
    return {annotation}.union(*map(_parts, inside)) if inside else {annotation}


class Command(_Plain, TyperCommand):
    """A command whose options can be set in the environment and a file."""

    def parse_args(self, ctx: Parsed, args: list[str]) -> list[str]:
        """Parse the options; typed options override conflicting settings."""
        rest = super().parse_args(ctx, args)
        settings = settings_of(ctx)
        typed = {each.name for each in self.params if is_typed(ctx, each.name)}
        if "set" in typed:
            chosen = {
                name: ctx.params[name]
                for name in typed.intersection(choices.DECIDED)
                if not isinstance(ctx.params[name], list | tuple)  # of a policy
            }
            choices.Choices(
                overrides=choices.read_keys(ctx.params["set"]), **chosen
            ).check()
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
        if "set" in settings:
            ctx.params["set"] = configuration.undecided(ctx.params["set"], typed)
        return rest

    def invoke(self, ctx: Parsed) -> Parsed:
        """Check options and outputs together, and run the command."""
        _name_standard_output(ctx.params, self.marks)
        _name_folder(ctx.params)
        ctx.meta[NEEDS] = self._needs(ctx)
        options.check_formats(ctx.params, ctx.meta[NEEDS])
        ctx.meta[options.READ] = options.check_named(
            ctx.params, self.marks, ctx.meta.get(FILE)
        )
        settings, above = settings_of(ctx), ctx.meta.get(_ABOVE)
        hidden = {name: each for name, each in settings.items() if each.source == above}
        # With --json a run writes nothing else on standard error.
        if ctx.params.get("json") and "verbose" in ctx.params:
            ctx.meta[screen.NOTICE] = _describe_sources(hidden)
        elif ctx.params.get("quiet"):
            _print_sources(hidden)
        else:
            _print_sources(settings)
            changing = [
                name for name, each in self.marks.items() if selection.CHANGES in each
            ]
            _name_kept(ctx.params, ctx.meta[_REPLACED], changing)
        with _sources_named(settings):
            return super().invoke(ctx)

    def _needs(self, ctx: Parsed) -> dict[str, Needs]:
        """Return the requirements of options typed with a non-default value.

        Settings of the environment and of a file apply to inputs that support them.
        """
        needs = {}
        for option in self.params:
            value = ctx.params.get(option.name)
            need = find_mark(self.marks.get(option.name, ()), Needs)
            is_other = value not in (None, (), []) and value != option.default
            if need is not None and is_other and is_typed(ctx, option.name):
                needs[option.name] = need
        return needs


class Group(_Plain, TyperGroup):
    """A group of commands."""


class Program(Group):
    """The command `dptext`; every error becomes one line and an exit code."""

    def main(self, *rest: Parsed, **named: Parsed) -> Parsed:
        """Run a command and end the process with its exit code."""
        named["standalone_mode"] = False
        sys.exit(super().main(*rest, **named) or 0)

    def make_context(self, *rest: Parsed, **named: Parsed) -> Parsed:
        """Parse the options that precede a command."""
        with faults.reported(describe_error):
            return super().make_context(*rest, **named)

    def invoke(self, ctx: Parsed) -> Parsed:
        """Run the given command."""
        with faults.reported(describe_error):
            return super().invoke(ctx)


def is_typed(context: typer.Context, name: str) -> bool:
    """Return whether a parameter was given on the command line."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def settings_of(context: typer.Context) -> dict[str, Setting]:
    """Return the effective settings of a command, by parameter."""
    settings: dict[str, Setting] = context.meta.setdefault(SETTINGS, {})
    return settings


def find_configuration(context: typer.Context) -> Configuration:
    """Return the configuration chosen by the options before the command."""
    root = context.find_root().params
    if root.get("no_config"):
        return Configuration()
    path = root.get("config")
    return (
        configuration.read_named(Path(path)) if path else configuration.find_nearest()
    )


def label_above(context: typer.Context, file: Configuration) -> str:
    """Return the label of a configuration found above the working folder.

    Empty for a file in the working folder or named by the user.
    """
    is_named = context.find_root().params.get("config")
    return "" if is_named or not file.is_above else file.label


def set_defaults(root: typer.Context, command: str) -> None:
    """Make the parser use settings as a command's defaults. Raises UsageError."""
    group: Parsed = root.command
    parsed = group.get_command(root, command)
    marks = {} if parsed is None else parsed.marks
    if not any(find_mark(each, ByFile, ByVariable) for each in marks.values()):
        return
    file = find_configuration(root)
    settings = configuration.layered_settings(parsed.params, marks, file)
    root.meta[SETTINGS], root.meta[FILE] = settings, file.path
    root.meta[_ABOVE] = label_above(root, file)
    root.default_map = {command: {name: each.value for name, each in settings.items()}}


def default_values(
    command: str, context: typer.Context
) -> tuple[dict[str, Any], dict[str, Setting]]:
    """Return a command's defaults and the settings they come from, by parameter.

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
    """Return a one-line message for invalid arguments."""
    option, context = getattr(error, "param", None), getattr(error, "ctx", None)
    if option is not None and context is not None:
        setting = settings_of(context).get(option.name)
        if setting is not None and not is_typed(context, option.name):
            return f"{setting.location}: {error.message}"
        if isinstance(error, _BadOption):
            return f"{max(option.opts, key=len)} {error.message}"
    message = " ".join(error.format_message().split())
    if context is not None and message:
        message = f"{message} (see {context.command_path} --help)"
    return message


def _name_standard_output(
    values: dict[str, Parsed], marks: dict[str, tuple[Parsed, ...]]
) -> None:
    """Replace aliases of standard output, such as /dev/stdout, with "-"."""
    for name, value in values.items():
        is_named = isinstance(value, str | Path) and streams.descriptor(value) == 1
        if is_named and find_mark(marks.get(name, ()), Writes) is not None:
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
            f"-o {output}: {folder} is a folder and each of its files gets an output; "
            "give a folder to -o, or name a single input file"
        )
    values["out_dir"], values["output"] = output, None


def _describe_sources(settings: dict[str, Setting]) -> str:
    """Name the options set by settings, with variable and file, on one line."""
    names: dict[str, list[str]] = {}
    for name, each in sorted(settings.items()):
        names.setdefault(each.source, []).append(name)
    return "; ".join(f"from {key}: {', '.join(names[key])}" for key in names)


@contextlib.contextmanager
def _sources_named(settings: dict[str, Setting]) -> Iterator[None]:
    """Add to errors which of the named options came from settings."""
    try:
        yield
    except DptextError as error:
        options = set(re.findall(r"--([a-z-]+)", str(error)))
        named = {
            name: each
            for name, each in settings.items()
            if name.replace("_", "-") in options
        }
        if named:
            error.args = (f"{error} ({_describe_sources(named)})",)
        raise


def _print_sources(settings: dict[str, Setting]) -> None:
    if line := _describe_sources(settings):
        faults.print_line(line)


def _name_kept(
    values: dict[str, Parsed], replaced: dict[str, Setting], changing: Sequence[str]
) -> None:
    """Print fields a typed list no longer covers, which then stay unchanged.

    changing: names of the options that drop fields or replace their values.
    """
    changed = {each for name in ("field", *changing) for each in values.get(name) or ()}
    for name in changing:
        setting = replaced.get(name)
        listed = [] if setting is None else typing.cast("list[str]", setting.value)
        kept = [
            each
            for each in listed
            if not any(f"{each}.".startswith(f"{other}.") for other in changed)
        ]
        if setting is not None and kept:
            faults.print_line(
                f"--{name} replaces the list of {setting.source}, so these fields are "
                f"now unchanged: {', '.join(kept)}; add them to change that"
            )


def add(
    app: typer.Typer,
    command: Callable[..., None],
    name: str | None = None,
    examples: Sequence[str] = (),
) -> None:
    """Add a command; its help is its docstring followed by examples."""
    # A paragraph of help is one line, as wide as the terminal.
    text = re.sub(r"(?<=\S)\n(?=\S)", " ", inspect.getdoc(command) or "")
    # Help has colours by markup, where a bracket opens a style.
    lines = [f"Example: {each}".replace("[", "\\[") for each in examples]
    app.command(
        name or command.__name__, cls=Command, help=text, epilog="\n\n".join(lines)
    )(spread(command))


def group(
    name: str, summary: str, examples: Mapping[Callable[..., None], str]
) -> typer.Typer:
    """Return a command group with an example for each command."""
    app = typer.Typer(name=name, cls=Group, help=summary, no_args_is_help=True)
    for command, example in examples.items():
        add(app, command, command.__name__.rstrip("_"), [example])
    return app


class Take:
    """Marks a group of options from which a command takes only some fields.

    is_typed: the options can only be typed, not set by file or variable; helps: help
    specific to this command.
    """

    def __init__(
        self, names: str = "", *, is_typed: bool = False, **helps: str
    ) -> None:
        self.names, self.helps = (*names.split(), *helps), helps
        self.is_typed = is_typed

    def option(self, name: str, option: Option) -> Option:
        """Return the option of a field, with the help of this command."""
        return dataclasses.replace(option, help=self.helps.get(name, option.help))


_ALL = Take()
_Parts = list[tuple[str, inspect.Parameter, Option]]


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """Convert a command for Typer: each option group becomes single options.

    A group is a parameter whose type is a dataclass: each field with an `Option`
    becomes a parameter. Commands with hidden options get --help-all.
    """
    groups: dict[str, tuple[type, _Parts]] = {}
    parameters: list[inspect.Parameter] = []
    parsed: dict[str, Option] = {}
    for parameter in _parameters(command):
        kind, marks = _split(parameter.annotation)
        if dataclasses.is_dataclass(kind) and isinstance(kind, type):
            taken = next((each for each in marks if isinstance(each, Take)), _ALL)
            parts = list(_options(kind, taken))
            groups[parameter.name] = kind, parts
            parameters += [_for_typer(each, option) for _, each, option in parts]
        elif (option := find_mark(marks, Option)) is not None:
            parameters.append(_for_typer(parameter, option))
            parsed[parameter.name] = option
        else:
            parameters.append(parameter)
    count = sum(map(_is_hidden, parameters))
    if count:
        parameters.append(_help_all(count))

    @functools.wraps(command)
    def run(**values: Any) -> None:
        values.pop(_HELP_ALL, None)
        for name, option in parsed.items():
            values[name] = _value(values[name], option)
        for name, (group, parts) in groups.items():
            values[name] = group(
                **{
                    field: _value(values.pop(each.name), option, each)
                    for field, each, option in parts
                }
            )
        command(**values)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run


def _options(
    group: type, taken: Take
) -> Iterator[tuple[str, inspect.Parameter, Option]]:
    """Yield the field, the typed parameter and the option of each group member."""
    for each in _parameters(group):
        kind, marks = _split(each.annotation)
        option = find_mark(marks, Option)
        if option is None or (taken.names and each.name not in taken.names):
            continue
        option = taken.option(each.name, option)
        if taken.is_typed:
            marks = tuple(mark for mark in marks if not isinstance(mark, ByFile))
        name = option.spelled.replace("-", "_") or each.name
        annotation = Annotated[(kind, *marks)]  # type: ignore[valid-type]
        yield each.name, each.replace(name=name, annotation=annotation), option


def _for_typer(parameter: inspect.Parameter, option: Option) -> inspect.Parameter:
    """Return a Typer parameter with the marks of an option."""
    kind, marks = _split(parameter.annotation)
    default = parameter.default
    name = option.name(parameter.name.rstrip("_"))
    flag = f"--{name}"
    if bool in (parts := _parts(kind)) and (default is True or type(None) in parts):
        flag += f"/--no-{name}"
    declared = typer.Option(
        *filter(None, (flag, option.short)),
        parser=None if option.parse is None else _typed_parser(option.parse),
        metavar=option.metavar or getattr(option.parse, "__name__", None),
        help=option.help,
        rich_help_panel=option.heading or None,
        hidden=option.hidden,
    )
    if option.collect is not None or typing.get_origin(kind) is tuple:
        element = typing.get_args(kind)[0] if option.collect is None else str
        kind, default = list[element] | None, None  # type: ignore[valid-type]
    elif len({*typing.get_args(kind)} - {type(None)}) > 1:  # typed as text
        kind = str | None
    annotation = Annotated[(kind, declared, *marks)]  # type: ignore[valid-type]
    return parameter.replace(
        kind=inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )


def _value(value: Any, option: Option, field: inspect.Parameter | None = None) -> Any:
    """Convert a field's typed values to its value."""
    if option.collect is not None:
        return option.collect(value or ())
    if field is not None and typing.get_origin(_split(field.annotation)[0]) is tuple:
        return tuple(value or option.usual)
    return value


def _split(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    """Split an annotation into a type and its marks."""
    marks = getattr(annotation, "__metadata__", ())
    return (annotation.__origin__, marks) if marks else (annotation, ())


def _typed_parser(parse: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Wrap a parser so that its errors are Typer's."""

    @functools.wraps(parse, assigned=())
    def read(value: Any) -> Any:
        try:
            return parse(value)
        except BadValue as error:
            raise _BadOption(str(error)) from None

    return read


class _BadOption(typer.BadParameter):
    """An option rejects a value; the message begins with the value."""


def _parameters(function: Callable[..., object]) -> list[inspect.Parameter]:
    """Return the parameters of a function or class with resolved types."""
    hints = typing.get_type_hints(function, include_extras=True)
    parameters = inspect.signature(function).parameters
    return [each.replace(annotation=hints[name]) for name, each in parameters.items()]


def _is_hidden(parameter: inspect.Parameter) -> bool:
    marks = getattr(parameter.annotation, "__metadata__", ())
    return any(getattr(mark, "hidden", False) for mark in marks)


def _help_all(count: int) -> inspect.Parameter:
    """Return the --help-all parameter, which also shows hidden options."""
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
    """Show help with all options, and exit."""
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
