"""A mechanism of another package is found by its entry point and needs no more."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

from tests.cli.running import command, lexicon

PAGE = Path(__file__).resolve().parents[2] / "docs" / "extending.md"


def example() -> str:
    """Return the mechanism that docs/extending.md shows."""
    section = PAGE.read_text("utf-8").partition("## Adding a mechanism")[2]
    (program,) = re.findall(r"```python\n(.*?)```", section.partition("\n## ")[0], re.S)
    return str(program)


def test_an_outside_mechanism_is_used_by_name(tmp_path: Path) -> None:
    """An installed package is listed, planned, run, reported and audited."""
    site = tmp_path / "site"
    facts = site / "evenwords-1.0.dist-info"
    facts.mkdir(parents=True)
    (site / "evenwords.py").write_text(example())
    (facts / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: evenwords\nVersion: 1.0\n"
    )
    (facts / "entry_points.txt").write_text("[dptext.mechanisms]\neven = evenwords\n")
    own = Path(__file__).resolve().parents[2]
    paths = os.pathsep.join([str(site), str(own)])
    environment = {**os.environ, "PYTHONPATH": paths}

    def run(*arguments: str, given: str = "") -> str:
        done = subprocess.run(
            command(*arguments),
            input=given,
            capture_output=True,
            text=True,
            env=environment,
            check=True,
        )
        return done.stdout

    rows = json.loads(run("mechanisms", "--json"))
    assert "even" in [row["mechanism"] for row in rows]
    where = ("--lexicon", lexicon(tmp_path), "--epsilon", "1", "--mechanism", "even")
    report = tmp_path / "report.json"
    out = run(
        "sanitize",
        *("-f", "text"),
        "-q",
        "--report",
        str(report),
        *where,
        given='{"text": "good film"}\n',
    )
    assert json.loads(out)["text"]
    written = json.loads(report.read_text())
    assert written["guarantee"]["notion"] == "LDP"
    assert written["words"]["risk"]["success"] > written["words"]["risk"]["baseline"]
    assert "Strong bound" in run("report", str(report))
    planned = json.loads(run("plan", *where, "--json"))
    assert planned["mechanism"] == "even"
    assert planned["risk"] == written["words"]["risk"]
    audited = json.loads(run("audit", "balanced", *where, "--json"))
    assert abs(audited["worst"] - 1.0) < 1e-9
    assert not audited["refuted"]
