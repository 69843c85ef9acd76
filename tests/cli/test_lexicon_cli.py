"""`dptext lexicon`: data on stdout, one error for each fault, JSON for machines."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from dptext.cli.lexicon import FORMATS, app
from dptext.errors import LexiconError, UsageError
from dptext.lexicons import sources
from tests.lexicons import files

pytestmark = pytest.mark.usefixtures("empty_folders")


def _run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def _json(*arguments: str) -> Any:
    result = _run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def _source(tmp_path: Path, name: str = "v.txt") -> str:
    return str(files.put(tmp_path / name, files.text()))


def test_import_then_list_and_info(tmp_path: Path) -> None:
    """An imported lexicon is listed and described by its name, with its digest."""
    imported = _json("import", _source(tmp_path), "--name", "mine")
    listed = {entry["name"]: entry for entry in _json("list")}
    info = _json("info", "mine")
    assert listed["mine"]["digest"] == imported["digest"] == info["digest"]
    assert (info["words"], info["dimensions"], info["listed"]) == (6, 3, 6)
    assert info["prior"].startswith("Zipf's law")
    assert info["licence"]
    assert info["geometry"]


def test_info_of_a_file(tmp_path: Path) -> None:
    """A file that was never imported is described by its path."""
    path = _source(tmp_path)
    assert _json("info", path)["name"] == "v.txt"


def test_options_of_import(tmp_path: Path) -> None:
    """Format, number of words and length of the orders are taken as given."""
    path = _source(tmp_path)
    imported = _json(
        "import",
        path,
        "--name",
        "mine",
        "--format",
        "glove",
        "--max-words",
        "3",
        "--listed",
        "2",
    )
    assert (imported["words"], imported["listed"], imported["format"]) == (
        4,
        2,
        "glove",
    )


def test_tables_for_people(tmp_path: Path) -> None:
    """Without --json the whole digest and any name are shown unchanged."""
    path = _source(tmp_path, "v[bold].txt")
    result = _run("import", path, "--name", "mine")
    digest = _json("info", "mine")["digest"]
    assert result.exit_code == 0
    assert digest in "".join(result.stdout.split())
    assert "v[bold].txt" in result.stdout
    table = _run("list").stdout
    assert "mine" in table
    assert digest[:12] in table


@pytest.mark.parametrize(
    ("arguments", "error", "reason"),
    [
        (("info", "nowhere"), LexiconError, "no lexicon and no file named 'nowhere'"),
        (("import", "none.txt", "--name", "x"), LexiconError, "No such file"),
        (("import", "none.txt", "--name", "a/b"), UsageError, "letters, digits"),
        (("import", "none.txt", "--name", "builtin"), UsageError, "choose another"),
    ],
)
def test_faults_are_raised_for_the_handler(
    arguments: tuple[str, ...], error: type[Exception], reason: str
) -> None:
    """Each fault is one DptextError, which the top-level handler prints."""
    result = _run(*arguments)
    assert isinstance(result.exception, error)
    assert reason in str(result.exception)


def test_a_malformed_file_leaves_nothing(tmp_path: Path) -> None:
    """A file with a fault in it is refused with its line and nothing is stored."""
    path = files.put(tmp_path / "v.txt", b"a 1 2\nb 1\n")
    result = _run("import", str(path), "--name", "mine")
    assert "line 2: expected a word and 2 numbers" in str(result.exception)
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("import", "v.txt"),
        ("import", "v.txt", "--name", "x", "--listed", "0"),
    ],
)
def test_wrong_options(arguments: tuple[str, ...]) -> None:
    """A missing or wrong option ends with the exit code of usage errors."""
    assert _run(*arguments).exit_code == 2


def test_formats_are_those_that_can_be_read() -> None:
    """The command line offers every format there is, and no other."""
    assert FORMATS == sources.FORMATS


def test_nothing_heavy_is_imported_for_help() -> None:
    """The commands are described without numpy, which is slow to import."""
    code = "import dptext.cli.lexicon, sys; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
