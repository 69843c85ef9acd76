"""The command `dptext` and its sub-commands."""

from __future__ import annotations

import functools
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand
from typer.main import get_command, get_group

from dptext._built import description
from dptext.cli import parser
from dptext.errors import UsageError

#: The summary of each command, under the headings of the help. A command is in the
#: module of its name, which is loaded only to run it.
COMMANDS = {
    "Make texts private": {
        "init": "Inspect a file, preview settings, and write .dptext.yaml.",
        "sanitize": (
            "Replace the words in text fields of files; copy everything else."
        ),
        "embed": "Release noisy vectors of words or texts, to train models on.",
        "words": "Find words that many people wrote, to leave them unchanged.",
        "topics": "Build public topics, for releases that protect whole texts.",
    },
    "Check and report": {
        "check": ("Check that exports have valid reports that meet the policy."),
        "report": ("Show the report of an output, or two reports side by side."),
        "ledger": "Show, export and verify the privacy losses that a ledger records.",
    },
    "Measure": {
        "explain": (
            "Show epsilon and the most likely replacements of each word of a text."
        ),
        "evaluate": ("Compare a private file with its original: utility, attacks."),
        "compare": ("Compare mechanisms on a sample of your texts: utility, attacks."),
        "calibrate": "Find the epsilon of a mechanism for a given risk.",
        "audit": ("Test whether a claim is true and the program matches its formula."),
    },
    "Look up and set up": {
        "list": "List profiles and mechanisms, or show one in full.",
        "lexicon": "List, import and adapt vocabularies, and count pairs of words.",
        "doctor": "Check versions, lexicons, models, keys and configuration.",
    },
}
NAMES = tuple(name for commands in COMMANDS.values() for name in commands)


class _Dptext(parser.Program):
    """The command `dptext`, which loads only the command that runs."""

    def __init__(self, **named: Any) -> None:
        super().__init__(**named)
        self.commands: Any = dict.fromkeys(NAMES)

    def get_command(self, ctx: Any, name: str) -> Any:
        """Import and return a command."""
        command = self.commands.get(name)
        return _command(name) if command is None and name in NAMES else command

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Show help without loading the options of commands."""
        self.commands = {
            name: TyperCommand(name, help=summary, rich_help_panel=heading)
            for heading, commands in COMMANDS.items()
            for name, summary in commands.items()
        }
        super().format_help(ctx, formatter)


@functools.cache
def _command(name: str) -> Any:
    """Import a command or group of commands, and build its parser."""
    module = import_module(f"dptext.cli.{name}")
    if hasattr(module, "app"):
        return get_group(module.app)
    single = typer.Typer(add_completion=False)
    parser.add(single, module.command, name, module.EXAMPLES)
    return get_command(single)


app = typer.Typer(
    name="dptext",
    cls=_Dptext,
    help=(
        "Replace words in texts under word-level differential privacy, and report "
        "truthfully how much that protects."
    ),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(description())
        raise typer.Exit


@app.callback()
def set_up(
    context: typer.Context,
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_show_version,
            is_eager=True,
            help="Show the version, kernel and lexicon.",
        ),
    ] = False,
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            metavar="FILE",
            envvar="DPTEXT_CONFIG",
            help="Configuration file (.dptext.yaml or pyproject.toml). Default: the "
            "nearest one, in the working folder or above.",
        ),
    ] = None,
    no_config: Annotated[
        bool, typer.Option("--no-config", help="Read no configuration file.")
    ] = False,
) -> None:
    """Process the options that precede a command."""
    if no_config and parser.is_typed(context, "config"):
        raise UsageError("give --config or --no-config, not both")
    parser.set_defaults(context, context.invoked_subcommand or "")


def main() -> None:
    """Run the command line."""
    app()
