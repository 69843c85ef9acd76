"""The real pre-commit tool stops a commit of an export that is not covered."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.running import MARKER, environment, here

HOOKS = Path(__file__).parents[2] / ".pre-commit-hooks.yaml"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("git") is None, reason="needs git"),
]


def _git(*arguments: str) -> None:
    subprocess.run(["git", *arguments], check=True, capture_output=True)


def _hook() -> dict[str, Any]:
    """Return the shipped hook, run from here so that nothing is installed."""
    (hook,) = yaml.safe_load(HOOKS.read_text())
    assert hook["entry"].split()[0] == "dptext"
    program = shlex.join([sys.executable, "-m", "dptext"])
    hook["entry"] = hook["entry"].replace("dptext", program, 1)
    hook["language"] = "system"
    return dict(hook)


def _commits() -> tuple[bool, str]:
    """Run the hooks on what is staged: whether they pass, and what they say."""
    _git("add", "-A")
    done = subprocess.run(
        [sys.executable, "-m", "pre_commit", "run", "--color", "never"],
        capture_output=True,
        env=environment(),
        text=True,
        check=False,
        timeout=120,
    )
    return done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a git repository that uses the shipped hook."""
    pytest.importorskip("pre_commit")
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "pre-commit"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"):
        monkeypatch.delenv(name, raising=False)
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    _git("init", "-q")
    config = {"repos": [{"repo": "local", "hooks": [_hook()]}]}
    Path(".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    return work


def test_hook_stops_what_is_not_covered(
    repository: Path, options: tuple[str, ...]
) -> None:
    """A covered export passes; one without report, or edited, or off policy fails."""
    source = repository.parent / "in.jsonl"
    source.write_text('{"text":"the film was good"}\n')
    run = ("sanitize", str(source), *options, "-q", "-o", "export.jsonl")
    assert here(*run).code == 0
    Path("notes.md").write_text("not an export")
    passed, told = _commits()
    assert passed, told
    assert "dptext check" in told
    assert "Passed" in told

    Path(".dptext.yaml").write_text("max_epsilon: 1\n")
    passed, told = _commits()
    assert not passed
    assert (
        "export.jsonl: epsilon between any two words is 3 nats, the policy allows 1"
        in told
    )
    Path(".dptext.yaml").unlink()

    Path("raw.csv").write_text(f"id,text\n1,{MARKER}\n")
    with Path("export.jsonl").open("a") as file:
        file.write(f'{{"text":"{MARKER}"}}\n')
    passed, told = _commits()
    assert not passed
    assert "raw.csv: no public report" in told
    assert "export.jsonl: its public report is of another file" in told
    assert MARKER not in told


def test_hook_looks_at_exports_only() -> None:
    """The hook's pattern takes every format that dptext writes, packed or not."""
    import re

    pattern = re.compile(_hook()["files"])
    for name in ("a.jsonl", "b/c.csv", "d.tsv.gz", "e.parquet", "f.ndjson.zst"):
        assert pattern.search(name)
    for name in ("a.jsonl.dptext.json", "README.md", "jsonl.py", "x.csv.bak"):
        assert not pattern.search(name)
