"""`dptext man`: the manual page of all commands, made from their own help."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from dptext.cli import screen
from dptext.cli.arguments import Parsed

_CODES = (
    ("0", "done"),
    ("1", "a finding, or a known failure"),
    ("2", "wrong usage, profile or lexicon"),
    ("3", "a run that a limit refuses"),
    ("4", "a record that cannot be read"),
    ("70", "a bug in dptext"),
    ("129, 130", "the terminal hung up; interrupted"),
    ("141, 143", "the reader of the output is gone; terminated"),
)


def command(
    context: typer.Context,
    install: Annotated[
        bool,
        typer.Option("--install", help="Put it where man finds it for this user."),
    ] = False,
) -> None:
    """Print the manual page, or install it; then: man dptext.

    Completion of the shell is installed by dptext --install-completion.

    Example: dptext man --install
    """
    assert context.parent is not None
    page = "\n".join(_page(context.parent.command)) + "\n"
    if not install:
        typer.echo(page, nl=False)
        return
    target = folder() / "dptext.1"
    target.parent.mkdir(parents=True, exist_ok=True)
    screen.write_file(target, page.encode())
    typer.echo(f"written: {target}", err=True)


def folder() -> Path:
    """Return the folder of the user's own manual pages."""
    home = os.environ.get("XDG_DATA_HOME", "")
    data = Path(home) if os.path.isabs(home) else Path.home() / ".local" / "share"
    return data / "man" / "man1"


def _page(group: Parsed) -> Iterator[str]:
    """Yield the lines of the page in the macros of man(7)."""
    from dptext import __version__

    yield f'.TH DPTEXT 1 "" "dptext {__version__}" "User Commands"'
    yield from (".SH NAME", "dptext \\- replace the words of texts under word-level")
    yield "differential privacy"
    yield from (".SH SYNOPSIS", ".B dptext", "[OPTIONS] COMMAND [ARGUMENTS]")
    yield from (".SH DESCRIPTION", _text(group.help), ".SH OPTIONS")
    yield from _options(group)
    yield ".SH COMMANDS"
    for name, each in _commands(group, "dptext"):
        yield f".SS {_text(name)}"
        yield from _described(each.help or "")
        yield from _options(each)
    yield ".SH ENVIRONMENT"
    yield "Settings are also read from variables (DPTEXT_RISK) and from .dptext.yaml or"
    yield "pyproject.toml: see dptext config."
    yield ".SH EXIT STATUS"
    for code, meaning in _CODES:
        yield from (".TP", f".B {code}", _text(meaning))


def _commands(group: Parsed, path: str) -> Iterator[tuple[str, Parsed]]:
    for name, each in group.commands.items():
        if hasattr(each, "commands"):
            yield from _commands(each, f"{path} {name}")
        else:
            yield f"{path} {name}", each


def _described(help: str) -> Iterator[str]:
    for paragraph in inspect.cleandoc(help).split("\n\n"):
        yield from (_text(paragraph), ".PP")


def _options(command: Parsed) -> Iterator[str]:
    for option in command.params:
        if getattr(option, "hidden", False):
            continue
        names = [*option.opts, *option.secondary_opts]
        metavar = "" if getattr(option, "is_flag", False) else " VALUE"
        if option.param_type_name == "argument":
            names, metavar = [option.name.upper()], ""
        said = getattr(option, "help", None) or ""
        head = f"{', '.join(names)}{metavar}"
        yield from (".TP", f".B {_text(head)}", _text(said))


def _text(text: str) -> str:
    """Write text so that roff reads nothing in it as a macro."""
    plain = " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{plain}" if plain.startswith((".", "'")) else plain
