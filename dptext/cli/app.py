"""The command `dptext` and its sub-commands."""

from __future__ import annotations

import functools
import inspect
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand
from typer.main import get_command, get_group

from dptext._built import description
from dptext.cli.parser import Program, add, spread
from dptext.errors import UsageError

# In the order of the help; a command is the module of its name.
NAMES = (
    "init",
    "sanitize",
    "embed",
    "evaluate",
    "compare",
    "explain",
    "calibrate",
    "audit",
    "check",
    "report",
    "list",
    "doctor",
    "lexicon",
    "topics",
    "ledger",
)


class _Dptext(Program):
    """The command `dptext`, which loads no command but the one that runs."""

    def __init__(self, **named: Any) -> None:
        super().__init__(**named)
        self.commands: Any = dict.fromkeys(NAMES)

    def get_command(self, ctx: Any, name: str) -> Any:
        """Return a command, imported when it is asked for."""
        return self.commands.get(name) or (_command(name) if name in NAMES else None)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Show help, which needs no options of commands."""
        self.commands = {name: _summary(name) for name in NAMES}
        super().format_help(ctx, formatter)


@functools.cache
def _command(name: str) -> Any:
    """Import a command, or a group of commands, and build its parser."""
    module = import_module(f"dptext.cli.{name}")
    if hasattr(module, "app"):
        return get_group(module.app)
    single = typer.Typer(add_completion=False)
    add(single, module.command, name)
    return get_command(single)


def _summary(name: str) -> TyperCommand:
    """Return a command with nothing but its help."""
    module = import_module(f"dptext.cli.{name}")
    if hasattr(module, "app"):
        return TyperCommand(name, help=module.app.info.help)
    return TyperCommand(name, help=inspect.getdoc(module.command))


app = typer.Typer(
    name="dptext",
    cls=_Dptext,
    help=(
        "Replace words in texts under word-level differential privacy, and report "
        "truthfully how much that protects."
    ),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help", "--help-all"]},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(description())
        raise typer.Exit


def options(
    context: typer.Context,
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_version,
            is_eager=True,
            help="Show the version, kernel and lexicon.",
        ),
    ] = False,
    config: Annotated[
        Path | None,
        typer.Option(
            envvar="DPTEXT_CONFIG",
            help="Configuration file, a .dptext.yaml or pyproject.toml. Default: the "
            "nearest one, from the working folder upward.",
        ),
    ] = None,
    no_config: Annotated[bool, "Read no configuration file."] = False,
) -> None:
    """Take the options that stand before a command."""
    source = context.get_parameter_source("config")
    if no_config and source is not None and source.name == "COMMANDLINE":
        raise UsageError("give --config or --no-config, not both")


app.callback()(spread(options))


def main() -> None:
    """Run the command line."""
    app()
