"""No text of a record leaves but in the output, after any failure."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

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
    "joiner": ("dptext.tokens.joining", "Joiner.join"),
    "writer": ("dptext.formats.jsonl", "Writer.write"),
    "end of the writer": ("dptext.formats.jsonl", "Writer.close"),
    "perturbation": ("dptext.metrics.perturbation", "Meter.observe"),
    "rare words": ("dptext.metrics.rare_words", "Meter.observe"),
    "similarity": ("dptext.metrics.similarity", "Meter.observe"),
    "epsilons": ("dptext.engine.tally", "EpsilonHistogram.observe"),
    "result of a metric": ("dptext.metrics.similarity", "Meter.result"),
    "report": ("dptext.engine.documents", "finished"),
    "encoding of the report": ("dptext.report.document", "encode"),
    "panel": ("dptext.report.terminal", "show"),
    "complete": ("dptext.streams.outputs", "OutputFile.complete"),
    "publish": ("dptext.streams.outputs", "OutputFile.publish"),
}
# The message is all that the stage was given, as many a library writes it.
BREAK = """
import importlib, sys
module, path, kind = sys.argv[1:4]
del sys.argv[1:4]
holder = importlib.import_module(module)
*outer, name = path.split(".")
for each in outer:
    holder = getattr(holder, each)
def broken(*arguments, **named):
    import builtins
    error = getattr(builtins, kind)("{marker} in " + repr(arguments))
    if hasattr(error, "add_note"):
        error.add_note("{marker}")
    try:
        raise LookupError("{marker}")
    except LookupError:
        raise error
setattr(holder, name, broken)
from dptext.cli.app import main
main()
"""
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

    def run(self, program: list[str], *arguments: str) -> tuple[int, bytes]:
        """Run a program with separate folders; return its exit code and stderr."""
        done = subprocess.run(
            [
                *program,
                *arguments,
                *self.options,
                "-o",
                str(self.output),
                "--report",
                str(self.report),
            ],
            capture_output=True,
            cwd=self.rest / "out",
            env=running.environment(
                TMPDIR=str(self.rest / "tmp"),
                XDG_CACHE_HOME=str(self.rest / "cache"),
                XDG_DATA_HOME=str(self.rest / "data"),
                DPTEXT_HOME=str(self.rest / "data"),
                HOME=str(self.rest / "home"),
            ),
            check=False,
            timeout=120,
        )
        assert done.stdout == b""
        return done.returncode, done.stderr

    def check(self, printed: bytes) -> None:
        """Look for the marker in the printed text and in every file of the run."""
        marker = MARKER.encode()
        assert marker not in printed.lower()
        assert b"Traceback" not in printed
        for path in self.rest.rglob("*"):
            assert MARKER not in path.name
            if path.is_file():
                assert marker not in path.read_bytes().lower(), path


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Make the folders of a run."""
    return Workspace(tmp_path)


def _records(workspace: Workspace) -> str:
    source = workspace.inputs / "in.jsonl"
    rows = ({"text": TEXT, "n": number} for number in range(3))
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(source)


@pytest.mark.slow
@pytest.mark.parametrize("stage", STAGES)
def test_marker_stays_inside_when_a_stage_fails(
    stage: str, workspace: Workspace
) -> None:
    """An exception with the text as its message ends in one line without it."""
    module, path = STAGES[stage]
    program = [sys.executable, "-c", BREAK.replace("{marker}", MARKER)]
    code, printed = workspace.run(
        [
            *program,
            module,
            path,
            "ValueError",
            "sanitize",
            "-f",
            "text",
            _records(workspace),
        ]
    )
    assert code == 70, printed
    assert printed.count(b"\n") == 1 or stage == "panel", printed
    assert b"internal error (ValueError at" in printed
    workspace.check(printed)
    if stage not in ("report", "encoding of the report", "panel", "result of a metric"):
        assert not workspace.output.exists()
    assert workspace.report.exists() == (stage == "panel")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("KeyError", 70),
        ("StopIteration", 70),
        ("OSError", 70),
        ("MemoryError", 1),
        ("KeyboardInterrupt", 130),
    ],
)
def test_marker_stays_inside_for_every_kind_of_error(
    kind: str, expected: int, workspace: Workspace
) -> None:
    """No kind of exception reaches standard error in another way."""
    program = [sys.executable, "-c", BREAK.replace("{marker}", MARKER)]
    module, path = STAGES["mechanism"]
    code, printed = workspace.run(
        [*program, module, path, kind, "sanitize", "-f", "text", _records(workspace)]
    )
    assert code == expected, printed
    assert printed.count(b"\n") == 1, printed
    workspace.check(printed)
    assert not workspace.output.exists()


def test_marker_is_not_in_reports_of_a_good_run(workspace: Workspace) -> None:
    """Neither report, the panel, the output nor any cache holds a word of the text."""
    code, printed = workspace.run(
        running.command("sanitize", "-f", "text"), _records(workspace)
    )
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
    code, printed = workspace.run(
        running.command("sanitize", "-f", "text"), str(source), *limit
    )
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
