"""Vectors of English words with the orders of the built-in lexicon."""

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
from dptext.lexicons.importing import AsBuiltIn, Settings, make
from dptext.lexicons.orders import rows_of_names
from dptext.lexicons.store import lexicon_folder
from dptext.types import PARTS, Lexicon
from tests.lexicons import files

# By falling frequency; qqzzyx is a word of no language.
WORDS = (
    "the and of dog cats qqzzyx cat london dogs happy sad glad good bad running run "
    "mary runs thing she he great"
).split()


def content(words: list[str] = WORDS) -> bytes:
    """Return vectors of the words, the same each time."""
    rows = np.random.default_rng(3).standard_normal((len(words), 6)).round(3)
    lines = [
        " ".join((word, *map(str, row)))
        for word, row in zip(words, rows.tolist(), strict=True)
    ]
    return ("\n".join(lines) + "\n").encode()


def imported(tmp_path: Path, outputs: int | None = None, listed: int = 4) -> Lexicon:
    """Import the words with the orders of the built-in lexicon."""
    path = files.put(tmp_path / "v.txt", content())
    settings = Settings(listed=listed, outputs=outputs)
    return make(path, "mine", settings, scheme=AsBuiltIn(outputs))


def test_what_the_built_in_lexicon_never_writes_is_never_written(
    tmp_path: Path, builtin: Lexicon
) -> None:
    """Other words are known, stand behind the outputs and in their own orders alone."""
    english = imported(tmp_path)
    store.check(english)
    outputs = english.meta["outputs"]
    allowed = set(builtin.words[: builtin.meta["outputs"]])
    assert set(english.words[:outputs]) <= allowed
    assert english.words.index("qqzzyx") >= outputs
    assert (english.orders[:, 1:] < outputs).all()
    assert (english.orders[-1] < outputs).all()
    assert (np.diff(english.counts) <= 0).all()


def test_orders_are_those_of_the_built_in_lexicon(
    tmp_path: Path, builtin: Lexicon
) -> None:
    """The built-in lexicon's list for a word comes first, in its order."""
    english = imported(tmp_path, listed=10)
    outputs = english.meta["outputs"]
    checked = 0
    for row, word in enumerate(english.words):
        theirs = builtin.row_of.get(word.lower(), -1)
        if theirs < 0 or word.startswith("<"):
            continue
        names = [builtin.words[other] for other in builtin.orders[theirs].tolist()]
        inside = [n for n in names[1:] if n in english.words[:outputs]]
        mine = [english.words[other] for other in english.orders[row].tolist()]
        assert mine[: 1 + len(inside)] == [word, *inside][:10]
        checked += len(inside) > 0
    assert checked > 5


def test_names_are_written_with_capitals(tmp_path: Path) -> None:
    """Words are written as the built-in lexicon writes them."""
    english = imported(tmp_path)
    assert {"London", "Mary"} <= set(english.words)
    assert not {"london", "mary"} & set(english.words)


def test_parts_and_synonyms_come_along(tmp_path: Path, builtin: Lexicon) -> None:
    """Each word has the part of speech and those of the synonyms that the file has."""
    english = imported(tmp_path)
    assert english.parts is not None
    assert builtin.parts is not None
    row = {word: location for location, word in enumerate(english.words)}
    theirs = builtin.row_of["dog"]
    assert english.parts[row["dog"]] == builtin.parts[theirs]
    assert PARTS[english.parts[row["qqzzyx"]]] == "other"
    assert builtin.synonyms is not None
    assert builtin.synonym_ends is not None
    assert english.synonyms is not None
    assert english.synonym_ends is not None
    for word in ("happy", "good", "dog", "qqzzyx"):
        at = builtin.row_of.get(word)
        listed: list[str] = []
        if at is not None:
            begin = builtin.synonym_ends[at - 1] if at else 0
            ids = builtin.synonyms[begin : builtin.synonym_ends[at]].tolist()
            listed = [builtin.words[other] for other in ids]
        begin = english.synonym_ends[row[word] - 1] if row[word] else 0
        ids = english.synonyms[begin : english.synonym_ends[row[word]]].tolist()
        mine = [english.words[other] for other in ids]
        assert mine == [other for other in listed if other in row]


def test_outputs_are_the_first_that_may_be_written(tmp_path: Path) -> None:
    """Fewer outputs: the most frequent; and none where no word is English."""
    english = imported(tmp_path, outputs=5)
    assert english.meta["outputs"] == 5
    assert (english.orders[:, 1:] < 5).all()


def test_it_is_the_same_each_time_and_can_be_stored(tmp_path: Path) -> None:
    """Two imports have one digest; optional arrays are filled."""
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
    """Orders by distance, and lists of one word, are refused."""
    with pytest.raises(UsageError, match="not ordered by distance"):
        AsBuiltIn(0)
    path = files.put(tmp_path / "w.txt", content(["qqz", "zzx"]))
    with pytest.raises(LexiconError, match="without --english"):
        make(path, "x", Settings(), scheme=AsBuiltIn())


def test_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """--english brings the licences; --wordnet is refused with what to use now."""
    monkeypatch.setenv("DPTEXT_HOME", str(tmp_path / "share"))
    path = files.put(tmp_path / "v.txt", content())
    options = ["--english", "--listed", "4", "--name", "mine", "--json"]
    ran = CliRunner().invoke(app, ["import", str(path), *options])
    assert ran.exit_code == 0, ran.output
    described = json.loads(ran.stdout)
    assert described["language"] == "en"
    assert (lexicon_folder("mine") / "LICENSE.wordnet").is_file()


def test_names_of_imported_vectors_are_one_input(tmp_path: Path) -> None:
    """Names have one order, a word of the file that no list has, but a name, too."""
    words = [
        *WORDS,
        "alex",
        "sam",
        "chris",
        "james",
        "aisha",
        "xanthe",
        "maria",
        "table",
    ]
    path = files.put(tmp_path / "v.txt", content(words))
    english = make(path, "mine", Settings(listed=4), scheme=AsBuiltIn(None))
    store.check(english)
    named, row_of = rows_of_names(english), english.row_of
    assert english.meta["names"] == "Alex"
    for name in ("alex", "james", "aisha", "mary"):
        assert named[row_of[name]], name
    assert not named[row_of["table"]]
