"""Components of other packages are found by their entry points and need no more."""

from __future__ import annotations

import json
from pathlib import Path

from tests import outside
from tests.cli.running import lexicon


def test_an_outside_mechanism_is_used_by_name(tmp_path: Path) -> None:
    """An installed package is listed, planned, run, reported and audited."""
    program = outside.example("Adding a mechanism")
    outside.install(
        tmp_path,
        "evenwords",
        "dptext.mechanisms",
        "even = evenwords",
        evenwords=program,
    )

    def run(*arguments: str, given: bytes = b"") -> str:
        ran = outside.run(tmp_path, *arguments, given=given)
        assert ran.code == 0, ran.err
        return ran.out.decode()

    rows = json.loads(run("list", "mechanisms", "--json"))
    assert "even" in [row["mechanism"] for row in rows]
    where = ("--lexicon", lexicon(tmp_path), "--epsilon", "1", "--mechanism", "even")
    report = str(tmp_path / "report.json")
    options = ("-f", "text", "-q", "--report", report, *where)
    out = run("sanitize", *options, given=b'{"text": "good film"}\n')
    assert json.loads(out)["text"]
    written = json.loads(Path(report).read_text())
    assert written["guarantee"]["bound"]["notion"] == "LDP"
    assert written["words"]["risk"]["success"] > written["words"]["risk"]["baseline"]
    assert "Strong protection" in run("report", report)
    planned = json.loads(run("sanitize", "--plan", *where, "--json"))
    assert planned["mechanism"] == "even"
    assert written["words"]["risk"].items() <= planned["risk"].items()
    # With the many words of the built-in lexicon its risk takes minutes.
    at_once = ("-f", "text", "-q", "--report", report, *where[2:])
    run("sanitize", *at_once, given=b'{"text": "good film"}\n')
    words = json.loads(Path(report).read_text())["words"]
    assert (words["risk"], words["no_risk"]) == (None, "slow")
    assert "--bayes-risk measures it" in words["risk_note"]
    chosen = json.loads(run("sanitize", "--plan", *where, "--json", "--no-bayes-risk"))
    assert (chosen["risk"], "--no-bayes-risk" in chosen["risk_note"]) == (None, True)
    audited = json.loads(run("audit", "balanced", *where, "--json"))
    assert abs(audited["worst"] - 1.0) < 1e-9
    assert not audited["refuted"]


def test_an_outside_score_is_used_by_name(tmp_path: Path) -> None:
    """An installed score shares a total."""
    program = outside.example("Other components")
    outside.install(
        tmp_path, "longwords", "dptext.scores", "length = longwords", longwords=program
    )
    recipe, report = tmp_path / "own.yaml", tmp_path / "report.json"
    recipe.write_text(
        "mechanism: {name: rank, k: 8}\n"
        "budget: {name: linguistic, epsilon: 9, scores: {length: 2}}\n"
    )
    ran = outside.run(
        tmp_path,
        "sanitize",
        "-f",
        "text",
        "--profile",
        str(recipe),
        "--no-bayes-risk",
        "--lexicon",
        lexicon(tmp_path),
        "--report",
        str(report),
        given=b'{"text": "a good story of the house"}\n',
    )
    assert ran.code == 0, ran.err
    shown = report.read_text() + ran.err
    assert "length (weight 2): the length of a word" in shown
