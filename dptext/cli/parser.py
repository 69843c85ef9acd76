"""Commands as Typer runs them: settings, help on one screen, errors in one line.

What is wrong with the arguments of a command, and whatever else goes wrong, ends in one
line on standard error and an exit code (`dptext.cli.faults`), those commands included
that are yet to be written.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import importlib
import inspect
import os
import sys
import types
import typing
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from dptext.cli import configuration, faults, outputs
from dptext.cli.configuration import Configuration, Layer, Setting
from dptext.cli.screen import Screen
from dptext.cli.values import BadValue, read_plainly
from dptext.errors import UsageError

# Commands, options, contexts and errors of the parser, which has no public types.
Parsed = Any
# Commands and options of earlier versions, and what to use now.
REMOVED = {
    "config": "this command is now dptext doctor --settings",
    "man": "dptext COMMAND --help-all shows all options; help2man makes a manual page",
    "mechanisms": "this command is now dptext list mechanisms",
    "profiles": "this command is now dptext list profiles",
    "setup": "dptext doctor shows what is missing, --install NAME fetches it",
    "lexicon build": "the English lexicon is built in a checkout of dptext: "
    "python -m tools.english --help",
    **{
        f"--{name}": f"write --set mechanism.{name}=NUMBER"
        for name in ("delta", "dimensions", "beta")
    },
    "--epsilon-per-text": "write --set 'budget={name: per-text, epsilon: NUMBER}'",
    "--form": "write --set tokens.forms=[card,email], with the forms that you want",
    **{
        f"--{key.replace('_', '-')}": f"write --set {key}=VALUE"
        for key in ("notion", "max_epsilon", "max_loss", "max_risk", "allow")
    },
    **dict.fromkeys(
        ("--progress", "--no-progress"),
        "progress is shown on a terminal; --quiet leaves it out",
    ),
    "--size": "name the files, whose sizes are read",
    "--unverified": "write --set unverified=VALUE",
    "--masked-words": "--masked-model guesses 2,000 words, evenly chosen",
    "--wordnet": "write --english, which needs no WordNet",
    "--text": "calibrate takes --public-text in its place",
    "--ruler": "this option is now --bayes-risk",
    "--no-ruler": "this option is now --no-bayes-risk",
    **dict.fromkeys(
        ("--best-weights", "--best-law", "--epsilon-cap"),
        "weights are solved for in a checkout of dptext: "
        "python -m tools.best_weights --help",
    ),
}
_SETTINGS = "dptext.settings"
_LOCAL = "use --engine local"
# Options of which only one may be given.
_EITHER = (
    *(("key_file", "seed"), ("quiet", "verbose"), ("quiet", "json")),
    *(("verbose", "json"), ("out_dir", "output"), ("out_dir", "public_report")),
    *(("in_place", "output"), ("in_place", "out_dir"), ("in_place", "resume")),
    ("in_place", "public_report"),
)
# Others that do not go together, and why.
_CONFLICTS = {
    **{
        (one, other): f"give --{one} or --{other}, not both".replace("_", "-")
        for one, other in _EITHER
    },
    (
        "in_place",
        "sidecar",
    ): "--in-place needs the report beside a file, which marks the file as private",
    ("line_buffered", "jobs"): "--line-buffered writes every record at once: leave "
    "--jobs out",
    ("ledger", "line_buffered"): "--ledger: nothing leaves before all of it is "
    "charged; leave --line-buffered out",
    ("ledger", "seed"): "--seed: anyone who knows it can repeat every draw, so a "
    "ledger has nothing to count; use --key-file",
    ("engine", "jobs"): "--jobs: the master says how many tasks Spark runs, as in "
    "--master 'local[4]'",
    ("engine", "quarantine"): "--quarantine: tasks of several machines cannot add to "
    f"one file; use --on-error skip, or {_LOCAL}",
    ("engine", "resume"): f"--resume: the manifest is kept by one process; {_LOCAL}",
    ("engine", "ledger"): f"--ledger: a ledger is charged by one process; {_LOCAL}",
    ("engine", "sign_key"): "--sign-key: the key of reports stays on this machine; "
    f"{_LOCAL}",
}
# Options that need one of others, and what to do.
_OF_LEDGER = "--ledger, --subject and --limit go together: give all"
_NEEDS = {
    ("ledger", "subject"): _OF_LEDGER,
    ("ledger", "limit"): _OF_LEDGER,
    ("subject", "ledger"): _OF_LEDGER,
    ("limit", "ledger"): _OF_LEDGER,
    ("limit_delta", "ledger"): _OF_LEDGER,
    ("master", "engine"): "--master needs --engine spark: give both",
    ("engine", "files"): "--engine spark: name files or folders, and --out-dir",
    ("engine", "out_dir"): "--engine spark: name files or folders, and --out-dir",
    (
        "resume",
        "out_dir",
    ): "--resume is for folders of outputs (--out-dir); run a single file again "
    "instead: with --key-file that writes the same bytes",
    (
        "resume",
        "key_file",
        "seed",
    ): "--resume: without a key every run draws other words, so there is nothing to "
    "continue; give --key-file",
}


class Command(TyperCommand):
    """A command whose options may be set by the environment and by a file."""

    def get_params(self, ctx: Parsed) -> Parsed:
        """Return the options, which read plain values themselves."""
        return read_plainly(super().get_params(ctx))

    def parse_args(self, ctx: Parsed, args: list[str]) -> list[str]:
        """Read the options, and set those that are not given."""
        if ctx.resilient_parsing:
            return super().parse_args(ctx, args)
        name, below = self.name or "", tuple[Layer, ...]()
        if configuration.reads(name):
            below = configuration.layers(name, self.params, of_run(ctx))
        set_ = ctx.meta[_SETTINGS] = configuration.kept((), below)
        ctx.default_map = {name: each.value for name, each in set_.items()}
        rest = super().parse_args(ctx, args)
        named = {
            each.name for each in self.params if _source(ctx, each) == "COMMANDLINE"
        }
        kept = ctx.meta[_SETTINGS] = configuration.kept(named, below)
        for option in self.params:
            if option.name in set_ and option.name not in kept.keys() | named:
                ctx.params[option.name] = option.default
        configuration.check_layout(ctx.params, named)
        return rest

    def invoke(self, ctx: Parsed) -> Parsed:
        """Run the command, none of whose outputs may be a file that it reads."""
        check_together(self.params, ctx.params)
        reads = configuration.reads(self.name or "")
        file = of_run(ctx).path if reads else None
        ctx.meta[outputs.READ] = outputs.check_named(ctx.params, file)
        # With --json a run writes nothing else on standard error.
        silent = ctx.params.get("json") and "verbose" in ctx.params
        if ctx.meta[_SETTINGS] and not (silent or ctx.params.get("quiet")):
            names: dict[str, list[str]] = {}
            for name, each in sorted(ctx.meta[_SETTINGS].items()):
                names.setdefault(each.source, []).append(name.rstrip("_"))
            said = (f"from {key}: {', '.join(names[key])}" for key in names)
            faults.say("; ".join(said))
        return super().invoke(ctx)

    def format_help(self, ctx: Parsed, formatter: Parsed) -> None:
        """Show help; defaults of settings, which may be of others, are left out."""
        ctx.default_map = None
        with _styled():
            super().format_help(ctx, formatter)


def check_together(options: Sequence[Parsed], values: dict[str, Parsed]) -> None:
    """Refuse options that do not go together. Raises UsageError.

    For folders, --output names the folder of their outputs.
    """
    has_folder = any(map(os.path.isdir, values.get("files") or ()))
    if has_folder and "out_dir" in values and values["output"]:
        if values["out_dir"]:
            raise UsageError(_CONFLICTS["out_dir", "output"])
        values["out_dir"], values["output"] = values["output"], None
    usual = {option.name: option.default for option in options}
    used = {
        name
        for name, value in values.items()
        if value not in (None, (), []) and value != usual.get(name)
    }
    for pair, problem in _CONFLICTS.items():
        if used.issuperset(pair):
            raise UsageError(problem)
    for (name, *others), problem in _NEEDS.items():
        if name in used and usual.keys() >= set(others) and not used & set(others):
            raise UsageError(problem)


class Group(TyperGroup):
    """A group of commands, which says of earlier ones what to use now."""

    def resolve_command(self, ctx: Parsed, args: list[str]) -> Parsed:
        """Return the command that is named. Raises UsageError for a removed one."""
        name = args[0] if ctx.parent is None else f"{ctx.info_name} {args[0]}"
        if name in REMOVED:
            raise UsageError(f"{name}: {REMOVED[name]}")
        return super().resolve_command(ctx, args)

    def format_help(self, ctx: Parsed, formatter: Parsed) -> None:
        """Show help."""
        with _styled():
            super().format_help(ctx, formatter)


class Program(Group):
    """The command `dptext`: ends each run in one line and an exit code."""

    def get_params(self, ctx: Parsed) -> Parsed:
        """Return the options, which read plain values themselves."""
        return read_plainly(super().get_params(ctx))

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


def of_run(ctx: Parsed) -> Configuration:
    """Return the configuration that the options before a command choose."""
    named = ctx.find_root().params
    return configuration.of(named.get("config"), ignored=bool(named.get("no_config")))


def names_configuration(ctx: Parsed) -> bool:
    """Tell whether a configuration was named, or none is wanted."""
    named = ctx.find_root().params
    variable = os.environ.get(configuration.VARIABLE)
    return bool(named.get("config") or named.get("no_config") or variable)


def settings_of(
    command: str, ctx: Parsed
) -> tuple[dict[str, object], dict[str, Setting]]:
    """Return what a command takes without options, and what set it, by parameter.

    Raises UsageError for a setting that its option does not admit.
    """
    root = ctx.find_root()
    try:
        with root.command.commands[command].make_context(command, [], root) as inner:
            return inner.params, inner.meta[_SETTINGS]
    except faults.PARSER as error:
        raise UsageError(wrong(error)) from None


def _source(ctx: Parsed, option: Parsed) -> str:
    """Return what the value of an option is from, as the parser names it."""
    source = ctx.get_parameter_source(option.name)
    return "" if source is None else str(source.name)


def wrong(error: Parsed) -> str:
    """Say in one line what is wrong with the arguments."""
    option, context = getattr(error, "param", None), getattr(error, "ctx", None)
    name = getattr(error, "option_name", "")
    if name in REMOVED:
        return f"{name}: {REMOVED[name]}"
    if option is not None and context is not None:
        setting = context.meta.get(_SETTINGS, {}).get(option.name)
        if setting is not None and _source(context, option) == "DEFAULT_MAP":
            return f"{setting.where}: {error.message}"
        if isinstance(error, BadValue):
            return f"{max(option.opts, key=len)} {error.message}"
    message = " ".join(error.format_message().split()).replace("Value error, ", "")
    if context is not None and message:
        message = f"{message} (see {context.command_path} --help)"
    return message


def _show_all(context: typer.Context, asked: bool) -> None:
    """Show the help with all options."""
    if not asked:
        return
    command: Parsed = context.command
    hidden = [each for each in command.params if each.hidden]
    epilog, command.epilog = command.epilog, None
    for each in hidden:
        each.hidden = False
    try:
        typer.echo(context.get_help())
    finally:
        command.epilog = epilog
        for each in hidden:
            each.hidden = True
    raise typer.Exit


HelpAll = Annotated[
    bool,
    typer.Option(
        "--help-all",
        callback=_show_all,
        is_eager=True,
        help="Show all options.",
    ),
]


def add(
    app: typer.Typer, command: Callable[..., None], name: str | None = None
) -> None:
    """Add a command, with the options of its groups in place of the groups.

    Where it has options of rare use, which `--help` leaves out, it gets `--help-all`.
    """
    function, rare = spread(command)
    name = name or command.__name__
    path = " ".join(dict.fromkeys(("dptext", app.info.name or "dptext", name)))
    epilog = f"{rare} more options: {path} --help-all" if rare else None
    app.command(name, cls=Command, epilog=epilog)(function)


def spread(command: Callable[..., None]) -> tuple[Callable[..., None], int]:
    """Return a command whose groups of options are options, and how many are rare.

    A group is a parameter whose type is a dataclass; its fields are the options.
    """
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
    options = (getattr(each.annotation, "__metadata__", ()) for each in parameters)
    rare = sum(any(getattr(m, "hidden", False) for m in meta) for meta in options)
    if rare:
        last = inspect.Parameter(
            "help_all",
            inspect.Parameter.KEYWORD_ONLY,
            default=False,
            annotation=HelpAll,
        )
        parameters.append(last)

    @functools.wraps(command)
    def run(**values: object) -> None:
        values.pop("help_all", None)
        for name, (group, names) in groups.items():
            values[name] = group(**{each: values.pop(each) for each in names})
        command(**values)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run, rare


def _parameters(
    function: Callable[..., object],
) -> Sequence[tuple[str, inspect.Parameter]]:
    """Return the parameters of a function or class, their types looked up."""
    hints = typing.get_type_hints(function, include_extras=True)
    return [
        (name, parameter.replace(annotation=hints[name]))
        for name, parameter in inspect.signature(function).parameters.items()
    ]
