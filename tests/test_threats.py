"""THREATS.md: its claims have tests, and those that stand nowhere else are here."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from dptext.errors import UsageError
from dptext.guarantees.templates import render
from dptext.randomness import RunKey
from tests.cli import running
from tests.guarantees.test_sentences import every

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "THREATS.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", TEXT)


@cache
def names_in(path: str) -> set[str]:
    """Return the names of the tests of a file."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize(("path", "name"), NAMED)
def test_the_tests_that_are_named_exist(path: str, name: str) -> None:
    """A test that is renamed or removed is so in THREATS.md, too."""
    assert name.startswith("test_")
    assert name in names_in(path)


def test_every_claim_names_a_test_or_that_it_is_none() -> None:
    """Each point names tests, or begins with "Not promised"."""
    points = re.findall(r"^- (.*?)(?=^- |^#|\Z)", TEXT, re.DOTALL | re.MULTILINE)
    assert len(points) > 25
    for point in points:
        assert "tests/" in point or point.startswith("**Not promised:**"), point


def test_every_statement_says_that_time_is_not_hidden() -> None:
    """The statement says so for all settings."""
    for each in every():
        lines = [
            line for line in each.scope.not_covered if "how long the run takes" in line
        ]
        assert lines == [render("always.records")]


@pytest.mark.skipif(sys.platform == "win32", reason="has no such limits")
def test_a_crash_writes_no_image_of_memory() -> None:
    """The command line may write no core dump, even where the shell allows it."""
    import resource

    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    if hard == 0:
        pytest.skip("core dumps are off already")
    code = (
        "import atexit, resource, sys\n"
        "atexit.register(lambda: print(resource.getrlimit(resource.RLIMIT_CORE)[0]))\n"
        "sys.argv = ['dptext', '--version']\n"
        "from dptext.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        env=running.environment(),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (hard, hard)),
        check=True,
    )
    assert done.stdout.split()[-1] == b"0"


@pytest.mark.skipif(sys.platform == "win32", reason="has no such permissions")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602])
def test_a_key_that_others_may_read_is_refused(mode: int, tmp_path: Path) -> None:
    """Of group or others, to read or to write: one line says how to close it."""
    path = tmp_path / "key"
    path.write_bytes(bytes(range(64)))
    path.chmod(0o400)
    RunKey.from_file(path)
    path.chmod(mode)
    with pytest.raises(UsageError, match="chmod 600"):
        RunKey.from_file(path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_key_of_another_user_is_refused(tmp_path: Path) -> None:
    """Root could read it, and so can its owner, who may know all draws."""
    path = tmp_path / "key"
    path.write_bytes(bytes(range(64)))
    path.chmod(0o400)
    os.chown(path, 65534, -1)
    with pytest.raises(UsageError, match=r"another user; run: chown \$\(id -u\)"):
        RunKey.from_file(path)
    assert RunKey.from_file(path, trusted=True).origin == "key-file"
    with path.open("rb") as file, pytest.raises(UsageError, match="another user"):
        RunKey.from_file(f"/dev/fd/{file.fileno()}")
