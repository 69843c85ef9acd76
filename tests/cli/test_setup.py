"""`dptext setup`: what is here, what is fetched, and how it fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dptext import lexicons, models
from dptext.cli import setup, vector_files
from tests.lexicons import files
from tests.lexicons.files import real

# The command alone, as `dptext setup` runs it.
PROGRAM = (
    "import typer; from dptext.cli import setup; "
    "app = typer.Typer(pretty_exceptions_enable=False); "
    "app.command()(setup.command); app()"
)


def run(
    home: Path, *arguments: str, data: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run the command where there is no home, no data and no network."""
    nowhere = "http://127.0.0.1:9"
    names = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")
    environment = {
        **{key: value for key, value in os.environ.items() if key != "no_proxy"},
        **dict.fromkeys(names, nowhere),
        "HOME": str(home),
        "HF_HOME": str(home),
        "NLTK_DATA": data,
    }
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM, *arguments],
        capture_output=True,
        text=True,
        env=environment,
        timeout=300,
    )


@pytest.fixture(autouse=True)
def _packages() -> None:
    for name in ("nltk", "spacy"):
        if not models.has(name):
            pytest.skip(f"{name} is not installed")


def test_check_shows_where_things_are(tmp_path: Path) -> None:
    """Places of what is here, exact commands for the rest, code 1 if any is absent."""
    data = str(real("nltk_data"))
    done = run(tmp_path, "--check", "--json", data=data)
    rows = {row["name"]: row for row in json.loads(done.stdout)}
    for name, path in models.NLTK_DATA.items():
        assert rows[name]["path"] == f"{data}/{path}"
        assert rows[name]["command"] == f"python -m nltk.downloader {name}"
    absent = [row for row in rows.values() if row["path"] is None]
    missing = [row for row in absent if not row["optional"]]
    assert "nlp.stanford.edu" in rows["GloVe"]["command"]
    assert done.returncode == bool(missing)
    assert done.stderr == ""


def test_without_a_network_it_says_so(tmp_path: Path) -> None:
    """One line for each thing that could not be fetched, code 1, no traceback."""
    done = run(tmp_path)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    for name in models.NLTK_DATA:
        assert f"fetching {name} ...\n{name} was not fetched: " in done.stderr
        assert f"python -m nltk.downloader {name}\n" in done.stdout
    assert all(
        line.startswith("fetching ") or " was not fetched: " in line
        for line in done.stderr.splitlines()
    )


def test_what_is_fetched_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what is absent is fetched, by the package's own call."""
    here: dict[str, str] = {"one": "/somewhere"}
    fetched = []

    def item(name: str) -> setup.Item:
        def fetch() -> None:
            fetched.append(name)
            here[name] = "/new"

        return setup.Item(
            name, "tests", "nltk", "nlp", "get it", lambda: here.get(name), fetch
        )

    monkeypatch.setattr(setup, "items", lambda: [item("one"), item("two")])
    setup.command()
    assert fetched == ["two"]
    setup.command(check=True)
    assert fetched == ["two"]


def test_what_is_here_is_shown_with_its_path(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """For people and for machines, who read it from the key path."""
    here = setup.Item(
        "thing", "tests", "nltk", "nlp", "get it", lambda: "/there", lambda: None
    )
    monkeypatch.setattr(setup, "items", lambda: [here])
    monkeypatch.setattr(vector_files, "SOURCES", ())
    setup.command(check=True)
    assert capsys.readouterr().out == "thing (tests)\n  /there\n"
    setup.command(check=True, as_json=True)
    (row,) = json.loads(capsys.readouterr().out)
    assert row == {
        "name": "thing",
        "for": "tests",
        "path": "/there",
        "command": "get it",
        "optional": False,
    }


def test_an_absent_package_is_named_with_its_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command begins with what brings the package."""
    lost = setup.Item(
        "thing", "tests", "no_such_package", "nlp", "get it", lambda: "", lambda: None
    )
    monkeypatch.setattr(setup, "items", lambda: [lost])
    monkeypatch.setattr(vector_files, "SOURCES", ())
    with pytest.raises(Exception, match="1"):
        setup.command()
    told = capsys.readouterr().out
    assert told == (
        'thing (tests)\n  absent; to fetch it: pip install "dptext[nlp]" && get it\n'
    )


def test_vectors_that_are_here_are_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """GloVe and fastText files by their names, with their language; faults are said."""
    monkeypatch.setenv("DPTEXT_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(setup, "items", lambda: [])
    for name, content in {
        "glove.6B.50d.txt": files.text(),
        "cc.de.300.vec": files.text(header=True),
        "wiki-news-300d-1M.vec": b"5 3\nthe 1\n",
        "notes.txt": b"private",
    }.items():
        files.put(tmp_path / name, content)
    setup.command(folder=tmp_path, as_json=True)
    output = capsys.readouterr()
    assert all(row["path"] for row in json.loads(output.out))
    assert "wiki-news-300d-1M was not imported: " in output.err
    assert "line 2" in output.err
    known = {entry.name: entry.meta.get("language") for entry in lexicons.installed()}
    assert known["cc.de.300"] == "de"
    assert known["glove.6B.50d"] == "en"
    assert len(known) == 3
