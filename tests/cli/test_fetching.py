"""`dptext doctor --install`: installed parts, downloads and failures."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dptext import models
from dptext.errors import install_command
from tests.cli.running import here
from tests.lexicons.files import real


def run(
    home: Path, *arguments: str, data: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run doctor where there is no home, no data and no network."""
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
        [sys.executable, "-W", "ignore", "-m", "dptext", "doctor", *arguments],
        capture_output=True,
        text=True,
        env=environment,
        timeout=300,
    )


@pytest.fixture
def _packages() -> None:
    for name in ("nltk", "spacy"):
        if not models.has(name):
            pytest.skip(f"{name} is not installed")


@pytest.mark.usefixtures("_packages")
def test_doctor_shows_where_things_are(tmp_path: Path) -> None:
    """Places of installed parts, commands for absent ones, which are no fault."""
    data = str(real("nltk_data"))
    done = run(tmp_path, "--json", data=data)
    rows = {row["part"].split(" (")[0]: row for row in json.loads(done.stdout)}
    for name, path in models.NLTK_DATA.items():
        assert (rows[name]["state"], rows[name]["seen"]) == ("ok", f"{data}/{path}")
    done = run(tmp_path, "--json")
    rows = {row["part"].split(" (")[0]: row for row in json.loads(done.stdout)}
    for name in models.NLTK_DATA:
        assert rows[name]["state"] == "absent"
        said = f"run: dptext doctor --install {name} (or python -m nltk.downloader"
        assert rows[name]["advice"].startswith(said)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.usefixtures("_packages")
@pytest.mark.parametrize("name", ["wordnet", "all"])
def test_without_a_network_it_says_so(name: str, tmp_path: Path) -> None:
    """A failed download is one line, code 1, no traceback."""
    done = run(tmp_path, "--install", name)
    assert (done.returncode, done.stdout) == (1, "")
    lines = done.stderr.splitlines()
    assert lines[0] == "dptext: fetching wordnet"
    assert lines[-1].startswith("dptext: wordnet could not be downloaded")


@pytest.fixture
def things(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Have one thing that is here, one that is not, and one without its package."""
    known: dict[str, str] = {"one": "/somewhere"}
    fetched: list[str] = []

    def item(name: str, package: str = "json") -> models.Item:
        def fetch() -> None:
            fetched.append(name)
            known[name] = "/new"

        return models.Item(
            name,
            serves="tests",
            package=package,
            extra="nlp",
            command="get it",
            location=lambda: known.get(name),
            fetch=fetch,
        )

    things = [item("one"), item("two"), item("lost", "no_such_package")]
    monkeypatch.setattr(models, "items", lambda: iter(things))
    return fetched


def test_what_is_fetched_is_found(things: list[str]) -> None:
    """Only absent parts are fetched, by the package's own call."""
    assert models.install("one") == "/somewhere"
    assert things == []
    ran = here("doctor", "--install", "all")
    assert (ran.code, ran.err, things) == (0, "dptext: fetching two\n", ["two"])
    assert b"two (tests): /new" in ran.out
    assert here("doctor", "--install", "all").err == ""
    assert things == ["two"]


def test_what_cannot_be_fetched(things: list[str]) -> None:
    """A name of nothing, and a package that is not here: one line that says what."""
    for name, said in (
        ("three", "--install three: choose one, two, lost or all"),
        (
            "lost",
            f"run: {install_command('nlp')}, then dptext doctor --install lost",
        ),
    ):
        ran = here("doctor", "--install", name)
        assert (ran.code, ran.out) == (2, b"")
        assert said in ran.err.splitlines()[-1]
    assert things == []
