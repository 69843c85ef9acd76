"""The files that run dptext elsewhere say what they should, and shells read them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import dptext
from tests import loaded
from tests.cli.running import environment, here
from tools import site

pytestmark = pytest.mark.quick

ROOT = Path(__file__).parents[1]
BASH = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")


def action() -> dict[str, Any]:
    """Return the GitHub Action."""
    data: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
    return data


def test_inputs_of_the_action_are_used() -> None:
    """Each input of the action is read, and never in a script itself."""
    text, steps = (ROOT / "action.yml").read_text(), action()["runs"]["steps"]
    used = set(re.findall(r"\$\{\{ inputs\.([\w-]+) \}\}", text))
    assert used == set(action()["inputs"])
    for step in steps:
        assert "${{" not in step.get("run", "")
        assert "uses" in step or step["shell"] == "bash"


@BASH
@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_action_checks_what_is_committed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its script passes without exports, fails on a bare one, and writes SARIF."""
    monkeypatch.chdir(tmp_path)
    subprocess.run(["git", "init", "-q"], check=True)
    script = action()["runs"]["steps"][-1]["run"]
    env = environment(FILES="", POLICY="", VERIFY_KEY="", SARIF="found.sarif")
    env["PATH"] = f"{loaded.program().parent}{os.pathsep}{env['PATH']}"

    def run() -> int:
        return subprocess.run(
            ["bash", "-e", "-c", script], env=env, check=False
        ).returncode

    assert run() == 0
    Path("raw.csv").write_text("id,text\n1,bad\n")
    subprocess.run(["git", "add", "raw.csv"], check=True)
    assert run() == 1
    assert '"ruleId": "missing-report"' in Path("found.sarif").read_text()
    env["FILES"] = "exports other"
    assert run() == 0


def test_hooks_call_commands_that_there_are() -> None:
    """Each hook's entry is a command with options that it has."""
    for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text()):
        _, command, *options = hook["entry"].split()
        pages = (here(command, name) for name in ("--help", "--help-all"))
        shown = "".join(page.out.decode() for page in pages)
        assert all(option in shown for option in options)


def test_workflows_that_the_docs_print_are_whole() -> None:
    """They name inputs and hooks that there are, and run as they stand."""
    page = (ROOT / "docs/recipes/repository.md").read_text()
    blocks = [
        yaml.safe_load(each) for each in re.findall(r"```yaml\n(.*?)```", page, re.S)
    ]
    (workflow,) = (each for each in blocks if isinstance(each, dict) and "jobs" in each)
    _, check = workflow["jobs"]["check"]["steps"]
    assert check["with"].keys() <= action()["inputs"].keys()
    for name in re.findall(r"# ([a-z-]+): ", page):
        assert name in action()["inputs"]
    hooks = {
        each["id"]
        for each in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    }
    assert set(re.findall(r"- id: ([\w-]+)", page)) == hooks


def test_nothing_says_to_install_a_package_that_is_not_there() -> None:
    """Pages and code say to install from the folder: pip install ".[parquet]".

    Two messages name the package, where that is how dptext was installed
    (tests/test_installed.py).
    """
    by_package = {ROOT / "dptext/errors.py", ROOT / "dptext/cli/doctor.py"}
    files = [
        path
        for name in ("docs", "dptext", "profiles", "examples", ".github")
        for path in (ROOT / name).rglob("*")
        if path.suffix in (".md", ".py", ".toml", ".yaml", ".yml", ".html")
        and path not in by_package
    ]
    for path in (*files, *ROOT.glob("*.md"), *ROOT.glob("*.yml")):
        said = re.search(r"pip install[^\n(]*[ \"']dptext\b", path.read_text("utf-8"))
        assert said is None, (path, said)


def test_every_page_is_on_the_site() -> None:
    """The site's contents list each page of docs/ once, and those of the root."""
    pages = re.findall(r": (\w[\w/-]*\.md)$", (ROOT / "mkdocs.yml").read_text(), re.M)
    folder = ROOT / "docs"
    own = [path.relative_to(folder).as_posix() for path in folder.rglob("*.md")]
    assert sorted(pages) == sorted([*own, *site.PAGES.values()])


def test_image_runs_as_nobody() -> None:
    """The image names its base by version, has no rights and copies existing files."""
    lines = (ROOT / "Dockerfile").read_text().replace("\\\n", " ").splitlines()
    steps = [line.split() for line in lines if line and not line.startswith("#")]
    bases = [step[1] for step in steps if step[0] == "FROM"]
    assert all(re.fullmatch(r"python:3\.\d+-slim", base) for base in bases)
    assert ["USER", "10001"] in steps
    assert {step[0] for step in steps} <= {
        "FROM",
        "WORKDIR",
        "COPY",
        "RUN",
        "LABEL",
        "ENV",
        "USER",
        "ENTRYPOINT",
        "CMD",
    }
    ignored = (ROOT / ".dockerignore").read_text()
    for step in steps:
        for name in step[1:-1] if step[0] == "COPY" and "--from" not in step[1] else ():
            assert (ROOT / name).exists()
            assert f"!{name}\n" in ignored


WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
PINNED = re.compile(r"uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_have_few_rights(path: Path) -> None:
    """Each job has the rights that it names and no more, and no value in a script."""
    data = yaml.safe_load(path.read_text())
    assert data["permissions"] == {}
    for job in data["jobs"].values():
        assert "write-all" not in job["permissions"]
        assert not [step for step in job["steps"] if "${{" in step.get("run", "")]


@pytest.mark.parametrize(
    "path", [*WORKFLOWS, ROOT / "action.yml"], ids=lambda path: path.name
)
def test_actions_of_others_are_pinned(path: Path) -> None:
    """By the hash of a commit, with its version: a tag can be moved."""
    lines = [line for line in path.read_text().splitlines() if "uses:" in line]
    assert lines
    assert all(PINNED.search(line) for line in lines)


def test_what_a_release_does() -> None:
    """It attests all that it builds, and publishes for a tag alone."""
    path = ROOT / ".github/workflows/release.yml"
    jobs = yaml.safe_load(path.read_text())["jobs"]
    used = {step.get("uses", "").partition("@")[0] for step in jobs["attest"]["steps"]}
    assert {"actions/attest-build-provenance", "actions/attest-sbom"} <= used
    for name in ("publish", "release"):
        assert jobs[name]["if"] == "github.ref_type == 'tag'"


@BASH
def test_the_notes_of_a_release_are_those_of_the_changelog(tmp_path: Path) -> None:
    """The lines of its version and no others; a version without lines ends the job."""
    path = ROOT / ".github/workflows/release.yml"
    steps = yaml.safe_load(path.read_text())["jobs"]["release"]["steps"]
    (script,) = (step["run"] for step in steps if "awk" in step.get("run", ""))
    later, earlier = "\na\n### Added\n\n", "b\n"
    (tmp_path / "CHANGELOG.md").write_text(
        f"# C\n## [Unreleased]\n\nn\n## [2.0.0] - D\n{later}## [2.0.0rc1]\n{earlier}"
    )
    for tag, notes in (("v2.0.0", later), ("v2.0.0rc1", earlier), ("v3", "")):
        done = subprocess.run(
            ["bash", "-euc", script], cwd=tmp_path, env={**os.environ, "TAG": tag}
        )
        assert (done.returncode == 0) == bool(notes)
        assert (tmp_path / "notes.md").read_text() == notes


def test_supported_versions_are_tested() -> None:
    """Every version of Python from the oldest on, on Linux and macOS."""
    path = ROOT / ".github/workflows/test.yml"
    matrix = yaml.safe_load(path.read_text())["jobs"]["quick"]["strategy"]["matrix"]
    oldest = re.search(
        r'requires-python = ">=(.+)"', (ROOT / "pyproject.toml").read_text()
    )
    assert oldest
    assert matrix["python"][0] == oldest[1]
    assert {name.partition("-")[0] for name in matrix["os"]} == {"ubuntu", "macos"}


@BASH
def test_the_tests_run_as_readme_prints_them() -> None:
    """The commands are read out of README; a line that is there twice or not fails."""
    script = (ROOT / ".ci/run").read_text()
    (function,) = re.findall(r"(?ms)^readme_line\(\) \{.*?^\}$", script)
    named = re.findall(r"\$\(readme_line '(.*?)'\)", script)
    lines = (ROOT / "README.md").read_text().splitlines()
    assert len(named) == 2
    for words in (*named, "no such command", "pip"):
        program = f"set -euo pipefail\n{function}\nreadme_line '{words}'"
        done = subprocess.run(
            ["bash", "-c", program], cwd=ROOT, capture_output=True, text=True
        )
        assert (done.returncode == 0) == (words in named)
        assert words not in named or done.stdout.rstrip("\n") in lines


OUTCOMES = """
import pytest
from pathlib import Path

def test_a(): pass
def test_b(): pytest.skip("needs more")
@pytest.mark.skipif(True, reason="needs more")
def test_c(): pass
@pytest.fixture
def data(): pytest.skip("needs more")
def test_d(data): pass
@pytest.mark.parametrize("name", ["x y", "a\\nb", "\u00e4"])
def test_e(name): pass
def test_f(): assert not Path("fails").exists()
"""


@pytest.mark.slow
def test_no_test_falls_between_two_environments(tmp_path: Path) -> None:
    """What did not run in the first one runs in the second, and nothing else.

    A file of which all tests ran is not even read.
    """
    folder = tmp_path / "tests"
    folder.mkdir()
    shutil.copy(ROOT / "tests/conftest.py", folder)
    (folder / "test_one.py").write_text(OUTCOMES)
    (folder / "test_two.py").write_text(
        "import pytest\npytest.importorskip('absent_package')\ndef test_g(): pass\n"
    )
    (folder / "test_three.py").write_text("def test_h(): pass\n")
    (tmp_path / "fails").touch()

    # In a process of pytest-xdist a run begins anew.
    alone = environment()
    alone.pop("PYTEST_XDIST_WORKER", None)

    def run(**variables: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-n", "2", "tests"],
            cwd=tmp_path,
            env={**alone, **variables},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout.splitlines()[-1].partition(" in ")[0]

    ran = tmp_path / "ran"
    assert run(DPTEXT_TEST_RAN=str(ran)) == "1 failed, 5 passed, 4 skipped"
    noted = set(ran.read_text().splitlines())
    assert len(noted) == 10
    assert len([line for line in noted if line.startswith("skipped ")]) == 4
    (tmp_path / "fails").unlink()
    (folder / "test_two.py").write_text("def test_g(): pass\n")
    (folder / "test_three.py").write_text("raise OSError\n")
    rest = run(DPTEXT_TEST_LEAVE_OUT=str(ran))
    assert rest.startswith("1 passed, 3 skipped")


def test_dead_links_of_the_site_fail() -> None:
    """With --quiet mkdocs drops the warnings at which --strict fails."""
    for name in (".ci/run", ".github/workflows/test.yml"):
        (line,) = re.findall(r"mkdocs build.*", (ROOT / name).read_text())
        assert "--strict" in line
        assert "--quiet" not in line


def test_the_citation_has_the_version() -> None:
    """CITATION.cff names the version and the licence of this commit."""
    data = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert (data["version"], data["license"]) == (dptext.__version__, "Apache-2.0")
    assert f"version = {{{data['version']}}}" in (ROOT / "docs/papers.md").read_text()
    assert data["title"] in (ROOT / "docs/papers.md").read_text()


def test_forms_for_issues_ask_for_no_private_text() -> None:
    """Each is a form that GitHub shows; that for bugs says to make texts up."""
    for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("[!c]*.yml"):
        form = yaml.safe_load(path.read_text())
        assert {"name", "description", "body"} <= form.keys()
    assert (
        "Never post private texts"
        in (ROOT / ".github/ISSUE_TEMPLATE/bug.yml").read_text()
    )
