"""A mechanism of another package is found by its entry point and needs no more."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from tests.cli.running import command, lexicon

MODULE = '''"""Uniform words: nothing of the input is left.

Guarantee: 0-LDP, whatever epsilon says; claimed as epsilon-LDP.
Source: made for a test.
Known gaps: none.
"""

from dataclasses import dataclass

import numpy as np

from dptext.types import Guarantee

FAMILY = "choice"


@dataclass(frozen=True, slots=True)
class Params:
    """No parameters."""


def prepare(params, space):
    return space


def guarantee(state, epsilon):
    return Guarantee("LDP", "1", "nats", 1.0, "made for a test")


def choose(state, ids, eps, noise):
    return noise.below(noise.bits(0)[:, 0], state.size).astype(np.int32)


def log_weights(state, ids, eps):
    return np.zeros((len(ids), state.size))
'''


def test_an_outside_mechanism_is_used_by_name(tmp_path: Path) -> None:
    """An installed package with an entry point is listed, run, reported and audited."""
    site = tmp_path / "site"
    facts = site / "evenwords-1.0.dist-info"
    facts.mkdir(parents=True)
    (site / "evenwords.py").write_text(MODULE)
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
        "-q",
        "--report",
        str(report),
        *where,
        given='{"text": "good film"}\n',
    )
    assert json.loads(out)["text"]
    found = json.loads(report.read_text())
    assert found["guarantee"]["notion"] == "LDP"
    assert found["risk"]["success"] == found["risk"]["baseline"]
    audited = json.loads(run("audit", "balanced", *where, "--json"))
    assert audited["worst"] == 0.0
    assert not audited["refuted"]
