"""`dptext config`: which settings hold here, and where each is from."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from dptext.cli import layers, options, screen
from dptext.cli.configuration import Configuration

if TYPE_CHECKING:
    from dptext.types import JsonObject

_DEFAULT = "default"


def command(context: typer.Context, as_json: options.Json = False) -> None:
    """Show the settings of sanitize and check that hold here, and where they are from.

    They come from .dptext.yaml or [tool.dptext] of pyproject.toml, the nearest from the
    working folder upward, and from variables such as DPTEXT_RISK. What is given on the
    command line goes before variables, and these before the file.

    Example: dptext config --json
    """
    file = layers.of_run(context)
    rows = [*_sanitize(context, file), *_check(context, file)]
    if as_json:
        path = None if file.path is None else str(file.path)
        screen.print_json({"file": path, "settings": rows})
        return
    console = screen.console()
    console.print(f"configuration: {file.path or 'no file'}", soft_wrap=True)
    table = screen.table("setting", "value", "from")
    for row in rows:
        style = "dim" if row["from"] == _DEFAULT else ""
        value = (
            "" if row["value"] is None else json.dumps(row["value"], ensure_ascii=False)
        )
        table.add_row(str(row["setting"]), value, str(row["from"]), style=style)
    console.print(table)


def _sanitize(context: typer.Context, file: Configuration) -> Iterator[JsonObject]:
    with layers.of_command("sanitize", context) as inner:
        chosen = layers.settings(inner, file)
        defaults = {each.name: each.default for each in inner.command.params}
    for key in sorted({*layers.keys(), *chosen}):
        value = defaults.get("set_" if key == "set" else key)
        yield _row(f"sanitize.{key}", value, chosen.get(key))


def _check(context: typer.Context, file: Configuration) -> Iterator[JsonObject]:
    from dptext.guarantees import policy

    with layers.of_command("check", context) as inner:
        by_variable = layers.settings(inner, file)
    for key, value in dataclasses.asdict(policy.of(file.policy, file.shown)).items():
        setting = by_variable.get(key)
        if setting is None and key in (file.policy or ()):
            setting = layers.Setting(value, file.shown)
        yield _row(f"check.{key}", value, setting)


def _row(name: str, value: object, setting: layers.Setting | None) -> JsonObject:
    source = _DEFAULT
    if setting is not None:
        value, source = setting.value, setting.source
    plain = str(value) if isinstance(value, Path) else value
    return {"setting": name, "value": plain, "from": source}
