"""Folders of a list of words and a `.npy` matrix: read, packed, or one error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dptext.errors import LexiconError
from dptext.lexicons import sources
from tests.lexicons import files
from tools import vector_folder

_TABLE = np.array(files.rows(5), np.float32)


@pytest.mark.parametrize("name", ["vectors.npy", "vectors.f16.npy"])
def test_reads_a_folder(tmp_path: Path, name: str) -> None:
    """vocab.txt names the rows of vectors.npy or vectors.f16.npy."""
    (tmp_path / "vocab.txt").write_text("\n".join(files.WORDS) + "\n")
    np.save(tmp_path / name, _TABLE.astype(np.float16))
    raw = vector_folder.read(tmp_path, "v")
    assert tuple(raw.words) == files.WORDS
    assert raw.vectors.dtype == np.float16
    np.testing.assert_array_equal(raw.vectors, _TABLE)
    assert vector_folder.read(tmp_path, "v", limit=2).words == ["the", "Cat"]


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
    """A folder with missing or unfit files is an error that names the file."""
    (tmp_path / "vocab.txt").write_bytes(vocabulary)
    if vectors is not None:
        np.save(tmp_path / "vectors.npy", vectors)
    with pytest.raises(LexiconError, match=f"^v.*{reason}"):
        vector_folder.read(tmp_path, "v")


def test_a_damaged_folder_is_named(tmp_path: Path) -> None:
    """Vectors cut short are an error with their file."""
    (tmp_path / "vocab.txt").write_text("a\n")
    np.save(tmp_path / "vectors.npy", _TABLE)
    content = (tmp_path / "vectors.npy").read_bytes()
    (tmp_path / "vectors.npy").write_bytes(content[:-8])
    with pytest.raises(LexiconError, match=r"v/vectors\.npy: not a whole array"):
        vector_folder.read(tmp_path, "v")


def test_a_parquet_list_beside_one_matrix(tmp_path: Path) -> None:
    """Any names will do for the only pair, in the folder or below; else it is said."""
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    below = tmp_path / "package" / "data"
    below.mkdir(parents=True)
    np.save(below / "some_emb.npy", _TABLE)
    with pytest.raises(LexiconError, match=r"^v: no list of words .*parquet"):
        vector_folder.read(tmp_path, "v")
    table = pa.table({"index": files.WORDS, "title": files.WORDS, "row": range(5)})
    parquet.write_table(table, below / "some_index.parquet")
    raw = vector_folder.read(tmp_path, "v", limit=3)
    assert tuple(raw.words) == files.WORDS[:3]
    np.testing.assert_array_equal(raw.vectors, _TABLE[:3])
    np.save(below / "other.npy", _TABLE)
    with pytest.raises(LexiconError, match=r"several files may be its matrix .*other"):
        vector_folder.read(tmp_path, "v")
    (below / "other.npy").unlink()
    parquet.write_table(table.select(["row"]), below / "some_index.parquet")
    with pytest.raises(LexiconError, match="one column of words expected, found 0"):
        vector_folder.read(tmp_path, "v")
    (below / "some_index.parquet").write_bytes(b"PAR1")
    with pytest.raises(LexiconError, match="not a whole Parquet file"):
        vector_folder.read(tmp_path, "v")


def test_a_packed_folder_is_the_same_vectors(tmp_path: Path) -> None:
    """`dptext lexicon import` reads the packed file and refuses the folder."""
    (tmp_path / "vocab.txt").write_text("\n".join(files.WORDS) + "\n")
    np.save(tmp_path / "vectors.npy", _TABLE)
    with pytest.raises(LexiconError, match=r"Is a directory"):
        sources.read(tmp_path, None, None)
    packed = vector_folder.pack(tmp_path, tmp_path / "v.npz")
    raw = vector_folder.read_either(packed)
    assert tuple(raw.words) == files.WORDS
    np.testing.assert_array_equal(raw.vectors, _TABLE)
    assert vector_folder.sha256(packed) == sources.sha256(packed)
    assert vector_folder.sha256(tmp_path) != vector_folder.sha256(packed)
