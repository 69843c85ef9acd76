"""`dptext doctor`: whether what runs need is here and sound, one line each."""

from __future__ import annotations

import dataclasses
import json
import os
import platform
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from dptext.cli import configuration, faults, options, parser, screen
from dptext.errors import DptextError

if TYPE_CHECKING:
    from dptext.cli.configuration import Setting
    from dptext.types import JsonObject

# Everything is well; what is missing, that some settings need; what must be mended.
_OK, _ABSENT, _WRONG = "ok", "absent", "wrong"
_STYLES = {_OK: "green", _ABSENT: "yellow", _WRONG: "bold red"}
_DEFAULT = "default"
_REQUIRED = re.compile(r"([A-Za-z0-9_.-]+)")


class Line(NamedTuple):
    """What was looked at, how it is, what was seen, and what to do."""

    what: str
    state: str
    seen: str
    advice: str = ""


def command(
    context: typer.Context,
    install: Annotated[
        list[str] | None,
        typer.Option(
            help="Download this model or data set, or all that are missing; "
            "repeatable. Nothing else in dptext downloads anything."
        ),
    ] = None,
    settings: Annotated[
        bool,
        typer.Option(
            "--settings",
            help="Show the current settings of sanitize and check instead, with the "
            "source of each.",
        ),
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Check versions, lexicons, models, keys and configuration, and suggest fixes.

    Ends with exit code 1 if something is wrong. Missing optional parts are not errors.

    Example: dptext doctor --install wordnet
    """
    if settings:
        _show_settings(context, as_json)
        return
    for name in install or ():
        _install(name)
    lines = [
        *_versions(),
        *_lexicons(),
        *_ngrams(),
        _kernel(),
        *_models(),
        *_keys(),
        *_configuration(context),
        *_folders(),
    ]
    if as_json:
        screen.print_json([line._asdict() for line in lines])
    else:
        _show(lines)
    if any(line.state == _WRONG for line in lines):
        raise typer.Exit(1)


def _show(lines: Sequence[Line]) -> None:
    console = screen.console()
    for line in lines:
        said = "; ".join(filter(None, [f"{line.what}: {line.seen}", line.advice]))
        console.print(f"{line.state:6}", style=_STYLES[line.state], end=" ")
        console.print(said, soft_wrap=True)


def _install(name: str) -> None:
    """Fetch a model or data, or each that is absent. Raises DptextError."""
    from dptext import models

    absent = [each.name for each in models.items() if each.usable and not each.path]
    for each in absent if name == "all" else [name]:
        if each in absent:
            faults.say(f"fetching {each}")
        models.install(each)


def _versions() -> Iterator[Line]:
    from importlib import metadata

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


def _line(what: str, look: Callable[[], str], mend: str = "") -> Line:
    """Return how a thing is: what look says of it, or why it is wrong."""
    try:
        return Line(what, _OK, look())
    except DptextError as error:
        return Line(what, _WRONG, str(error), mend)


def _lexicons() -> Iterator[Line]:
    from dptext import lexicons
    from dptext.lexicons import store

    def look(folder: Path) -> str:
        opened = store.load(folder)
        return f"{len(opened.words):,} words, digest {opened.digest[:12]} verified"

    for each in lexicons.installed():
        mend = "install dptext again" if each.name == "builtin" else "import it again"
        yield _line(f"lexicon {each.name}", partial(look, each.folder), mend)


def _ngrams() -> Iterator[Line]:
    from dptext.readers import ngrams

    def look(folder: Path) -> str:
        model = ngrams.load(folder)
        return f"{len(model.gains):,} pairs, digest {model.digest[:12]} verified"

    for name, folder in ngrams.installed():
        mend = "make it again: dptext lexicon ngrams"
        mend = "install dptext again" if name == ngrams.ENGLISH else mend
        yield _line(f"n-gram model {name}", partial(look, folder), mend)


def _kernel() -> Line:
    """Look at the loops of readers: in C where they were compiled, else in numpy."""
    from dptext.readers import kernel

    what = "decoding kernel"
    if kernel.library is not None:
        return Line(what, _OK, "compiled")
    seen = "numpy, which writes the same words and takes two to three times as long"
    if os.environ.get(kernel.VARIABLE) == "numpy":
        return Line(what, _ABSENT, seen, f"unset {kernel.VARIABLE}")
    mend = "install a C compiler, then dptext again: pip install --no-cache-dir "
    return Line(what, _ABSENT, seen, f"{mend}--force-reinstall --no-deps dptext")


def _models() -> Iterator[Line]:
    from dptext import models

    for item in models.items():
        what, path = f"{item.name} ({item.serves})", item.path
        if path is None:
            yield Line(what, _ABSENT, "not here", f"run: {item.advice}")
        else:
            yield Line(what, _OK, path)


def _keys() -> Iterator[Line]:
    """Look at the files of keys that variables name."""
    from dptext.randomness import RunKey
    from dptext.report import signatures

    for name, read in (
        ("key_file", RunKey.from_file),
        ("sign_key", signatures.signing),
    ):
        variable = configuration.variable_of(name)
        if path := os.environ.get(variable):
            yield _line(variable, partial(_key, read, Path(path)))


def _key(read: Callable[[Path], object], path: Path) -> str:
    read(path)
    return f"{path} is a key that only its owner can read"


def _configuration(context: typer.Context) -> Iterator[Line]:
    """Look at the file of settings, and at the ledger that it names with its key."""
    from dptext.ledger import keys

    chosen: dict[str, Setting] = {}

    def look() -> str:
        chosen.update(parser.settings_of("sanitize", context)[1])
        return str(parser.of_run(context).path or "no file")

    yield _line("configuration", look)
    ledger = chosen.get("ledger")
    if ledger is not None and Path(str(ledger.value)).exists():
        path = keys.path_of(Path(str(ledger.value)))
        yield _line("ledger", partial(_key, keys.read, path))


def _folders() -> Iterator[Line]:
    """Look at the folder of results that are kept: public ones, but trusted."""
    from dptext import cache

    folder = cache.folder()
    if not folder.exists():
        yield Line("cache", _OK, f"{folder} will be created when needed")
    elif not os.access(folder, os.W_OK):
        seen = f"{folder} cannot be written"
        yield Line("cache", _ABSENT, seen, "results are recomputed each time")
    elif os.name != "nt" and folder.stat().st_mode & 0o022:
        seen = f"other users may write to {folder}"
        yield Line("cache", _WRONG, seen, f"run: chmod -R go-w {folder}")
    else:
        yield Line("cache", _OK, str(folder))


def _show_settings(context: typer.Context, as_json: bool) -> None:
    """Show which settings hold here, and where each is from."""
    from dptext.report.blocks import Column, Paragraph, Table

    file = parser.of_run(context)
    rows = [*_of_sanitize(context), *_of_check(context)]
    if as_json:
        path = None if file.path is None else str(file.path)
        screen.print_json({"file": path, "settings": rows})
        return
    table = Table(
        [Column("setting"), Column("value"), Column("from")],
        [
            (
                row["setting"],
                row["value"] and json.dumps(row["value"], ensure_ascii=False),
                row["from"],
            )
            for row in rows
        ],
    )
    screen.show(Paragraph(f"configuration: {file.path or 'no file'}", "code"), table)


def _of_sanitize(context: typer.Context) -> Iterator[JsonObject]:
    values, chosen = parser.settings_of("sanitize", context)
    names = {*configuration.BY_FILE["sanitize"], *chosen}
    for name in sorted(names):
        yield _row(f"sanitize.{name.rstrip('_')}", values[name], chosen.get(name))


def _of_check(context: typer.Context) -> Iterator[JsonObject]:
    from dptext.guarantees import policy

    values, chosen = parser.settings_of("check", context)
    file = parser.of_run(context)
    of_file = configuration.Setting(None, file.shown, file.shown)
    for key, value in dataclasses.asdict(policy.of(file.policy, file.shown)).items():
        setting = chosen.get(key, of_file if key in (file.policy or ()) else None)
        yield _row(f"check.{key}", values[key] if key in chosen else value, setting)


def _row(name: str, value: object, setting: Setting | None) -> JsonObject:
    plain = str(value) if isinstance(value, Path) else value
    if plain in ([], ()):  # an option that may be repeated, and is not given
        plain = None
    source = _DEFAULT if setting is None else setting.source
    return {"setting": name, "value": plain, "from": source}
