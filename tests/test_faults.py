"""No text of a record leaves but in the output, after any failure."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.cli import running
from tests.cli.running import MARKER

# Where a run is made to fail: module, and the attribute that then raises.
STAGES = {
    "open": ("dptext.streams", "open_input"),
    "reader": ("dptext.formats.jsonl", "Format.read"),
    "tokenizer": ("dptext.tokens.tokenizer", "Tokenizer.words"),
    "nonce": ("dptext.randomness", "Randomness.nonce"),
    "mechanism": ("dptext.mechanisms.rank", "Rank.sample"),
    "budget": ("dptext.budgets.uniform", "Uniform.spread"),
    "joiner": ("dptext.writing.joining", "Joiner.join"),
    "writer": ("dptext.formats.jsonl", "Writer.write"),
    "end of the writer": ("dptext.formats.jsonl", "Writer.close"),
    "perturbation": ("dptext.metrics.perturbation", "Meter.observe"),
    "rare words": ("dptext.metrics.rare_words", "Meter.observe"),
    "similarity": ("dptext.metrics.similarity", "Meter.observe"),
    "epsilons": ("dptext.engine.tally", "EpsilonHistogram.observe"),
    "result of a metric": ("dptext.metrics.similarity", "Meter.result"),
    "report": ("dptext.engine.documents", "counted"),
    "encoding of the report": ("dptext.report.document", "encode"),
    "panel": ("dptext.report.terminal", "show"),
    "complete": ("dptext.streams.outputs", "OutputFile.complete"),
    "publish": ("dptext.streams.outputs", "OutputFile.publish"),
}
TEXT = f"the film was {MARKER} and {MARKER.upper()}, not good"


class Workspace:
    """Folders of one run, all inside one that is searched afterwards."""

    def __init__(self, folder: Path) -> None:
        self.inputs = folder / "inputs"
        self.rest = folder / "rest"
        for name in ("tmp", "cache", "data", "home", "out"):
            (self.rest / name).mkdir(parents=True)
        self.inputs.mkdir()
        self.options = running.small(self.inputs)
        self.output = self.rest / "out" / "o.jsonl"
        self.report = self.rest / "out" / "report.json"

    def run(self, *arguments: str) -> tuple[int, bytes]:
        """Sanitize with separate folders; return the exit code and standard error."""
        folders = {
            "TMPDIR": "tmp",
            "XDG_CACHE_HOME": "cache",
            "XDG_DATA_HOME": "data",
            "DPTEXT_HOME": "data",
            "HOME": "home",
        }
        files = ("-o", str(self.output), "--report", str(self.report))
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.rest / "out")
            patch.setattr(tempfile, "tempdir", None)
            for variable, name in folders.items():
                patch.setenv(variable, str(self.rest / name))
            run = ("sanitize", "-f", "text", *arguments, *self.options, *files)
            ran = running.here(*run)
        assert ran.out == b""
        return ran.code, ran.err.encode()

    def check(self, printed: bytes) -> None:
        """Look for the marker in the printed text and in every file of the run."""
        marker = MARKER.encode()
        assert marker not in printed.lower()
        assert b"Traceback" not in printed
        for path in self.rest.rglob("*"):
            assert MARKER not in path.name
            if path.is_file():
                assert marker not in path.read_bytes().lower(), path


def break_stage(
    patch: pytest.MonkeyPatch, stage: str, kind: Callable[[str], BaseException]
) -> None:
    """Have a stage raise an error that holds all that it was given.

    Many a library writes such messages.
    """
    module, path = STAGES[stage]
    holder: Any = import_module(module)
    *outer, name = path.split(".")
    for each in outer:
        holder = getattr(holder, each)

    def broken(*arguments: object, **named: object) -> None:
        error = kind(f"{MARKER} in {arguments!r}")
        error.add_note(MARKER)
        try:
            raise LookupError(MARKER)
        except LookupError:
            raise error  # noqa: B904

    patch.setattr(holder, name, broken)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Make the folders of a run."""
    return Workspace(tmp_path)


def _records(workspace: Workspace) -> str:
    source = workspace.inputs / "in.jsonl"
    rows = ({"text": TEXT, "n": number} for number in range(3))
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(source)


@pytest.mark.parametrize("stage", STAGES)
def test_marker_stays_inside_when_a_stage_fails(
    stage: str, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An exception with the text as its message ends in one line without it."""
    break_stage(monkeypatch, stage, ValueError)
    code, printed = workspace.run(_records(workspace))
    assert code == 70, printed
    assert printed.count(b"\n") == 1 or stage == "panel", printed
    assert b"internal error (ValueError at" in printed
    workspace.check(printed)
    if stage not in ("report", "encoding of the report", "panel", "result of a metric"):
        assert not workspace.output.exists()
    assert workspace.report.exists() == (stage == "panel")


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (KeyError, 70),
        (StopIteration, 70),
        (OSError, 70),
        (partial(OSError, errno.EIO), 1),  # its text is that of a library
        (MemoryError, 1),
        (KeyboardInterrupt, 130),
    ],
)
def test_marker_stays_inside_for_every_kind_of_error(
    kind: Callable[[str], BaseException],
    expected: int,
    workspace: Workspace,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No kind of exception reaches standard error in another way."""
    break_stage(monkeypatch, "mechanism", kind)
    code, printed = workspace.run(_records(workspace))
    assert code == expected, printed
    assert printed.count(b"\n") == 1, printed
    workspace.check(printed)
    assert not workspace.output.exists()


# It patches as this module does, and runs the program as a process of its own.
PROGRAM = """
import sys, pytest
from tests import test_faults
test_faults.break_stage(pytest.MonkeyPatch(), "mechanism", ValueError)
from dptext.__main__ import main
main()
"""


def test_marker_stays_inside_of_a_process(tmp_path: Path) -> None:
    """Nothing but one line comes out when a process of its own ends by an error."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "sanitize", "-f", "text"],
        input=json.dumps({"text": TEXT}).encode(),
        capture_output=True,
        cwd=tmp_path,
        env=running.environment(),
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stdout) == (70, b"")
    assert done.stderr.count(b"\n") == 1
    assert MARKER.encode() not in done.stderr.lower()


def test_marker_is_not_in_reports_of_a_good_run(workspace: Workspace) -> None:
    """Neither report, the panel, the output nor any cache holds a word of the text."""
    code, printed = workspace.run(_records(workspace))
    assert code == 0, printed
    assert workspace.output.exists()
    assert workspace.report.exists()
    workspace.check(printed)


FAULTS = {
    "cut off": f'{{"text": "{MARKER}'.encode(),
    "no JSON": MARKER.encode(),
    "not UTF-8": f'{{"text": "{MARKER} '.encode() + b'\xff"}',
    "wrong type": f'{{"text": {{"{MARKER}": "{MARKER}"}}}}'.encode(),
    "number": f'{{"text": 5, "x": "{MARKER}"}}'.encode(),
    "absent": f'{{"body": "{MARKER}"}}'.encode(),
    "given twice": f'{{"text": "{MARKER}", "text": "{MARKER}"}}'.encode(),
    "NUL": f'{{"text": "{MARKER}'.encode() + b'\x00"}',
    "too long": f'{{"text": "{MARKER * 400}"}}'.encode(),
    "surrogate": f'{{"text": "\\ud800{MARKER}"}}'.encode(),
    "list": f'["{MARKER}"]'.encode(),
}


def test_marker_stays_inside_when_records_are_set_aside(workspace: Workspace) -> None:
    """Reports of a run that skipped every kind of bad record hold nothing of them."""
    source = workspace.inputs / "in.jsonl"
    good = b'{"text":"the film"}'
    source.write_bytes(b"\n".join([good, *FAULTS.values(), good]) + b"\n")
    limit = ("--max-record-bytes", "4000", "--on-error", "skip")
    code, printed = workspace.run(str(source), *limit)
    assert code == 0, printed
    assert json.loads(workspace.report.read_bytes())["private"]["faults"] == len(FAULTS)
    assert len(workspace.output.read_bytes().splitlines()) == 2
    workspace.check(printed)


@pytest.mark.parametrize("fault", FAULTS)
def test_marker_stays_inside_when_a_record_stops_the_run(
    fault: str, tmp_path: Path
) -> None:
    """A bad record is named by position and reason, not by its text."""
    workspace = Workspace(tmp_path)
    source = workspace.inputs / "in.jsonl"
    source.write_bytes(b'{"text":"the film"}\n' + FAULTS[fault] + b"\n")
    ran = running.here(
        "sanitize",
        "-f",
        "text",
        str(source),
        *workspace.options,
        "--max-record-bytes",
        "4000",
        "-o",
        str(workspace.output),
    )
    assert ran.code == 4
    assert ran.err.startswith(f"dptext: {source}:2: ")
    assert ran.err.count("\n") == 1
    workspace.check(ran.err.encode())
    assert not workspace.output.exists()
    assert os.listdir(workspace.rest / "out") == []
