"""`.npz` archives: arrays that fit each other, or an error."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import numpy as np
import pytest

from dptext.errors import LexiconError
from dptext.lexicons.sources import RawVectors, read_npz
from tests.lexicons import files

_TABLE = np.array(files.rows(5), np.float32)


def _read(content: bytes, limit: int | None = None) -> RawVectors:
    return read_npz(io.BytesIO(content), "v.npz", limit=limit)


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
        ({"vectors": _TABLE}, "not a complete .npz"),
        ({"words": np.array(["a"])}, "not a complete .npz"),
        ({"words": np.array(["a"]), "vectors": _TABLE}, "1 words but 5 vectors"),
        (
            {"words": np.arange(5), "vectors": _TABLE},
            "words must be a one-dimensional array of text",
        ),
        (
            {"words": np.array(["a", "b", "", "d", "e"]), "vectors": _TABLE},
            "entry 3: the word is empty",
        ),
        (
            {"words": np.array([b"\xff", *b"abcd"]).astype("S3"), "vectors": _TABLE},
            "not a complete .npz",
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
            "counts must be 5 positive numbers",
        ),
        (
            {
                "words": np.array(files.WORDS),
                "vectors": _TABLE,
                "counts": [1] * 4 + [0],
            },
            "counts must be 5 positive numbers with",
        ),
        (
            {
                "words": np.array(files.WORDS),
                "vectors": _TABLE,
                "counts": [1e308] * 5,
            },
            "with a finite sum",
        ),
        ({"words": np.array([{}]), "vectors": _TABLE}, "not a complete .npz"),
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
    with pytest.raises(LexiconError, match=r"^v\.npz: not a complete"):
        _read(complete[:length])


@pytest.mark.parametrize("header", [b"{'descr': (", b"\xff", b"1" * 5000])
def test_a_damaged_header_is_named(header: bytes) -> None:
    """Any exception of NumPy at the header of an array is one error."""
    sink, array = io.BytesIO(), header + b"\n"
    with zipfile.ZipFile(sink, "w") as archive:
        size = len(array).to_bytes(2, "little")
        archive.writestr("words.npy", b"\x93NUMPY\x01\x00" + size + array)
    with pytest.raises(LexiconError, match=r"^v\.npz: not a complete"):
        _read(sink.getvalue())


def test_a_single_array_is_refused() -> None:
    """A plain .npy has no words, and the error says so."""
    sink = io.BytesIO()
    np.save(sink, _TABLE)
    with pytest.raises(LexiconError, match=r"not a complete \.npz"):
        _read(sink.getvalue())
