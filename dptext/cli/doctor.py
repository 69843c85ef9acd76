"""`dptext doctor`: checks each part that runs need, one line each."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from dptext import cache, lexicons, models, profile, randomness, signatures, streams
from dptext._built import VARIABLE, Source, source
from dptext._version import __version__
from dptext.attackers import kernel, ngrams
from dptext.checking import policy
from dptext.cli import configuration, faults, options, parser, screen
from dptext.errors import DptextError, UsageError
from dptext.lexicons import store
from dptext.report.blocks import Column, Paragraph, Section, Table
from dptext.report.figures import count
from dptext.run import choices, groups
from dptext.run.marks import ByFile, Option

# In order; missing, which some settings need; broken.
_OK, _ABSENT, _WRONG = "ok", "absent", "wrong"
_STYLES = {_OK: "green", _ABSENT: "yellow", _WRONG: "bold red"}
_CLEAR = "dptext doctor --cache --clear"
_AGAIN = "pip install --no-cache-dir --force-reinstall --no-deps"
_REQUIRED = re.compile(r"([A-Za-z0-9_.-]+)(?!.*extra ==)")


class Inspection(NamedTuple):
    """The state of one part."""

    part: str
    #: ok, absent or wrong.
    state: str
    #: Version, place or reason.
    seen: str
    #: A command that mends the part, if it needs that.
    advice: str = ""


EXAMPLES = ("dptext doctor --install wordnet", "dptext doctor --settings")


def command(
    context: typer.Context,
    *,
    install: Annotated[
        list[str] | None,
        Option(
            "Download this model or data set, or all that are missing; "
            "repeatable. Nothing else in dptext downloads anything.",
            metavar="NAME",
        ),
    ] = None,
    settings: Annotated[
        bool,
        Option(
            "Show the effective settings of sanitize and check, and where each comes "
            "from."
        ),
    ] = False,
    cache: Annotated[bool, Option("Show the cached results and their size.")] = False,
    clear: Annotated[bool, Option("With --cache: delete the cached results.")] = False,
    as_json: options.AsJson = False,
) -> None:
    """Check versions, lexicons, models, keys and configuration.

    Suggests fixes, and ends with exit code 1 if something is wrong. Missing optional
    parts are not errors.
    """
    if clear and not cache:
        raise UsageError("--clear needs --cache: give both")
    if cache:
        _show_cache(as_json, clear=clear)
        return
    if settings:
        _show_settings(context, as_json)
        return

    absent = [each.name for each in models.items() if each.usable and not each.path]
    for name in install or ():
        for each in absent if name == "all" else [name]:
            if each in absent:
                faults.print_line(f"fetching {each}")
            models.install(each)
    lines = [*_versions(), *_stored(), _kernel(), *_models(), *_keys()]
    lines += [_configuration(context), _folder()]
    if as_json:
        screen.deliver([line._asdict() for line in lines], as_json)
    else:
        console = screen.console()
        for line in lines:
            text = "; ".join(filter(None, [f"{line.part}: {line.seen}", line.advice]))
            console.print(f"{line.state:6}", style=_STYLES[line.state], end=" ")
            console.print(text, soft_wrap=True)
    if any(line.state == _WRONG for line in lines):
        raise typer.Exit(1)


def _versions() -> Iterator[Inspection]:
    from importlib import metadata

    yield Inspection(
        "Python", _OK, f"{platform.python_version()} on {platform.platform()}"
    )
    needed = ["dptext"]
    with contextlib.suppress(metadata.PackageNotFoundError):
        needed += metadata.requires("dptext") or []
    for requirement in needed:
        if name := _REQUIRED.match(requirement):
            try:
                yield Inspection(name[1], _OK, metadata.version(name[1]))
            except metadata.PackageNotFoundError:
                mend = f'pip install "{requirement}"'
                yield Inspection(name[1], _WRONG, "not installed", mend)


def _read(
    subject: str, read: Callable[[Path], object], path: Path, seen: str, mend: str = ""
) -> Inspection:
    """Check that a file or folder can be read, and describe its state."""
    try:
        read(path)
    except DptextError as error:
        return Inspection(subject, _WRONG, str(error), mend)
    return Inspection(subject, _OK, seen)


def _stored() -> Iterator[Inspection]:
    """Check the digests of lexicons and n-gram models."""
    seen = "digest verified"
    for each in lexicons.installed():
        mend = "install dptext again" if each.name == "builtin" else "import it again"
        yield _read(
            subject=f"lexicon {each.name}",
            read=store.load,
            path=each.folder,
            seen=seen,
            mend=mend,
        )
    for name, folder in ngrams.installed():
        mend = "build it again: dptext lexicon ngrams"
        mend = "install dptext again" if name == ngrams.ENGLISH else mend
        yield _read(
            subject=f"n-gram model {name}",
            read=ngrams.load,
            path=folder,
            seen=seen,
            mend=mend,
        )


def _kernel() -> Inspection:
    """Check whether the attackers' inner loops run in C or in numpy."""
    part = "decoding kernel"
    if kernel.library is not None:
        return Inspection(part, _OK, "compiled")
    seen = "numpy (same output, two to three times slower)"
    again = {
        Source.PACKAGE: f"{_AGAIN} --no-binary dptext dptext=={__version__}",
        Source.FOLDER: f"{_AGAIN} . (in the folder of dptext)",
        Source.EDITABLE: "python hatch_build.py (in the folder of dptext)",
    }
    mend = f"install a C compiler, then {again[source()]}"
    if os.environ.get(VARIABLE) == "numpy":
        mend = f"unset {VARIABLE}"
    return Inspection(part, _ABSENT, seen, mend)


def _models() -> Iterator[Inspection]:

    for item in models.items():
        part = f"{item.name} ({item.serves})"
        absent = Inspection(part, _ABSENT, "not here", f"run: {item.advice}")
        yield absent if item.path is None else Inspection(part, _OK, item.path)


def _keys() -> Iterator[Inspection]:
    """Check the key files named by environment variables."""
    read: dict[str, Callable[[Path], object]] = {
        "key_file": randomness.RunKey.from_file,
        "sign_key": signatures.read_private,
    }
    for name, reader in read.items():
        variable = configuration.variable_name(name)
        if path := os.environ.get(variable):
            seen = f"{path} is a key that other users cannot read"
            yield _read(variable, reader, Path(path), seen)


def _configuration(context: typer.Context) -> Inspection:
    """Check the configuration file."""
    try:
        parser.default_values("sanitize", context)
    except DptextError as error:
        return Inspection("configuration", _WRONG, str(error))
    return Inspection(
        "configuration", _OK, str(parser.find_configuration(context).path or "no file")
    )


def _folder() -> Inspection:
    """Check the cache folder, whose content is public but trusted."""
    folder = cache.folder()
    there = next(each for each in (folder, *folder.parents) if os.path.exists(each))
    if not (there.is_dir() and os.access(there, os.W_OK)):
        seen = f"{folder} cannot be written"
        return Inspection("cache", _ABSENT, seen, "results are recomputed each time")
    if there != folder:
        return Inspection("cache", _OK, f"{folder} will be created when needed")
    status = folder.stat()
    if not streams.is_own(status):
        seen = f"{folder} belongs to another user"
        return Inspection(
            "cache", _WRONG, seen, "set XDG_CACHE_HOME to a folder that you own"
        )
    if status.st_mode & 0o022:
        seen = f"other users may write to {folder}"
        return Inspection("cache", _WRONG, seen, f"run: chmod -R go-w {folder}")
    total = sum(size for _, size in cache.sizes().values()) / 1e6
    seen = f"{folder}, {total:.0f} MB ({_CLEAR} deletes it)"
    return Inspection("cache", _OK, seen)


_KEPT = (
    Column("kept", path="kind"),
    Column("files", count),
    Column("MB", "{:.1f}".format, path=lambda row: row["bytes"] / 1e6),
)


def _show_cache(as_json: bool, *, clear: bool) -> None:
    """Show the cache's content and size by kind; then delete it if asked."""
    folder, sizes = str(cache.folder()), cache.sizes()
    kept = [
        {"kind": kind, "files": files, "bytes": size}
        for kind, (files, size) in sizes.items()
    ]
    if clear:
        cache.clear()
    total = sum(size for _, size in sizes.values()) / 1e6
    done = "deleted" if clear else f"delete them: {_CLEAR}"
    about = (
        f"{total:.1f} MB of public results, recomputed when needed; results unused for "
        "a month are deleted automatically, as are the oldest above 0.5 GiB"
    )
    data = {"folder": folder, "cleared": clear, "kept": kept}
    table, note = Table.from_items(_KEPT, kept), Paragraph(f"{about}; {done}")
    screen.deliver(data, as_json, Section(folder, [table, note]))


_SETTINGS = (
    Column("setting"),
    Column(
        "value",
        path=lambda row: row["value"] and json.dumps(row["value"], ensure_ascii=False),
    ),
    Column("from"),
)


def _show_settings(context: typer.Context, as_json: bool) -> None:
    """Show the effective settings and where each comes from."""
    file = parser.find_configuration(context)
    rows = []

    def add(name: str, value: object, source: str | None) -> None:
        # An option that may be repeated and is not given is empty.
        plain = json.dumps(None if value in ([], ()) else value, default=str)
        value = json.loads(plain)
        rows.append({"setting": name, "value": value, "from": source or "default"})

    values, chosen = parser.default_values("sanitize", context)
    named = {each: values[each] for each in ("profile", "topics", "risk", "mechanism")}
    values["profile"] = choices.Choices(
        **named, overrides=choices.read_keys(values["set"] or ())
    ).name
    for name in sorted({*groups.named(ByFile), *chosen}):
        source = chosen[name].source if name in chosen else None
        add(f"sanitize.{name}", values[name], source)
    values, chosen = parser.default_values("check", context)
    accepted = policy.from_section(file.policy, file.label)
    if accepted.allow is None:
        usual = policy.usually_allowed(profile.load(choices.DEFAULT).tokens)
        accepted = replace(accepted, allow=usual)
    for name, value in asdict(accepted).items():
        source = file.label if name in (file.policy or ()) else None
        if name in chosen:
            value, source = values[name], chosen[name].source
        add(f"check.{name}", value, source)
    path = None if file.path is None else str(file.path)
    title = Paragraph(f"configuration: {path or 'no file'}", "code")
    table = Table.from_items(_SETTINGS, rows)
    screen.deliver({"file": path, "settings": rows}, as_json, title, table)
