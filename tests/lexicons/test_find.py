"""Finding a lexicon: by name, folder or file; imported once, then from the cache."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from dptext import lexicons, progress
from dptext.attackers import ngrams
from dptext.errors import LexiconError, UsageError
from dptext.lexicons import importing, store, topics
from dptext.lexicons.importing import Settings, make
from dptext.lexicons.store import (
    cached_folder,
    lexicon_folder,
    packaged_folder,
    user_folder,
)
from dptext.types import Lexicon
from tests.cli.running import here
from tests.lexicons import files

pytestmark = pytest.mark.usefixtures("empty_folders")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Return a small GloVe file."""
    return files.put(tmp_path / "v.txt", files.text())


def _import(source: Path, name: str) -> str:
    return store.save(make(source, name, Settings()), lexicon_folder(name))


def test_a_name_that_was_imported(source: Path) -> None:
    """An imported lexicon is found by its name and listed."""
    digest = _import(source, "mine")
    assert lexicons.find("mine").digest == digest
    listed = {entry.name: entry for entry in lexicons.installed()}
    assert listed["mine"].digest == digest
    assert listed["mine"].meta["format"] == "glove"
    assert "builtin" in listed


def test_a_folder_is_opened(source: Path, tmp_path: Path) -> None:
    """The path of a stored lexicon opens it, with no copy made."""
    digest = store.save(make(source, "x", Settings()), tmp_path / "there")
    assert lexicons.find(str(tmp_path / "there")).digest == digest
    assert not (tmp_path / "cache").exists()


def test_a_file_is_imported_once(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second use of a file, under any name, comes from the cache."""
    steps: list[str] = []
    monkeypatch.setattr(progress, "share", lambda step, _: steps.append(step))
    first = lexicons.find(str(source))
    assert "reading" in steps
    assert first.name == "v.txt"
    monkeypatch.setattr(importing, "make", None)
    copy = shutil.copy(source, tmp_path / "copy.txt")
    again = lexicons.find(str(copy))
    assert (again.name, again.digest) == ("copy.txt", first.digest)


def test_settings_and_content_are_the_key(source: Path) -> None:
    """Other settings or another content give another lexicon."""
    complete = lexicons.find(str(source))
    part = lexicons.find(str(source), settings=Settings(max_words=2))
    assert len(part.words) == 3
    assert len(complete.words) == 6
    source.write_bytes(files.text(["other", "words"]))
    assert lexicons.find(str(source)).words[0] == "other"


def test_a_damaged_cache_is_made_again(source: Path, tmp_path: Path) -> None:
    """A cached lexicon that does not match its digest is imported again."""
    first = lexicons.find(str(source))
    for path in (tmp_path / "cache").rglob("words.txt"):
        path.write_text("damaged")
    assert lexicons.find(str(source)).words == first.words


def test_a_cache_that_cannot_be_written(source: Path, tmp_path: Path) -> None:
    """The lexicon is used from memory, with its digest and one warning."""
    stored = lexicons.find(str(source))
    shutil.rmtree(tmp_path / "cache")
    (tmp_path / "cache").write_text("a file, no folder")
    warnings: list[str] = []
    opened = lexicons.find(str(source), warn=warnings.append)
    assert opened.digest == stored.digest
    assert len(warnings) == 1
    assert "not cached" in warnings[0]


def test_a_folder_of_vectors_is_refused(tmp_path: Path) -> None:
    """One line says to give one file."""
    with pytest.raises(LexiconError, match="Is a directory"):
        lexicons.find(str(tmp_path))


def test_unknown_names_list_the_known(source: Path) -> None:
    """The error names those that there are."""
    _import(source, "glove-50")
    with pytest.raises(LexiconError, match=r"known: builtin, .*glove-50"):
        lexicons.find("glove-60")


def test_an_imported_name_goes_before_a_file(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of the same name as a lexicon is reached by its path."""
    digest = _import(source, "mine")
    monkeypatch.chdir(tmp_path)
    files.put(tmp_path / "mine", files.text(["a", "b"]))
    assert lexicons.find("mine").digest == digest
    assert lexicons.find("./mine").words[0] == "a"


@pytest.mark.parametrize("name", ["../up", "a/b", "", ".hidden", "a b", "x" * 101])
def test_names_are_no_paths(name: str) -> None:
    """A name that could lead out of the store is refused."""
    with pytest.raises(UsageError, match="letters, digits"):
        lexicon_folder(name)


@pytest.mark.parametrize("name", ["builtin", "english"])
def test_the_built_in_name_is_kept(name: str) -> None:
    """No import may take the name of the built-in lexicon."""
    with pytest.raises(UsageError, match="choose another"):
        lexicon_folder(name)


def test_a_broken_lexicon_is_listed_as_such(tmp_path: Path) -> None:
    """A folder in the store that is no lexicon is listed with its problem."""
    (tmp_path / "home" / "lexicons" / "broken").mkdir(parents=True)
    entry = {entry.name: entry for entry in lexicons.installed()}["broken"]
    assert "not a lexicon" in entry.problem


def test_folders_follow_xdg(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Store and cache lie where the XDG variables say; relative ones are ignored."""
    monkeypatch.delenv("DPTEXT_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert user_folder() == tmp_path / "data" / "dptext" / "lexicons"
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    assert user_folder() == Path.home() / ".local/share/dptext/lexicons"
    assert cached_folder() == Path.home() / ".cache/dptext/lexicons"


@pytest.mark.skipif(not packaged_folder().is_dir(), reason="not built yet")
def test_the_built_in_lexicon_opens() -> None:
    """Both names open the lexicon of the package, in any folder."""
    assert lexicons.find("builtin").digest == lexicons.find("english").digest


def test_one_lexicon_in_the_place_of_another(source: Path, tmp_path: Path) -> None:
    """A whole lexicon that was made of another file is not taken for this one's."""
    first = lexicons.find(str(source))
    other = files.put(tmp_path / "w.txt", files.text(["other", "words"]))
    lexicons.find(str(other))
    folders = [path for path in cached_folder().iterdir() if path.is_dir()]
    one, two = sorted(folders)
    one.rename(tmp_path / "kept")
    two.rename(one)
    (tmp_path / "kept").rename(two)
    assert lexicons.find(str(source)).words == first.words


@pytest.mark.parametrize("damage", ["no meta", "a file", "open to all"])
def test_cached_lexicons_heal(damage: str, source: Path) -> None:
    """Any obstacle in the cache is replaced; none ends the run."""
    first = lexicons.find(str(source))
    (folder,) = (path for path in cached_folder().iterdir() if path.is_dir())
    if damage == "no meta":
        (folder / "meta.json").unlink()
    elif damage == "a file":
        shutil.rmtree(folder)
        folder.write_text("no lexicon")
    else:
        (folder / "vectors.npy").chmod(0o666)
    assert lexicons.find(str(source)).digest == first.digest
    if damage == "open to all":
        assert (folder / "vectors.npy").stat().st_mode & 0o022 == 0


def test_a_run_that_imports_the_same_file_at_once(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder that it has just written stays, and both have the lexicon."""
    kept: list[int] = []

    def make_after_another(*given: Any, **named: Any) -> Lexicon:
        monkeypatch.setattr(importing, "make", make)
        lexicons.find(str(source))
        (folder,) = cached_folder().iterdir()
        kept.append((folder / "meta.json").stat().st_ctime_ns)
        return make(*given, **named)

    monkeypatch.setattr(importing, "make", make_after_another)
    lexicons.find(str(source))
    (folder,) = cached_folder().iterdir()
    assert kept == [(folder / "meta.json").stat().st_ctime_ns]


@pytest.fixture
def no_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Set a folder of the user's data that can neither be read nor made."""
    # A name that is too long raises OSError for every user, even for root.
    folder = tmp_path / ("x" * 300)
    monkeypatch.setenv("DPTEXT_HOME", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


def test_built_in_data_need_no_folder(no_data: Path) -> None:
    """A service with the home folder of another user finds all that ships."""
    with pytest.raises(OSError, match="too long"):
        no_data.is_dir()
    assert lexicons.find("builtin").digest == lexicons.builtin_digest()
    assert [each.name for each in lexicons.installed()] == ["builtin"]
    assert [name for name, _ in ngrams.installed()] == ["english"]
    assert topics.installed() == []
    assert lexicons.by_digest("0" * 64) is None
    ran = here("sanitize", "-", "--field", "text", given=b'{"text": "the film"}\n')
    assert ran.code == 0, ran.err
    assert "cannot" not in ran.err
    for options in ((), ("--cache",)):
        ran = here("doctor", *options)
        assert "too long" not in ran.out.decode() + ran.err
        assert ran.out
    with pytest.raises(LexiconError, match="no lexicon and no file named 'mine'"):
        lexicons.find("mine")


@pytest.mark.parametrize("variable", ["DPTEXT_HOME", "XDG_DATA_HOME"])
def test_a_folder_that_cannot_be_written_has_a_way_on(
    variable: str, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line, with the variable that names another folder."""
    (tmp_path / "taken").write_text("")
    monkeypatch.delenv("DPTEXT_HOME")
    monkeypatch.setenv(variable, str(tmp_path / "taken"))
    texts = tmp_path / "texts.jsonl"
    rows = [json.dumps({"text": f"{word} film"}) for word in ("good", "bad") * 20]
    texts.write_text("\n".join(rows))
    for arguments in (
        ("lexicon", "import", str(source), "--name", "mine"),
        ("lexicon", "ngrams", str(texts), "--name", "mine"),
        ("topics", "build", str(texts), "--name", "mine", "--sizes", "2"),
    ):
        ran = here(*arguments)
        assert ran.code == 1, ran.err
        assert ran.err.count("\n") == 1
        way_on = f"set {variable} to a folder that you can write to"
        assert f"cannot be written (Not a directory); {way_on}" in ran.err
