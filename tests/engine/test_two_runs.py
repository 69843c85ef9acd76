"""Two runs at once to the same outputs: the slower one is refused, and leaves none."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path

import pytest

from dptext.engine.files import SignedReports
from dptext.engine.job import Job
from dptext.engine.request import Request
from dptext.errors import OutputError, UsageError
from dptext.profile import load
from dptext.randomness import RunKey
from dptext.report.notebook import Report
from dptext.run.selection import Selection
from dptext.run.work import Outputs
from tests.cli.running import BALANCED, here, lexicon

# Of so many words that hardly any draw leaves all of them as they were.
LINE = '{"text":"' + "the film was a sad story " * 9 + 'too"}\n'
OPTIONS = ("-f", "text", "--epsilon", "3", "--set", "mechanism.k=8", "-q", *BALANCED)


class _Silent:
    """Takes what a run tells, and forgets it."""

    def warn(self, line: str) -> None:
        pass

    announce = warn

    def bar(self) -> contextlib.nullcontext[None]:
        return contextlib.nullcontext()

    def identify(self, identifying: Mapping[str, str], advice: str = "") -> None:
        pass

    def with_warnings(self, document: Report) -> Report:
        return document


NOTICES = _Silent()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a folder of two files, and work beside it."""
    monkeypatch.chdir(tmp_path)
    Path("in").mkdir()
    for name in ("a", "b"):
        Path("in", f"{name}.jsonl").write_text(LINE)
    return tmp_path


def request(*other: str, folder: Path, **outputs: object) -> Request:
    """Return a run in which another one ends when its first output is complete."""
    words = lexicon(folder)
    left = [other]

    def inspect(*arguments: object) -> None:
        while left:
            ran = here("sanitize", *left.pop(), *OPTIONS, "--lexicon", words)
            assert (ran.code, ran.err) == (0, "")

    over = {
        "lexicon": words,
        "budget": {"risk": None, "epsilon": 3},
        "mechanism": {"k": 8},
    }
    inputs = ("in",) if "out_dir" in outputs else ("in/a.jsonl", "in/b.jsonl")
    return Request(
        job=Job(inputs, None, Selection(), outputs=Outputs(**outputs)),  # type: ignore[arg-type]
        profile=load("balanced", over),
        key=RunKey.fresh(),
        reports=SignedReports(),
        inspect=inspect,
    )


@pytest.mark.parametrize("name", ["a", "b"])
def test_into_one_folder(name: str, folder: Path) -> None:
    """Of the output that is under way, and of one that comes later in the folder."""
    other = (f"in/{name}.jsonl", "--out-dir", "out")
    run = request(*other, folder=folder, out_dir="out")
    error: type[Exception] = OutputError
    said = "a.jsonl.dptext.json: another run has just written this file"
    if name == "b":
        error, said = UsageError, "would draw 1 finished output anew (b.jsonl)"
    with pytest.raises(error) as raised:
        run.carry_out(run.jobs(NOTICES.warn), NOTICES)
    assert said in str(raised.value)
    there = sorted(path.name for path in Path("out").iterdir())
    kept = ("a",) if name == "a" else ("a", "b")
    ends = ("jsonl", "jsonl.dptext.json")
    assert there == [f"{each}.{end}" for each in kept for end in ends]


@pytest.mark.parametrize("name", ["a", "b"])
def test_in_place(name: str, folder: Path) -> None:
    """A file that another run makes private meanwhile is drawn once."""
    other = (f"in/{name}.jsonl", "--in-place")
    run = request(*other, folder=folder, in_place=True)
    with pytest.raises((OutputError, UsageError)) as raised:
        run.carry_out(run.jobs(NOTICES.warn), NOTICES)
    assert "another run has just" in str(raised.value)
    assert Path("in", f"{name}.jsonl").read_text() != LINE
    assert len(list(Path("in").iterdir())) == (3 if name == "a" else 4)
