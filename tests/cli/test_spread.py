"""A command takes groups of options; people meet the options alone."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Annotated

import typer
from typer.testing import CliRunner

from dptext.cli.parser import spread
from dptext.run.marks import Number, Option


@dataclass(frozen=True)
class Size:
    """Two options."""

    width: Annotated[int, Option("How wide.", parse=Number(kind=int, low=1))] = 3
    height: Annotated[int | None, Option("How high.")] = None
    names: Annotated[tuple[str, ...], Option("Names.", spelled="name")] = ()


def command(text: str, *, size: Size, loud: bool = False) -> None:
    """Print what came."""
    typer.echo(f"{text} {size} {loud}")


def test_a_group_is_replaced_by_its_options() -> None:
    """In its place, with their types and defaults; nothing else changes."""
    parameters = inspect.signature(spread(command)).parameters
    assert list(parameters) == ["text", "width", "height", "name", "loud"]
    assert parameters["width"].default == 3
    assert parameters["width"].annotation.__metadata__[0].help == "How wide."
    assert spread(command).__doc__ == command.__doc__


def test_the_command_gets_its_group() -> None:
    """As typed on a command line, defaults filled in, values checked."""
    app = typer.Typer()
    app.command()(spread(command))
    ran = CliRunner().invoke(app, ["tom", "--height", "7"])
    assert ran.output == "tom Size(width=3, height=7, names=()) False\n"
    assert CliRunner().invoke(app, ["tom", "--width", "0"]).exit_code == 2
