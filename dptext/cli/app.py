"""The command `dptext` and its sub-commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dptext import __version__
from dptext.cli import (
    audit,
    calibrate,
    check,
    compare,
    doctor,
    embed,
    evaluate,
    explain,
    init,
    ledger,
    lexicon,
    list,
    plan,
    report,
    sanitize,
)
from dptext.cli.parser import Program, add
from dptext.errors import UsageError

app = typer.Typer(
    name="dptext",
    cls=Program,
    help=(
        "Replace the words of texts under word-level differential privacy, and say "
        "truthfully what that protects."
    ),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
# In the order of the help; a command has the name of its module.
for module in (
    *(init, sanitize, embed, evaluate, compare, plan, explain, calibrate, audit, check),
    *(report, list, doctor),
):
    add(app, module.command, module.__name__.rpartition(".")[2])
app.add_typer(lexicon.app, name="lexicon")
app.add_typer(ledger.app, name="ledger")


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"dptext {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Show the version."
        ),
    ] = False,
    config: Annotated[
        Path | None,
        typer.Option(
            help="Configuration, a .dptext.yaml or pyproject.toml; else the nearest "
            "from the working folder upward."
        ),
    ] = None,
    no_config: Annotated[
        bool, typer.Option("--no-config", help="Read no configuration.")
    ] = False,
) -> None:
    """Take the options that stand before a command."""
    if config is not None and no_config:
        raise UsageError("give --config or --no-config, not both")


def main() -> None:
    """Run the command line."""
    app()
