"""Sources: packed files, formats known by content, faults of the packing."""

from __future__ import annotations

import gzip
import io
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import zstandard

from dptext import progress
from dptext.errors import LexiconError, MissingExtra, UsageError
from dptext.lexicons import sources
from tests.lexicons import files

_NPZ = files.npz(words=np.array(files.WORDS), vectors=np.array(files.rows(5)))
_PACK: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".zst": zstandard.ZstdCompressor().compress,
}


@pytest.mark.parametrize("suffix", _PACK)
@pytest.mark.parametrize(
    ("name", "content", "format"),
    [
        ("v.txt", files.text(), "glove"),
        ("v.txt", files.text(header=True), "word2vec"),
        ("v.bin", files.binary(), "word2vec"),
        ("v.vec", files.text(header=True), "fasttext"),
        ("v.vec", files.text(), "glove"),
        ("v.npz", _NPZ, "npz"),
        ("odd name", _NPZ, "npz"),
    ],
)
def test_formats_are_told(
    tmp_path: Path, name: str, content: bytes, format: str, suffix: str
) -> None:
    """Each format is recognized and read alike, plain, in gzip and in zstd."""
    path = files.put(tmp_path / f"{name}{suffix}", _PACK[suffix](content))
    raw, detected = sources.read(path, None, None)
    assert detected == format
    assert tuple(raw.words) == files.WORDS
    np.testing.assert_array_equal(raw.vectors, files.rows(5))


def test_packing_is_told_by_content(tmp_path: Path) -> None:
    """A gzip file without the suffix is unpacked too."""
    path = files.put(tmp_path / "v.txt", gzip.compress(files.text()))
    assert tuple(sources.read(path, None, None)[0].words) == files.WORDS


def test_several_zstd_frames(tmp_path: Path) -> None:
    """Frames put one after the other are one file."""
    half = files.text().index(b"sat")
    pack = zstandard.ZstdCompressor().compress
    content = pack(files.text()[:half]) + pack(files.text()[half:])
    path = files.put(tmp_path / "v.zst", content)
    assert tuple(sources.read(path, None, None)[0].words) == files.WORDS


def test_a_format_that_is_asked_for(tmp_path: Path) -> None:
    """A format given goes before what the content looks like; unknown ones fail."""
    path = files.put(tmp_path / "v.txt", b"5 2\nthe 3\n")
    assert sources.read(path, "glove", None)[0].words == ["5", "the"]
    with pytest.raises(LexiconError, match="expected a word and 2 numbers"):
        sources.read(path, None, None)
    with pytest.raises(UsageError, match="no lexicon format named 'elmo'; known"):
        sources.read(path, "elmo", None)


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
@pytest.mark.parametrize("keep", [0.3, 0.9])
def test_truncated_packing(tmp_path: Path, suffix: str, keep: float) -> None:
    """A packed file that was cut short is an error, even between two lines."""
    words = [f"w{i}" for i in range(9000)]
    content = _PACK[suffix](files.text(words, 9))
    path = files.put(tmp_path / f"v{suffix}", content[: int(keep * len(content))])
    with pytest.raises(LexiconError, match="damaged or truncated"):
        sources.read(path, None, None)


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_damaged_packing(tmp_path: Path, suffix: str) -> None:
    """Bytes changed inside a packed file are an error of the file."""
    content = bytearray(_PACK[suffix](files.text([f"w{i}" for i in range(99)])))
    content[60:90] = bytes(30)
    path = files.put(tmp_path / f"v{suffix}", bytes(content))
    with pytest.raises(LexiconError, match=rf"v{suffix}"):
        sources.read(path, None, None)


@pytest.mark.parametrize("content", [b"", gzip.compress(b"", mtime=0)])
def test_empty_files(tmp_path: Path, content: bytes) -> None:
    """A file without content is said to be empty."""
    path = files.put(tmp_path / "v.txt", content)
    with pytest.raises(LexiconError, match=r"v\.txt: the file is empty"):
        sources.read(path, None, None)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    """A missing file, and a folder of something else, are errors with the path."""
    with pytest.raises(LexiconError, match="No such file"):
        sources.read(tmp_path / "none", None, None)
    with pytest.raises(LexiconError, match="No such file"):
        sources.sha256(tmp_path / "none")
    with pytest.raises(LexiconError, match="Is a directory"):
        sources.read(tmp_path, None, None)


def test_zstd_names_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without zstandard a .zst file ends in one line that names the extra."""
    path = files.put(tmp_path / "v.zst", _PACK[".zst"](files.text()))
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(MissingExtra, match=r'needs the "zstd" extra'):
        sources.read(path, None, None)


def test_progress_reaches_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Progress is a growing share of the file that ends at 1."""
    path = files.put(tmp_path / "v.txt", files.text([f"w{i}" for i in range(90000)]))
    reports: list[tuple[str, float]] = []
    monkeypatch.setattr(progress, "share", lambda *report: reports.append(report))
    sources.read(path, None, None)
    shares = [share for _, share in reports]
    assert shares == sorted(shares)
    assert len(set(shares)) > 2
    assert shares[-1] == 1.0


def test_a_zip_of_one_file(tmp_path: Path) -> None:
    """As vectors are often offered; of several files none is guessed."""
    path = tmp_path / "v.vec.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("v.vec", files.text(header=True))
    raw, format = sources.read(path, None, None)
    assert tuple(raw.words) == files.WORDS
    assert format == "word2vec"
    content = path.read_bytes()
    files.put(path, content[:-9])
    with pytest.raises(LexiconError, match="damaged or truncated"):
        sources.read(path, None, None)
    files.put(path, content)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("w.vec", files.text(header=True))
    with pytest.raises(LexiconError, match="2 files in it; extract it"):
        sources.read(path, None, None)


def test_a_name_without_characters_is_that_of_a_file(tmp_path: Path) -> None:
    """An archive with a single file without a name is read like any other."""
    path = tmp_path / "v.zip"
    with zipfile.ZipFile(path, "w") as archive:
        entry = zipfile.ZipInfo("v")
        entry.filename = ""
        with archive.open(entry, "w") as file:
            file.write(files.text())
    raw, _ = sources.read(path, None, None)
    assert tuple(raw.words) == files.WORDS


@pytest.mark.parametrize(
    ("at", "value"), [(6, b"\x54"), (8, b"\x01")], ids=["version", "password"]
)
def test_archives_that_cannot_be_unpacked_are_refused(
    at: int, value: bytes, tmp_path: Path
) -> None:
    """A later kind of zip, and one with a password, are named in one line."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("v.txt", files.text())
    data = bytearray(out.getvalue())
    entry = data.index(b"PK\x01\x02") + at  # in the list of files, at the end
    data[entry : entry + 1] = value
    path = files.put(tmp_path / "v.zip", bytes(data))
    with pytest.raises(LexiconError, match="password"):
        sources.read(path, None, None)
