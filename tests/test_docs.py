"""The commands of the pages run as printed, page by page."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests import loaded
from tests.cli.running import environment

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash"),
]

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("README.md", *(str(p.relative_to(ROOT)) for p in ROOT.glob("docs/**/*.md")))
BLOCK = re.compile(r"(?ms)^```(sh|python)\n(.*?)^```$")
# Lines that install something, or need a terminal: not run. Blocks that need models,
# clusters or files from elsewhere are marked `shell`.
NOT_RUN = re.compile(
    r"^(?:python3? -m (?:venv|benchmarks|tools)|[.]venv/|pip |dptext --install-compl)"
)
TESTED_ELSEWHERE = {
    "docs/extending.md": "tests/test_api.py and tests/outside.py",
    "docs/frames.md": "tests/frames/test_docs.py",
    "docs/architecture.md": "names no commands",
}


def script(text: str) -> str:
    """Return the commands of a page as one script that stops at the first failure.

    The blocks of Python are one program behind all commands, as cells of a notebook.
    """
    lines = ["set -eu"]
    cells = []
    for language, code in BLOCK.findall(text):
        if language == "python":
            cells.append(code)
            continue
        for line in re.sub(r"\\\n\s*", "", code).splitlines():
            if not NOT_RUN.search(line):
                lines.append(line)
    if cells:
        program = "\n".join(cells)
        lines.append(f"{shlex.quote(sys.executable)} - <<'PROGRAM'\n{program}PROGRAM")
    return "\n".join(lines) + "\n"


def with_commands() -> list[str]:
    """Return the pages that have a command to run."""
    return [
        page
        for page in PAGES
        if page not in TESTED_ELSEWHERE
        and len(script((ROOT / page).read_text("utf-8")).splitlines()) > 1
    ]


@pytest.mark.parametrize("page", with_commands())
def test_the_commands_of_a_page_run(page: str, tmp_path: Path) -> None:
    """In order, in a folder with the examples, each ends well."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    env = environment(HOME=str(tmp_path), PYTHONPATH=str(ROOT))
    env["PATH"] = f"{loaded.program().parent}{os.pathsep}{env['PATH']}"
    done = subprocess.run(
        ["bash", "-c", script((ROOT / page).read_text("utf-8"))],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    if extra := missing_extra(done.stderr):
        pytest.skip(f'{page} needs the "{extra}" extra')
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]


def missing_extra(message: str) -> str:
    """Return the extra that a command needs and of which a package is missing here."""
    named = re.search(r'needs the "(\w+)" extra', message)
    if named is None:
        return ""
    data = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    for requirement in data["project"]["optional-dependencies"][named[1]]:
        name = re.match(r"[\w.-]+", requirement)
        assert name is not None
        try:
            metadata.version(name[0])
        except metadata.PackageNotFoundError:
            return named[1]
    return ""


def test_a_page_is_skipped_for_an_extra_that_is_missing_alone() -> None:
    """A command that asks for an extra that is installed is a fault."""
    for extra, package in (("parquet", "pyarrow"), ("spark", "pyspark")):
        line = f'dptext: Tables need the "{extra}" extra: pip install ".[{extra}]"'
        assert missing_extra(line) == ""
        line = line.replace("need the", "needs the")
        assert missing_extra(line) == ("" if find_spec(package) else extra)
