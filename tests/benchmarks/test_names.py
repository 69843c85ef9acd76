"""Each benchmark can be run by its name, and says in one line what it is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks.__main__ import known

ROOT = Path(__file__).resolve().parents[2]


def test_all_are_listed_with_a_line() -> None:
    """Without a name the list; a folder is run by its own name."""
    command = (sys.executable, "-m", "benchmarks")
    said = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    lines = [line.split(maxsplit=1) for line in said.stdout.splitlines()]
    assert [line[0] for line in lines] == [*known()]
    assert all(len(line) == 2 for line in lines)
    assert {"speed", "speed.page", "published", "frontier", "fuzz"} <= known().keys()


def test_what_is_none_is_said() -> None:
    """One line, and no list of modules."""
    command = (sys.executable, "-m", "benchmarks", "nothing")
    said = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert said.returncode == 1
    assert said.stderr.startswith("no benchmark named nothing; ")
    assert said.stderr.count("\n") == 1
