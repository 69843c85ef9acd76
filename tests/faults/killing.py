"""Runs that are killed: at a line of the program, or at a moment.

A run is a forked process with the whole command line; `kill -9` comes from itself, at
the n-th line that it executes in the modules that a release goes through, or from
outside after some time. Then the files on the disk are compared with the release.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import dptext
from dptext import ledger as ledgers
from dptext.ledger import entries, findings, spent_by, store
from tests.cli import running

ROOT = Path(dptext.__file__).parent
# Modules with lines that decide the release and the charge.
WATCHED = tuple(str(ROOT / name) for name in ("ledger", "streams", "engine/run.py"))
SUBJECTS = ("u", "v")
ROWS = [
    {"user": SUBJECTS[number % 2], "text": "the film was good" + " bad" * number}
    for number in range(6)
]
# Nats of each subject in one release, at three nats a word.
COST = {
    name: 3.0
    * sum(len(str(row["text"]).split()) for row in ROWS if row["user"] == name)
    for name in SUBJECTS
}


def die() -> None:
    """End this process as `kill -9` does."""
    os.kill(os.getpid(), signal.SIGKILL)


class Lines:
    """Counts the lines that are executed in watched modules; acts at the last."""

    def __init__(
        self,
        last: int | None,
        watched: tuple[str, ...] = WATCHED,
        act: Callable[[], None] = die,
    ) -> None:
        self.count = 0
        self._last = last
        self._watched = watched
        self._act = act

    def __call__(self, frame: FrameType, event: str, argument: object) -> Any:
        """Trace a call."""
        watched = frame.f_code.co_filename.startswith(self._watched)
        return self._line if watched else None

    def _line(self, frame: FrameType, event: str, argument: object) -> Any:
        if event == "line":
            self.count += 1
            if self.count == self._last:
                self._act()
        return self._line


def forked(
    folder: Path,
    *arguments: str,
    last: int | None = None,
    watched: tuple[str, ...] = WATCHED,
    act: Callable[[], None] = die,
) -> int:
    """Start a run in a new process; return the number of the process.

    last is the line at which it is killed, or does something else (act); 0: it writes
    how many there are to a file.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # threads of libraries, which do nothing
        child = os.fork()
    if child:
        return child
    code = 70
    try:
        lines = Lines(last, watched, act)
        if last is not None:
            sys.settrace(lines)
        ran = running.here(*arguments)
        sys.settrace(None)
        code = ran.code
        (folder / "lines").write_text(str(lines.count))
        (folder / "stderr").write_text(ran.err)
    finally:
        os._exit(code)


def ended(child: int) -> int:
    """Wait for a run; return its exit code, or less than 0 where it was killed."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


class Trial:
    """A ledger, and runs on it that are killed."""

    def __init__(self, folder: Path, seed: int, key: str | None = None) -> None:
        self.folder = folder
        self.rng = random.Random(seed)
        (folder / "in.jsonl").write_text("".join(json.dumps(r) + "\n" for r in ROWS))
        source = str(folder / "in.jsonl")
        self._options = (
            source,
            *running.small(folder),
            "-q",
            "--no-bayes-risk",
            "--batch-size",
            "2",
            *(() if key is None else ("--key-file", key)),
        )
        self._ledger = ("--ledger", str(folder / "spent.db"), "--subject", "user")
        self.lines, self.seconds = self._measured()

    def start(self, output: str, limit: float = 1e5, last: int | None = None) -> int:
        """Start a run."""
        return forked(self.folder, *self._arguments(output, limit), last=last)

    def _arguments(
        self, output: str, limit: float, *, ledger: bool = True
    ) -> tuple[str, ...]:
        limits = (*self._ledger, "--limit", str(limit)) if ledger else ()
        written = ("-o", str(self.folder / output))
        return ("sanitize", "-f", "text", *self._options, *limits, *written)

    def _measured(self) -> tuple[int, float]:
        """Make a release and count its lines, and one to take the time of."""
        # Here, so that every fork has the imported modules.
        assert running.here(*self._arguments("warm.jsonl", 1e5, ledger=False)).code == 0
        assert ended(self.start("first.jsonl", last=0)) == 0
        lines = int((self.folder / "lines").read_text())
        began = time.monotonic()
        assert ended(self.start("second.jsonl")) == 0
        return lines, time.monotonic() - began

    def kill(self, output: str) -> int:
        """Start a run and kill it, at a line or at a moment; return how it ended."""
        if self.rng.random() < 0.8:
            return ended(self.start(output, last=self.rng.randint(1, self.lines)))
        child = self.start(output)
        time.sleep(self.rng.uniform(0.0, self.seconds))
        os.kill(child, signal.SIGKILL)
        return ended(child)

    def recover(self) -> None:
        """Do what the next run does first."""
        with (
            ledgers.open_ledger(self.folder / "spent.db") as ledger,
            ledgers.begin(
                ledger, ledgers.Limit(1.0), field="user", settings="", parts=()
            ),
        ):
            pass

    def spent(self) -> dict[str, float]:
        """Return what each subject is charged, and see that the ledger is sound."""
        with ledgers.open_ledger(self.folder / "spent.db") as ledger:
            assert not list(findings(ledger))
            assert all(row["state"] in store.FINISHED for row in entries(ledger))
            return {name: spent_by(ledger, name)["nats"] for name in SUBJECTS}

    def outputs(self) -> Iterator[Path]:
        """Yield the released files."""
        return self.folder.glob("*.jsonl")

    def left_over(self) -> list[str]:
        """Return hidden outputs that hold something; reports of theirs are public."""
        return [
            each.name
            for each in self.folder.glob(".*.part")
            if ".dptext.json." not in each.name and each.stat().st_size
        ]


def check(trial: Trial, points: int) -> int:
    """Kill runs; all released texts are charged, and nothing else.

    Returns how many of the killed runs had released their output.
    """
    outputs = 2
    released = 0
    for point in range(points):
        name = f"out{point}.jsonl"
        code = trial.kill(name)
        trial.recover()
        appeared = (trial.folder / name).exists()
        outputs += appeared
        released += appeared and code < 0
        wanted = {subject: outputs * nats for subject, nats in COST.items()}
        assert trial.spent() == wanted, (point, code, appeared)
        assert not trial.left_over(), point
    return released
