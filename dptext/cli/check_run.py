"""What `dptext check` does with its options."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import typer

from dptext import lexicons as stored
from dptext.errors import UsageError
from dptext.guarantees import policy as policies
from dptext.guarantees.policy import ExportPolicy
from dptext.report import exports, verify
from dptext.report.exports import Export
from dptext.report.recompute import Recomputer
from dptext.report.staged import Index

# An export by name, and what reads it.
Named = tuple[str, Callable[[], Export]]


def run(
    files: Sequence[Path],
    policy: Path | None,
    options: Mapping[str, Any],
    *,
    lexicons: Sequence[str],
    staged: bool,
    quiet: bool,
) -> bool:
    """Check exports, print findings; return whether there are any."""

    def note(line: str) -> None:
        if not quiet:
            typer.echo(_shown(line), err=True)

    others = [stored.find(name) for name in lexicons]
    recomputer = Recomputer(others, note)
    failed = False
    with contextlib.ExitStack() as stack:
        index = stack.enter_context(Index()) if staged else None
        terms = _terms(policy, index, options)
        chosen = _on_disk(files, terms, note)
        if index is not None:
            chosen = _in_index(index, files, terms)
        for name, read in chosen:
            found, notes = _judged(read, terms, recomputer)
            failed = failed or bool(found)
            for line in notes:
                note(f"{name}: {line}")
            for line in found if not quiet else ():
                typer.echo(_shown(f"{name}: {line}"))
    return failed


def _judged(
    read: Callable[[], Export], terms: ExportPolicy, recomputer: Recomputer
) -> tuple[Sequence[str], Sequence[str]]:
    """Return findings on an export, and notes."""
    try:
        export = read()
    except OSError as error:
        return [f"cannot be read: {error.strerror}"], []
    verdict = verify.verdict(export, terms, recomputer)
    return verdict.findings, verdict.notes


def _on_disk(
    files: Sequence[Path], terms: ExportPolicy, note: Callable[[str], None]
) -> Iterator[Named]:
    """Give the files that are exports; who names a file means it, mostly."""
    for path in files:
        if path.name.endswith(exports.SIDECAR):
            continue
        reported = path.with_name(path.name + exports.SIDECAR).exists()
        wanted = exports.is_export(path, terms, reported=reported)
        if not wanted and exports.is_document(path):
            note(f"{path}: no export by its name, not checked")
        elif wanted or not exports.excluded(path, terms):
            yield str(path), partial(exports.on_disk, path)


def _in_index(
    index: Index, files: Sequence[Path], terms: ExportPolicy
) -> Iterator[Named]:
    for name in index.exports([str(path) for path in files], terms):
        yield name, partial(index.export, name)


def _terms(
    path: Path | None, index: Index | None, options: Mapping[str, Any]
) -> ExportPolicy:
    """Return the policy: that of the file, with options in place of its keys."""
    base = _base(path, index)
    if not options:
        return base
    given = policies.parse(options, "options")
    return replace(
        base,
        **{
            each.name: getattr(given, each.name)
            for each in fields(given)
            if each.name in options
        },
    )


def _base(path: Path | None, index: Index | None) -> ExportPolicy:
    if path is not None:
        return policies.load(path)
    usual = Path(policies.NAME)
    if index is None:
        return policies.load(usual) if usual.exists() else ExportPolicy()
    data = index.content(policies.NAME)
    if data is not None:
        return policies.decode(data, policies.NAME)
    if usual.exists():
        msg = f"{usual}: on disk but not staged; git add it, or name it with --policy"
        raise UsageError(msg)
    return ExportPolicy()


def _shown(line: str) -> str:
    """Return a line without characters that a terminal would obey."""
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode()
        for each in line
    )
