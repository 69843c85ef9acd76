"""A score of another package is found by its entry point and needs no more."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from tests.cli.running import command, lexicon

PAGE = Path(__file__).resolve().parents[3] / "docs" / "extending.md"


def example() -> str:
    """Return the score that docs/extending.md shows."""
    section = PAGE.read_text("utf-8").partition("## Other components")[2]
    (program,) = re.findall(r"```python\n(.*?)```", section, re.S)
    return str(program)


def test_an_outside_score_is_used_by_name(tmp_path: Path) -> None:
    """An installed package with an entry point shares a total."""
    site = tmp_path / "site"
    facts = site / "longwords-1.0.dist-info"
    facts.mkdir(parents=True)
    (site / "longwords.py").write_text(example())
    (facts / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: longwords\nVersion: 1.0\n"
    )
    (facts / "entry_points.txt").write_text("[dptext.scores]\nlength = longwords\n")
    (tmp_path / "own.yaml").write_text(
        "mechanism: {name: rank, k: 8}\n"
        "budget: {name: linguistic, epsilon: 9, scores: {length: 2}}\n"
    )
    own = Path(__file__).resolve().parents[3]
    report = tmp_path / "report.json"
    done = subprocess.run(
        command(
            *(
                "sanitize",
                *("-f", "text"),
                "--profile",
                str(tmp_path / "own.yaml"),
                "--no-bayes-risk",
            ),
            *("--lexicon", lexicon(tmp_path), "--report", str(report)),
        ),
        input='{"text": "a good story of the house"}\n',
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(site), str(own)])},
    )
    assert done.returncode == 0, done.stderr
    told = report.read_text() + done.stderr
    assert "length (weight 2): the length of a word" in told
