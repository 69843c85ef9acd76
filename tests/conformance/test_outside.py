"""Components of other packages are found by their entry points and need no more."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import outside
from tests.cli.running import here, lexicon


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
    # From all rows of the many words of the built-in lexicon its risk takes minutes.
    slow = program.partition("\n    def best_guesses")[0]
    assert slow != program
    (tmp_path / "evenwords.py").write_text(slow)
    at_once = ("-f", "text", "-q", "--report", report, *where[2:])
    run("sanitize", *at_once, given=b'{"text": "good film"}\n')
    words = json.loads(Path(report).read_text())["words"]
    assert (words["risk"], words["no_risk"]) == (None, "slow")
    assert "unless the run asks for the Bayes risk" in words["risk_note"]
    chosen = json.loads(run("sanitize", "--plan", *where, "--json", "--no-bayes-risk"))
    assert (chosen["risk"], chosen["risk_note"]) == (
        None,
        "not measured, as requested for this run",
    )
    audited = json.loads(run("audit", "balanced", *where, "--json"))
    assert abs(audited["worst"] - 1.0) < 1e-9
    assert not audited["refuted"]


PAGES = {
    "mine": ("Adding a mechanism", "dptext.mechanisms", "mechanisms"),
    "mine-too": ("Other components", "dptext.scores", "budgets.scores"),
}


@pytest.mark.slow
def test_the_components_of_the_page_pass_inside_dptext(tmp_path: Path) -> None:
    """Put into the folder of dptext they pass conformance, types, lint and format."""
    site, files = tmp_path / "site", list[str]()
    for name, (heading, group, stage) in PAGES.items():
        module, program = name.replace("-", "_"), outside.example(heading)
        entry = f"{name} = of_page_{module}"
        modules = {f"of_page_{module}": program}
        outside.install(site, f"package_{module}", group, entry, **modules)
        file = tmp_path / "dptext" / stage.replace(".", "/") / f"{module}.py"
        file.parent.mkdir(parents=True)
        file.write_text(program)
        files.append(str(file))
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    tests += ["tests/conformance", "tests/cli/test_lookups.py", "-k", "mine"]
    commands = [tests, [sys.executable, "-m", "mypy", "--strict", *files]]
    if ruff := shutil.which("ruff", path=str(Path(sys.executable).parent)):
        settings = ["--config", "pyproject.toml", *files]
        commands += [[ruff, "check", *settings], [ruff, "format", "--check", *settings]]
    for command in commands:
        done = subprocess.run(
            command,
            cwd=outside.ROOT,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(site), "."])},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_topics_of_another_view_are_made_in_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file of topics that the page writes is used by its path."""
    monkeypatch.chdir(tmp_path)
    program = outside.example("Other components", 1)
    assert '"letters"' in program
    texts = [f"{word} and bread" for word in ("soup", "milk", "cheese", "rice") * 40]
    exec(program.replace('"letters"', '"sif"'), {"texts": texts})
    ran = here(
        "sanitize", "-f", "text", "--topics", "./own.json", given=b'{"text": "x"}\n'
    )
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["text"]


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
