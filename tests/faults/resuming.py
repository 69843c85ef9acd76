"""Keyed runs that are killed at random lines; those of folders go on."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

from tests.cli import running
from tests.faults.killing import ROOT, die, ended, forked

WATCHED = tuple(str(ROOT / name) for name in ("streams", "engine"))
RECORDS = 40


class Job:
    """Inputs, and the outputs that a run gives which nothing interrupts."""

    def __init__(self, folder: Path, key: str, seed: int, suffix: str = "") -> None:
        self.folder = folder
        self.rng = random.Random(seed)
        for name in ("one", "two"):
            rows = (
                {"text": f"the film was {running.MARKER}" + f" {name} bad" * (n % 5)}
                for n in range(RECORDS)
            )
            lines = "".join(json.dumps(row) + "\n" for row in rows)
            (folder / "in").mkdir(exist_ok=True)
            (folder / "in" / f"{name}.jsonl").write_text(lines)
        self._suffix = suffix
        self._options = (
            *running.small(folder),
            "-q",
            "--no-bayes-risk",
            "--key-file",
            key,
            "--batch-size",
            "4",
        )
        # Here, so that every fork has the imported modules.
        assert running.here(*self._arguments("warm", resume=False)).code == 0
        assert ended(self.start("whole", last=0)) == 0
        self.lines = int((folder / "lines").read_text())

    def start(
        self,
        name: str,
        last: int | None = None,
        *,
        resume: bool = False,
        act: Callable[[], None] = die,
    ) -> int:
        """Start a run; a name that ends in / is a folder of outputs."""
        arguments = self._arguments(name, resume)
        return forked(self.folder, *arguments, last=last, watched=WATCHED, act=act)

    def _arguments(self, name: str, resume: bool) -> tuple[str, ...]:
        inputs = ("in",) if name.endswith("/") else ("in/one.jsonl", "in/two.jsonl")
        where = ("--out-dir", name) if name.endswith("/") else ("-o", self.output(name))
        return (
            "sanitize",
            "-f",
            "text",
            *(str(self.folder / each) for each in inputs),
            *self._options,
            where[0],
            str(self.folder / where[1]),
            *(("--resume",) if resume else ()),
        )

    def output(self, name: str) -> str:
        """Return the name of an output."""
        return f"{name}.jsonl{self._suffix}"

    def finish(self, name: str, kills: int) -> int:
        """Kill runs of a folder, then let one end; return how many were killed."""
        killed = 0
        for _ in range(kills):
            code = ended(self.start(name, self.rng.randint(1, self.lines), resume=True))
            assert code in (0, -9), code
            killed += code < 0
        assert ended(self.start(name, resume=True)) == 0
        return killed


def files(folder: Path) -> dict[str, bytes]:
    """Return all files of a folder, hidden ones too, by their names in it."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def same_but_for_its_name(one: bytes, other: bytes) -> bool:
    """Tell whether two public reports say the same of files with two names."""
    plain = [json.loads(each) for each in (one, other)]
    for each in plain:
        each["output"]["file"] = None
    return bool(plain[0] == plain[1])
