"""One export of `dptext check` judged, and how all are printed."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from dptext.cli import screen
from dptext.cli.configuration import Configuration

if TYPE_CHECKING:
    from dptext.guarantees.policy import ExportPolicy
    from dptext.report.exports import Export, Index
    from dptext.report.findings import Finding, Judged
    from dptext.report.recompute import Recomputer
    from dptext.report.signatures import Key

TRUST = (
    "reports are trusted, whoever wrote them: to have forged ones refused, sign "
    "reports with --sign-key and check them with --verify-key"
)


def trust(judged: Sequence[Judged], keys: Sequence[Key]) -> str:
    """Say whom the check of some exports trusts: "" with keys, whose holders alone."""
    return TRUST if judged and not keys else ""


def show_one(judged: Judged, format: str, note: Callable[[str], None]) -> None:
    """Print the findings on an export as lines, where these are asked for."""
    for line in judged.notes:
        note(f"{judged.name}: {line}")
    for _, line in judged.findings if format == "text" else ():
        typer.echo(screen.one_line(f"{judged.name}: {line}"))


def show_all(
    judged: Sequence[Judged], trust: str, format: str, note: Callable[[str], None]
) -> None:
    """Print all that was judged for machines, where that is asked for."""
    from dptext import __version__
    from dptext.report import findings

    if trust:
        note(f"dptext: {trust}")
    if format == "json":
        screen.print_json(findings.as_json(judged, trust))
    elif format == "sarif":
        screen.print_json(findings.as_sarif(judged, trust, __version__))


def judged(
    read: Callable[[], Export],
    accepted: ExportPolicy,
    keys: Sequence[Key],
    recomputer: Recomputer,
) -> tuple[Sequence[Finding], Sequence[str]]:
    """Return findings on an export, and notes."""
    from dptext.report import signatures, verify
    from dptext.report.findings import Rule, of_rule

    try:
        export = read()
    except OSError as error:
        return of_rule(Rule.UNREADABLE, [f"cannot be read: {error.strerror}"]), []
    if export.report is None:
        verdict = verify.missing(export)
        return verdict.findings, verdict.notes
    problem = signatures.problem(export.report, keys) if keys else ""
    verdict = verify.verdict(export, accepted, recomputer)
    signature = of_rule(Rule.SIGNATURE, filter(None, [problem]))
    return [*signature, *verdict.findings], verdict.notes


def keys_of(
    paths: Sequence[Path] | None,
    accepted: ExportPolicy,
    configured: Configuration,
    index: Index | None,
) -> tuple[Key, ...]:
    """Return the keys of options, else those that the policy names from its folder."""
    from dptext.report import signatures

    if paths:
        return signatures.keys(paths)
    folder = Path() if configured.path is None else configured.path.parent
    keys = []
    for name in accepted.verify_key:
        path = folder / Path(name).expanduser()
        staged = None if index is None else index.content(os.path.relpath(path))
        if staged is None:
            keys.append(signatures.read(path))
        else:
            keys.append(signatures.of(staged, f"key file {name}"))
    return tuple(keys)
