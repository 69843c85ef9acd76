"""Outputs of earlier runs: no run into a folder draws a finished one anew.

Two versions of a text with different draws tell more than one. So a run into a folder
stops before it draws anew an output that a manifest or a public report shows to be
finished, and a run that replaces a single output says so.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

from dptext import streams
from dptext.engine.files import SignedReports
from dptext.engine.folders import is_folder
from dptext.engine.job import Job
from dptext.engine.manifest import MANIFEST, Manifest, State
from dptext.errors import UsageError
from dptext.randomness import RunKey
from dptext.report import document
from dptext.report.document import Document
from dptext.report.layout import Layout, sidecar_path
from dptext.run.files import SIDECAR
from dptext.run.interface import option
from dptext.settings import digest_of_data
from dptext.types import JsonObject

_NO_KEY = "because runs without a key use fresh randomness"
_WITHOUT_KEY = "made without this key"
_REASONS = {
    State.OTHER_KEY: f"made with another key (or {MANIFEST} was edited)",
    State.OTHER_SETTINGS: "made with other settings",
}
# Why an output is made again with the same draws.
_CHANGES = {
    State.OUTDATED: "the input, the columns or the format changed",
    State.OTHER_FAULTS: "an earlier run treated faulty records differently",
}


class Earlier:
    """Compares the draws of a run with those of outputs that are there."""

    def __init__(
        self, settings: JsonObject, lexicon: str, key: RunKey, reports: SignedReports
    ) -> None:
        """Take the settings of a run and the digest of its lexicon, as in reports."""
        self._key, self._reports = key, reports
        self._settings, self._lexicon = digest_of_data(settings), lexicon

    def check(self, folder: str, jobs: Sequence[Job], manifest: Manifest) -> str:
        """Raise UsageError if a job would draw a finished output of a folder anew.

        Returns a line on outputs that will be made again with the same draws from
        another input, "" if there are none.
        """
        anew, again = [], []
        changes: dict[str, None] = {}
        for job in jobs:
            state = manifest.state(job)
            reason = _REASONS.get(state)
            if state is State.UNKNOWN:
                reason = self._difference(job)
            if reason is not None:
                is_keyed = self._key.origin != "system"
                anew.append((job, reason if is_keyed else _NO_KEY))
            elif state in _CHANGES:
                again.append(job)
                changes[_CHANGES[state]] = None
        if anew:
            job, reason = anew[0]
            advice = "write to another folder, or remove outputs that nobody has"
            if reason == _NO_KEY:
                advice += "; with a key file repeated runs are identical"
            else:
                advice = f"use the key and settings of that run, {advice}"
            raise UsageError(
                f"{folder}: this run would draw {_counted(len(anew))} anew "
                f"({_first(folder, anew[0][0], len(anew))}), {reason}; a second "
                f"version of a text weakens protection: {advice}"
            )
        if not again:
            return ""
        kept = "records with the same id and text keep their words"
        if again[0].selection.id_field is None:
            kept = (
                "records keep their words up to the first one added or left out "
                f"({option('id')} "
                "FIELD keeps those of all others)"
            )
        return (
            f"{folder}: {_counted(len(again))} will be made again "
            f"({_first(folder, again[0], len(again))}), as {' or '.join(changes)}; "
            f"{kept}"
        )

    def replaced(self, job: Job) -> str:
        """Return a line on an earlier output that a job draws anew, "" without one."""
        if self._difference(job) is None:
            return ""
        return (
            f"{job.output}: this output would replace an earlier one with other draws; "
            "send only one of two versions of a text, as the second weakens protection"
        )

    def _difference(self, job: Job) -> str | None:
        """Return why the draws of a job are not those of its output's report.

        None without an output that has a report, and if no difference is known, as a
        report tells nothing of the key.
        """
        report = self._report(job)
        if report is None:
            return None
        run, key = report.run, self._key.origin
        if "system" in (key, run.key):
            return _NO_KEY if key == "system" else _WITHOUT_KEY
        layout = Layout.from_selection(job.selection, {job.format or "jsonl"})
        mine = (key, self._settings, self._lexicon, layout.fields, layout.id_field)
        noted = (
            run.key,
            run.settings_digest,
            run.lexicon_digest,
            run.layout.fields,
            run.layout.id_field,
        )
        return None if mine == noted else _REASONS[State.OTHER_SETTINGS]

    def _report(self, job: Job) -> Document | None:
        """Return the public report beside an output that is there, if it has one."""
        target = Path(job.output or "")
        if job.output is None or not target.is_file():
            return None
        public = self._reports.public_report
        report = _read_report(sidecar_path(target), target.name)
        if report is None and public is not None:
            report = _read_report(public, target.name)
        return report


def describe_orphans(
    folder: str, jobs: Sequence[Job], inputs: Sequence[str], manifest: Manifest
) -> str:
    """Return a line on outputs in a folder to which no input of a run belongs.

    inputs: those that the user named; "" without a folder among them, as the outputs
    may then have other inputs. Only files that the manifest or a report beside them
    names are outputs.
    """
    sources = list(filter(is_folder, inputs))
    if not sources:
        return ""
    out, expected = Path(folder), {Path(job.output or "") for job in jobs}
    noted = {out / name for name in manifest.outputs}
    reported = {
        path.with_name(path.name.removesuffix(SIDECAR))
        for path in out.rglob(f"*{SIDECAR}")
    }
    orphans = [
        str(name)
        for path in sorted((noted | reported) - expected)
        if path.is_file() and not _has_input(name := path.relative_to(out), sources)
        if path in noted or _read_report(sidecar_path(path), path.name)
    ]
    if not orphans:
        return ""
    which = f"1 output ({orphans[0]}) has"
    if len(orphans) > 1:
        which = f"{len(orphans):,} outputs (first {orphans[0]}) have"
    return (
        f"{folder}: {which} no input in this run; if an original was deleted, delete "
        "its copy and the report beside it, too"
    )


def _has_input(name: Path, folders: Sequence[str]) -> bool:
    """Tell whether a folder has a file of this path, chosen for the run or not."""
    return any(Path(each, name).exists() for each in folders)


def _read_report(path: Path, name: str) -> Document | None:
    """Return a report if it can be read and is of an output of this name."""
    with contextlib.suppress(OSError, UsageError):
        report = document.decode(streams.read_small(path, "report"), path.name)
        if report.output is not None and report.output.file == name:
            return report
    return None


def _counted(outputs: int) -> str:
    return "1 finished output" if outputs == 1 else f"{outputs:,} finished outputs"


def _first(folder: str, job: Job, count: int) -> str:
    """Name the output of a job in its folder, the first of several."""
    name = os.path.relpath(job.output or "", folder)
    return name if count == 1 else f"first {name}"
