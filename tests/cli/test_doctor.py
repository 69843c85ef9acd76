"""`dptext doctor`, and installing completion of the shell."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

import dptext
from dptext import cache, lexicons
from dptext._built import VARIABLE, description
from dptext.attackers import kernel, ngrams
from dptext.cli.app import app
from tests import small
from tests.attackers import models as small_models
from tests.cli.running import here


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder, with a separate store and cache."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    monkeypatch.setenv("DPTEXT_HOME", str(tmp_path / "store"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("DPTEXT_KEY_FILE", "DPTEXT_SIGN_KEY", "DPTEXT_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def _lines() -> tuple[int, dict[str, tuple[str, str, str]]]:
    ran = here("doctor", "--json")
    rows = [tuple(row.values()) for row in json.loads(ran.out)]
    return ran.code, {name: (state, seen, advice) for name, state, seen, advice in rows}


def test_a_sound_installation() -> None:
    """All that runs need is here; what only some settings need is no fault."""
    ran = here("doctor")
    assert (ran.code, ran.err) == (0, "")
    shown = ran.out.decode()
    assert "verified" in shown
    assert all(line[:6].strip() in ("ok", "absent") for line in shown.splitlines())
    code, lines = _lines()
    assert code == 0
    assert {"Python", "dptext", "numpy", "lexicon builtin", "cache"} <= lines.keys()
    assert lines["wordnet (budgets with the score ic, if its source is nltk)"][
        2
    ].startswith("run: ")


def test_the_folder_of_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It will be made, or cannot be."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "a" / "b"))
    assert _lines()[1]["cache"][1].endswith("will be created when needed")
    (tmp_path / "a").write_text("a file")
    state, seen, _ = _lines()[1]["cache"]
    assert (state, seen.endswith("cannot be written")) == ("absent", True)


def test_the_cache_is_shown_and_cleared(tmp_path: Path) -> None:
    """Size by kind; with --clear kept results go, and no file that is not dptext's."""
    folder = tmp_path / "cache" / "dptext"
    cache.table("k", lambda: np.zeros(9), lambda kept: True, "table")
    cache.arrays("a", lambda: {"x": np.zeros(9)})
    cache.numbers("n", lambda: {"x": 1})
    (folder / "lexicons" / "one").mkdir(parents=True)
    (folder / "lexicons" / "one" / "words.txt").write_text("words")
    (folder / "mine.txt").write_text("of somebody else")
    shown = json.loads(here("doctor", "--cache", "--json").out)
    assert shown["folder"] == str(folder)
    assert {each["kind"]: each["files"] for each in shown["kept"]} == {
        "tables": 1,
        "large tables": 1,
        "figures": 1,
        "lexicons opened from files": 1,
    }
    assert sum(each["bytes"] for each in shown["kept"]) == sum(
        path.stat().st_size
        for path in folder.rglob("*")
        if path.is_file() and path.name != "mine.txt"
    )
    assert "doctor --cache --clear" in " ".join(
        here("doctor", "--cache").out.decode().split()
    )
    assert len(list(folder.iterdir())) == 5
    assert here("doctor", "--cache", "--clear").code == 0
    assert [path.name for path in folder.iterdir()] == ["mine.txt"]
    assert json.loads(here("doctor", "--cache", "--json").out)["kept"] == []
    wrong = here("doctor", "--clear")
    assert (wrong.code, "--cache" in wrong.err) == (2, True)


def test_the_version_names_kernel_and_lexicon(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loaded ones, as they decide speed and words."""
    monkeypatch.delenv(VARIABLE, raising=False)
    shown = here("--version").out.decode().strip()
    assert shown == description()
    assert shown.startswith(f"dptext {dptext.__version__} (kernel ")
    has = kernel.library is not None
    assert ("kernel compiled" in shown) is has
    assert lexicons.builtin_digest()[:12] in shown
    monkeypatch.setenv(VARIABLE, "numpy")
    assert "kernel numpy" in here("--version").out.decode()


def test_the_kernel_is_named_and_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether words are decoded by compiled code; without it nothing is wrong."""
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(kernel, "library", object())
    assert _lines()[1]["decoding kernel"] == ("ok", "compiled", "")
    monkeypatch.setattr(kernel, "library", None)
    state, seen, advice = _lines()[1]["decoding kernel"]
    assert (state, seen[:5]) == ("absent", "numpy")
    assert "install a C compiler" in advice
    monkeypatch.setenv(VARIABLE, "numpy")
    assert _lines()[1]["decoding kernel"][2] == "unset DPTEXT_KERNEL"


def test_what_is_wrong_and_what_to_do(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keys that others may read, broken lexicons and settings end with exit code 1."""
    key = folder / "key"
    key.write_bytes(bytes(range(64)))
    key.chmod(0o600)
    monkeypatch.setenv("DPTEXT_KEY_FILE", str(key))
    assert _lines()[1]["DPTEXT_KEY_FILE"][0] == "ok"
    key.chmod(0o644)
    broken = folder / "store" / "lexicons" / "mine"
    broken.mkdir(parents=True)
    (broken / "meta.json").write_text("{")
    models = folder / "store" / "ngrams"
    ngrams.save(small_models.model(small.english("cat", "dog")), models / "sound")
    ngrams.save(small_models.model(small.english("cat", "dog")), models / "cut")
    (models / "cut" / "gains.npy").write_bytes(b"")
    (folder / ".dptext.yaml").write_text("sanitize: {epsilon: 0}\n")
    (folder / "cache" / "dptext").mkdir(parents=True)
    (folder / "cache" / "dptext").chmod(0o777)
    code, lines = _lines()
    assert code == 1
    wrong = {name: line for name, line in lines.items() if line[0] == "wrong"}
    if os.name != "nt":
        assert "chmod 600" in wrong["DPTEXT_KEY_FILE"][1]
        assert "chmod -R go-w" in wrong["cache"][2]
    assert "sanitize.epsilon" in wrong["configuration"][1]
    assert wrong["lexicon mine"][2] == "import it again"
    assert "does not match its digest" in wrong["n-gram model cut"][1]
    assert "lexicon ngrams" in wrong["n-gram model cut"][2]
    assert lines["n-gram model sound"][0] == "ok"


def test_completion_is_a_command_of_its_own() -> None:
    """Completion of the shell is shown and installed by options before commands."""
    assert app.info.name == "dptext"
    shown = here("--help").out.decode()
    assert "--install-completion" in shown
