"""Outputs, figures, exit codes and checks are those of golden.json."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.golden import make, running
from tests.golden.cases import CASES

KNOWN = json.loads(make.GOLDEN.read_text("utf-8"))
NEEDED = {
    "parquet": "pyarrow",
    "zst": "zstandard",
    "table": "pandas",
    "evaluate": "sklearn",
}


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the inputs and import the small lexicon, once."""
    folder = tmp_path_factory.mktemp("golden") / "home"
    running.prepare(folder)
    return folder


@pytest.mark.parametrize("name", CASES)
def test_golden(name: str, home: Path) -> None:
    """A case gives what it gave; a change that is meant writes golden.json anew."""
    for part, module in NEEDED.items():
        if part in name:
            pytest.importorskip(module)
    assert running.bare(make.run_case(name, home)) == KNOWN[name]


def test_nothing_is_left_over() -> None:
    """The file has an entry for each case, and for nothing else."""
    assert sorted(KNOWN) == sorted(CASES)
