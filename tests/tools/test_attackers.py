"""`python -m tools.attackers --endpoint`: what a model on a server finds, printed."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from benchmarks.private_rows import TEXTS
from dptext import models, open_pipeline
from dptext.measures import calibrate, context_risk
from tests.cli.running import environment
from tests.model_server import serving
from tools import attackers

if not models.has("httpx"):
    pytest.skip("httpx is not installed", allow_module_level=True)
pytest.importorskip("sklearn")

ROWS = [f"the actor is very good and the story of part {n} is old" for n in "abcd"]


def run(data: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the tool on a folder of test data."""
    return subprocess.run(
        [sys.executable, "-m", "tools.attackers", *arguments],
        capture_output=True,
        text=True,
        env=environment(DPTEXT_TEST_DATA=str(data)),
        timeout=120,
        check=False,
    )


def test_a_server_attacks_the_named_rows_and_nothing_is_written(tmp_path: Path) -> None:
    """The flags choose risk, kind, number of texts, server and model; draws are sent.

    Other kinds are not read: their rows are not there.
    """
    (tmp_path / "text").mkdir()
    with gzip.open(tmp_path / "text" / "sst2_dev.jsonl.gz", "wt") as file:
        file.writelines(json.dumps({"text": row}) + "\n" for row in ROWS)
    before = calibrate.shipped_attackers().read_bytes()
    flags = ["--profile", "balanced", "--risk", "10%", "--kind", "sentences"]
    flags += ["--texts", "2", "--model", "tiny"]
    with serving() as server:
        ran = run(tmp_path, *flags, "--endpoint", server.url)
        assert ran.returncode == 0, ran.stderr
        asked, sent = server.asked, b"\n".join(server.requests).decode()
    assert calibrate.shipped_attackers().read_bytes() == before
    assert ran.stdout.startswith("balanced, risk 10%, epsilon ")
    assert "the model tiny on 127.0.0.1:" in ran.stdout
    assert "2 texts, 3 requests" in ran.stdout
    # A line for written words, and one for each attacker: two that send nothing, and
    # the server.
    lines = re.findall(r"  all words: .+% \(.+% to .+%\) of (\d+)", ran.stdout)
    assert lines == ["26", "26", "26", "26"]
    assert [request["model"] for request in asked] == ["tiny", "tiny"]
    unnumbered = re.sub(r"\[[0-9]+\]", "", sent)
    assert not any(row in unnumbered for row in ROWS)


@pytest.mark.slow
def test_the_figures_that_ship_are_those_of_what_ships() -> None:
    """Each shipped setting has its figures, and none of earlier settings are left."""
    parts = json.loads(calibrate.shipped_attackers().read_bytes())
    assert {*parts["attackers"], *parts["written"]} == attackers.shipped_keys()
    rungs = [each for one in parts["ladders"].values() for each in one.values()]
    # Profiles without a risk stand on no rung.
    assert {each["attackers"] for each in rungs} < parts["attackers"].keys()
    assert {each["written"] for each in rungs} < parts["written"].keys()


def test_figures_of_other_settings_are_left_out(tmp_path: Path) -> None:
    """A run of one cell takes them out of the file, too."""
    path = tmp_path / "attackers.json"
    path.write_text(
        '{"ladders": {}, "attackers": {"old": [], "new": []}, "written": {"old": []}}'
    )
    figures = attackers.Figures(path, fresh=False)
    figures.keep({"new"})
    figures.save()
    parts = json.loads(path.read_bytes())
    assert parts == {"ladders": {}, "attackers": {"new": []}, "written": {}}


def test_wrong_flags_are_refused(tmp_path: Path) -> None:
    """An unknown kind of text and an invalid address lead to no request."""
    assert run(tmp_path, "--kind", "nothing").returncode == 2
    ran = run(tmp_path, "--risk", "10%", "--kind", "sentences", "--endpoint", "nowhere")
    assert ran.returncode != 0
    assert "--endpoint: give an address" in ran.stderr


@pytest.mark.slow
@pytest.mark.skipif(not TEXTS.is_dir(), reason="no test data")
def test_a_shipped_cell_is_what_the_command_makes() -> None:
    """Written words and finds of all attackers in customer reviews under readable."""
    pipelines = (open_pipeline("readable", each) for each in ({}, {"decoder": "none"}))
    one = attackers.cell("customer reviews", *pipelines)
    parts = json.loads(calibrate.shipped_attackers().read_bytes())
    key = context_risk.key_of(open_pipeline("readable"))
    (shipped,) = (
        each for each in parts["attackers"][key] if each["kind"] == one.attackers.kind
    )
    assert shipped == json.loads(json.dumps(asdict(one.attackers)))
