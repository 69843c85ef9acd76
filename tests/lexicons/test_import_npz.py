"""`.npz` archives and folders of `.npy`: arrays that fit each other, or an error."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dptext.errors import LexiconError
from dptext.lexicons import npy, npz
from dptext.lexicons.raw import RawVectors
from tests.lexicons import files

_TABLE = np.array(files.rows(5), np.float32)


def _read(content: bytes, limit: int | None = None) -> RawVectors:
    return npz.read(io.BytesIO(content), "v.npz", limit=limit)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_reads_an_archive(kind: Any) -> None:
    """float16 stays float16, other floats become float32; counts are optional."""
    table = _TABLE.astype(kind)
    raw = _read(files.npz(words=np.array(files.WORDS), vectors=table))
    assert tuple(raw.words) == files.WORDS
    assert raw.vectors.dtype == (np.float16 if kind is np.float16 else np.float32)
    np.testing.assert_array_equal(raw.vectors, table)
    assert raw.counts is None


def test_reads_counts_and_bytes() -> None:
    """Counts become float64, words may be UTF-8 bytes, a limit cuts all three."""
    words = np.array([word.encode() for word in (*files.WORDS[:-1], "é")])
    content = files.npz(words=words, vectors=_TABLE, counts=np.arange(1, 6))
    raw = _read(content, limit=4)
    assert raw.words == ["the", "Cat", "sat", "on"]
    assert raw.counts is not None
    assert raw.counts.tolist() == [1, 2, 3, 4]
    assert _read(content).words[-1] == "é"


@pytest.mark.parametrize(
    ("arrays", "reason"),
    [
        ({"vectors": _TABLE}, "no array named 'words'"),
        ({"words": np.array(["a"])}, "no array named 'vectors'"),
        ({"words": np.array(["a"]), "vectors": _TABLE}, "1 words but 5 vectors"),
        ({"words": np.arange(5), "vectors": _TABLE}, "words must be one row of text"),
        (
            {"words": np.array(list("abcda")), "vectors": _TABLE},
            "entry 5: the same word as entry 1",
        ),
        (
            {"words": np.array(["a", "b", "", "d", "e"]), "vectors": _TABLE},
            "entry 3: the word is empty",
        ),
        (
            {"words": np.array([b"\xff", *b"abcd"]).astype("S3"), "vectors": _TABLE},
            "words are not UTF-8",
        ),
        (
            {"words": np.array(files.WORDS), "vectors": np.arange(5)},
            "vectors must be a matrix of floats",
        ),
        (
            {"words": np.array(files.WORDS), "vectors": np.full((5, 2), 1e300)},
            "entry 1: a number is NaN or infinite",
        ),
        (
            {"words": np.array(files.WORDS), "vectors": _TABLE, "counts": [1, 2]},
            "counts must be 5 numbers",
        ),
        (
            {
                "words": np.array(files.WORDS),
                "vectors": _TABLE,
                "counts": [1] * 4 + [0],
            },
            "entry 5: the count is not a number above 0",
        ),
        ({"words": np.array([{}]), "vectors": _TABLE}, "not a whole .npz"),
    ],
)
def test_faults_are_named(arrays: dict[str, Any], reason: str) -> None:
    """Arrays that are missing, misfit or hold objects are an error with the entry."""
    with pytest.raises(LexiconError, match=rf"^v\.npz.*{reason}"):
        _read(files.npz(**arrays))


@pytest.mark.parametrize("length", [0, 4, 100, 400])
def test_a_truncated_archive_is_named(length: int) -> None:
    """A file cut short anywhere is one error."""
    complete = files.npz(words=np.array(files.WORDS), vectors=_TABLE)
    with pytest.raises(LexiconError, match=r"^v\.npz: not a whole"):
        _read(complete[:length])


def test_a_single_array_is_refused() -> None:
    """A plain .npy has no words, and the error says so."""
    sink = io.BytesIO()
    np.save(sink, _TABLE)
    with pytest.raises(LexiconError, match=r"one array and no \.npz"):
        _read(sink.getvalue())


@pytest.mark.parametrize("name", ["vectors.npy", "vectors.f16.npy"])
def test_reads_a_folder(tmp_path: Path, name: str) -> None:
    """vocab.txt names the rows of vectors.npy or vectors.f16.npy."""
    (tmp_path / "vocab.txt").write_text("\n".join(files.WORDS) + "\n")
    np.save(tmp_path / name, _TABLE.astype(np.float16))
    raw = npy.read(tmp_path, "v")
    assert tuple(raw.words) == files.WORDS
    assert raw.vectors.dtype == np.float16
    np.testing.assert_array_equal(raw.vectors, _TABLE)
    assert npy.read(tmp_path, "v", limit=2).words == ["the", "Cat"]


@pytest.mark.parametrize(
    ("vocabulary", "vectors", "reason"),
    [
        (b"a\nb\n", None, "no matrix "),
        (b"a\nb\n", _TABLE, "2 words but 5 vectors"),
        (b"a\n\xff\n", _TABLE, "vocab.txt, line 2: the word is not UTF-8"),
        (b"a\n", _TABLE[0, 0], "vectors must be a matrix"),
    ],
)
def test_faults_of_a_folder_are_named(
    tmp_path: Path, vocabulary: bytes, vectors: Any, reason: str
) -> None:
    """A folder whose files are missing or misfit is an error with its file."""
    (tmp_path / "vocab.txt").write_bytes(vocabulary)
    if vectors is not None:
        np.save(tmp_path / "vectors.npy", vectors)
    with pytest.raises(LexiconError, match=f"^v.*{reason}"):
        npy.read(tmp_path, "v")


def test_a_damaged_folder_is_named(tmp_path: Path) -> None:
    """Vectors cut short are an error with their file."""
    (tmp_path / "vocab.txt").write_text("a\n")
    np.save(tmp_path / "vectors.npy", _TABLE)
    content = (tmp_path / "vectors.npy").read_bytes()
    (tmp_path / "vectors.npy").write_bytes(content[:-8])
    with pytest.raises(LexiconError, match=r"v/vectors\.npy: not a whole array"):
        npy.read(tmp_path, "v")


def test_a_parquet_list_beside_one_matrix(tmp_path: Path) -> None:
    """Any names will do for the only pair, in the folder or below; else it is said."""
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    below = tmp_path / "package" / "data"
    below.mkdir(parents=True)
    np.save(below / "some_emb.npy", _TABLE)
    with pytest.raises(LexiconError, match=r"^v: no list of words .*parquet"):
        npy.read(tmp_path, "v")
    table = pa.table({"index": files.WORDS, "title": files.WORDS, "row": range(5)})
    parquet.write_table(table, below / "some_index.parquet")
    raw = npy.read(tmp_path, "v", limit=3)
    assert tuple(raw.words) == files.WORDS[:3]
    np.testing.assert_array_equal(raw.vectors, _TABLE[:3])
    np.save(below / "other.npy", _TABLE)
    with pytest.raises(LexiconError, match=r"several files may be its matrix .*other"):
        npy.read(tmp_path, "v")
    (below / "other.npy").unlink()
    parquet.write_table(table.select(["row"]), below / "some_index.parquet")
    with pytest.raises(LexiconError, match="one column of words expected, found 0"):
        npy.read(tmp_path, "v")
    (below / "some_index.parquet").write_bytes(b"PAR1")
    with pytest.raises(LexiconError, match="not a whole Parquet file"):
        npy.read(tmp_path, "v")
