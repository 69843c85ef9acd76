"""Vectors of English words as a lexicon: what may be written, and in which order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from dptext.cli.lexicon import app
from dptext.errors import LexiconError, UsageError
from dptext.lexicons import store
from dptext.lexicons.english import ByWordNet
from dptext.lexicons.importing import Settings, make
from dptext.lexicons.store import folder_of
from dptext.types import Lexicon
from tests.lexicons import files, wordnet_files

# By falling frequency; br is markup, zzyzxq a misspelling.
WORDS = (
    "the br of dog cats zzyzxq cat london dogs happy sad glad hound running run "
    "mary runs thing she he xx"
).split()


def content() -> bytes:
    """Return vectors of the words, the same each time."""
    rows = np.random.default_rng(3).standard_normal((len(WORDS), 6)).round(3)
    lines = [
        " ".join((word, *map(str, row)))
        for word, row in zip(WORDS, rows.tolist(), strict=True)
    ]
    return ("\n".join(lines) + "\n").encode()


def imported(tmp_path: Path, outputs: int | None = None, listed: int = 4) -> Lexicon:
    """Import the words with the small WordNet."""
    folder = tmp_path / "wordnet"
    folder.mkdir(exist_ok=True)
    path = files.put(tmp_path / "v.txt", content())
    settings = Settings(listed=listed, outputs=outputs)
    return make(
        path, "mine", settings, scheme=ByWordNet(wordnet_files.put(folder), outputs)
    )


def test_what_is_no_english_word_is_never_written(tmp_path: Path) -> None:
    """Junk is known, stands behind the outputs and is in no order but its own."""
    english = imported(tmp_path)
    store.check(english)
    outputs = english.meta["outputs"]
    lower = [word.lower() for word in english.words]
    junk = [lower.index(word) for word in ("br", "zzyzxq", "xx")]
    assert min(junk) >= outputs
    assert (english.orders[:, 1:] < outputs).all()
    assert (english.orders[-1] < outputs).all()
    assert {"hound", "cats", "happy", "running", "the"} <= set(english.words[:outputs])
    assert (np.diff(english.counts) <= 0).all()


def test_names_are_written_with_capitals(tmp_path: Path) -> None:
    """What lists or WordNet know as a name is written as one, and found as before."""
    english = imported(tmp_path)
    assert {"London", "Mary"} <= set(english.words)
    assert not {"london", "mary"} & set(english.words)
    named = {english.words.index("London"), english.words.index("Mary")}
    assert set(english.orders[-1, :2].tolist()) == named


def test_opposites_are_not_listed(tmp_path: Path) -> None:
    """No antonym stands in the order of a word, whatever its vector."""
    english = imported(tmp_path, listed=10)
    row = {word: location for location, word in enumerate(english.words)}
    assert row["sad"] not in english.orders[row["happy"]]
    assert row["happy"] not in english.orders[row["sad"]]


def test_outputs_are_the_first_that_may_be_written(tmp_path: Path) -> None:
    """Fewer outputs: the most frequent; and none where no word is English."""
    english = imported(tmp_path, outputs=5)
    assert english.meta["outputs"] == 5
    assert (english.orders[:, 1:] < 5).all()
    path = files.put(tmp_path / "w.txt", b"qqz 1 2\nzzx 2 1\n")
    with pytest.raises(LexiconError, match="English"):
        make(path, "x", Settings(), scheme=ByWordNet(tmp_path / "wordnet", 2))


def test_it_is_the_same_each_time_and_can_be_stored(tmp_path: Path) -> None:
    """Two imports have one digest; optional arrays are filled; the licence is there."""
    one, two = imported(tmp_path), imported(tmp_path)
    first = store.save(one, tmp_path / "one")
    assert first == store.save(two, tmp_path / "two")
    stored = store.load(tmp_path / "one")
    assert stored.parts is not None
    assert stored.synonyms is not None
    assert stored.information_content is not None


@pytest.mark.parametrize("settings", [{"outputs": 1}, {"outputs": 4, "listed": 1}])
def test_too_few(settings: dict[str, Any]) -> None:
    """One output, or a list of one, is no choice."""
    with pytest.raises(UsageError):
        Settings(**settings)


def test_errors_are_one_line(tmp_path: Path) -> None:
    """A folder without the database, and orders by distance, are said."""
    with pytest.raises(LexiconError, match=r"data\.noun|WordNet"):
        ByWordNet(tmp_path / "nothing")
    with pytest.raises(UsageError, match="not by distance"):
        ByWordNet(tmp_path, 0)


def test_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """--wordnet and --outputs; the licence of WordNet lies beside the data."""
    monkeypatch.setenv("DPTEXT_HOME", str(tmp_path / "share"))
    folder = tmp_path / "wordnet"
    folder.mkdir()
    wordnet_files.put(folder)
    path = files.put(tmp_path / "v.txt", content())
    options = ["--wordnet", str(folder), "--listed", "4", "--name", "mine", "--json"]
    ran = CliRunner().invoke(app, ["import", str(path), *options])
    assert ran.exit_code == 0, ran.output
    described = json.loads(ran.stdout)
    assert described["language"] == "en"
    assert (folder_of("mine") / "LICENSE.wordnet").is_file()
