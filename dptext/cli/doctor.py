"""`dptext doctor`: whether what runs need is here and sound, one line each."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import typer

from dptext.cli import layers, options, screen, setup
from dptext.errors import DptextError

# Everything is well; what is missing, that some settings need; what must be mended.
_OK, _ABSENT, _WRONG = "ok", "absent", "wrong"
_STYLES = {_OK: "green", _ABSENT: "yellow", _WRONG: "bold red"}
_REQUIRED = re.compile(r"([A-Za-z0-9_.-]+)")


class Line(NamedTuple):
    """What was looked at, how it is, what was seen, and what to do."""

    what: str
    state: str
    seen: str
    advice: str = ""


def command(context: typer.Context, as_json: options.Json = False) -> None:
    """Look at versions, lexicons, models, keys and configuration; say what to do.

    Exit code 1 where something is wrong; what is absent only some settings need.

    Example: dptext doctor
    """
    lines = [
        *_versions(),
        *_lexicons(),
        *_ngrams(),
        *_models(),
        *_keys(),
        *_configuration(context),
        *_folders(),
    ]
    if as_json:
        screen.print_json([line._asdict() for line in lines])
    else:
        console = screen.console()
        for line in lines:
            said = "; ".join(filter(None, [f"{line.what}: {line.seen}", line.advice]))
            console.print(f"{line.state:6}", style=_STYLES[line.state], end=" ")
            console.print(said, soft_wrap=True)
    if any(line.state == _WRONG for line in lines):
        raise typer.Exit(1)


def _versions() -> Iterator[Line]:
    yield Line("Python", _OK, f"{platform.python_version()} on {platform.platform()}")
    try:
        yield Line("dptext", _OK, metadata.version("dptext"))
        needed = metadata.requires("dptext") or []
    except metadata.PackageNotFoundError:
        yield Line("dptext", _WRONG, "not installed", "pip install it")
        return
    for requirement in needed:
        name = _REQUIRED.match(requirement)
        if name is None or "extra ==" in requirement:
            continue
        try:
            yield Line(name[1], _OK, metadata.version(name[1]))
        except metadata.PackageNotFoundError:
            yield Line(name[1], _WRONG, "not installed", f'pip install "{requirement}"')


def _lexicons() -> Iterator[Line]:
    from dptext import lexicons
    from dptext.lexicons import store

    for each in lexicons.installed():
        what = f"lexicon {each.name}"
        try:
            opened = store.load(each.folder)
        except DptextError as error:
            mend = (
                "install dptext again" if each.name == "builtin" else "import it again"
            )
            yield Line(what, _WRONG, str(error), mend)
        else:
            seen = f"{len(opened.words):,} words, digest {opened.digest[:12]} verified"
            yield Line(what, _OK, seen)


def _ngrams() -> Iterator[Line]:
    from dptext.readers import ngrams
    from dptext.readers.ngrams import ENGLISH, installed

    for name, folder in installed():
        what = f"n-gram model {name}"
        try:
            model = ngrams.load(folder)
        except DptextError as error:
            mend = "make it again: dptext lexicon ngrams"
            if name == ENGLISH:
                mend = "install dptext again"
            yield Line(what, _WRONG, str(error), mend)
        else:
            seen = f"{len(model.gains):,} pairs, digest {model.digest[:12]} verified"
            yield Line(what, _OK, seen)


def _models() -> Iterator[Line]:
    for item in setup.items():
        row = item.row()
        what = f"{row['name']} ({row['for']})"
        if row["path"] is None:
            yield Line(what, _ABSENT, "not here", f"run: {row['command']}")
        else:
            yield Line(what, _OK, str(row["path"]))


def _keys() -> Iterator[Line]:
    """Look at the files of keys that variables name."""
    from dptext.randomness import RunKey
    from dptext.report import signatures

    for name, read in (
        ("key_file", RunKey.from_file),
        ("sign_key", signatures.signing),
    ):
        variable = layers.variable_of(name)
        path = os.environ.get(variable)
        if not path:
            continue
        try:
            read(Path(path))
        except DptextError as error:
            yield Line(variable, _WRONG, str(error))
        else:
            yield Line(variable, _OK, f"{path} is a key that only its owner can read")


def _configuration(context: typer.Context) -> Iterator[Line]:
    """Look at the file of settings, and at the ledger that it names with its key."""
    from dptext.ledger import keys

    try:
        file = layers.of_run(context)
        with layers.of_command("sanitize", context) as inner:
            chosen = layers.settings(inner, file)
    except DptextError as error:
        yield Line("configuration", _WRONG, str(error))
        return
    yield Line("configuration", _OK, str(file.path or "no file"))
    ledger = chosen.get("ledger")
    if ledger is not None and Path(str(ledger.value)).exists():
        path = keys.path_of(Path(str(ledger.value)))
        try:
            keys.read(path)
        except DptextError as error:
            yield Line("ledger", _WRONG, str(error))
        else:
            yield Line("ledger", _OK, f"{path} is a key that only its owner can read")


def _folders() -> Iterator[Line]:
    """Look at the folder of results that are kept: public ones, but trusted."""
    from dptext import cache

    folder = cache.folder()
    if not folder.exists():
        yield Line("cache", _OK, f"{folder} is made when it is needed")
    elif not os.access(folder, os.W_OK):
        seen = f"{folder} cannot be written"
        yield Line("cache", _ABSENT, seen, "results are computed anew each time")
    elif os.name != "nt" and folder.stat().st_mode & 0o022:
        seen = f"other users may write to {folder}"
        yield Line("cache", _WRONG, seen, f"run: chmod -R go-w {folder}")
    else:
        yield Line("cache", _OK, str(folder))
