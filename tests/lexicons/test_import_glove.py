"""GloVe text: words with any blanks, and every fault named by its line."""

from __future__ import annotations

import gzip
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dptext.errors import LexiconError
from dptext.lexicons.vector_lines import RawVectors, read_lines
from tests.lexicons import files


def _read(content: bytes, limit: int | None = None) -> RawVectors:
    return read_lines(io.BytesIO(content), "v.txt", limit=limit)


def test_reads_words_and_vectors() -> None:
    """Words come as they are written, vectors as float32, counts as unknown."""
    raw = _read(files.text())
    assert tuple(raw.words) == files.WORDS
    assert raw.vectors.dtype == np.float32
    np.testing.assert_array_equal(raw.vectors, files.rows(5))
    assert raw.counts is None


_FLOATS = st.floats(-1e30, 1e30)


@given(st.lists(st.lists(_FLOATS, min_size=4, max_size=4), min_size=1, max_size=6))
def test_numbers_are_exact(table: list[list[float]]) -> None:
    """Each number is the float32 nearest to its decimal form, in every notation."""
    for notation in ("{!r}", "{:.5f}", "{:+.3e}", "{:g}"):
        fields = [[notation.format(value) for value in row] for row in table]
        lines = [f"w{i} {' '.join(row)}" for i, row in enumerate(fields)]
        raw = _read("\n".join(lines).encode())
        expected = np.array([[float(field) for field in row] for row in fields])
        np.testing.assert_array_equal(raw.vectors, expected.astype(np.float32))


@pytest.mark.parametrize(
    "word",
    [". . .", "at name@domain.com", "a\u00a0b", "x\u0085", "a\u2028b", "5 000", "nan"],
)
def test_words_may_hold_blanks(word: str) -> None:
    """Words with spaces, no-break spaces and odd line ends are read whole."""
    raw = _read(f"the 0.5 0.25 1\n{word} 1 2 -3\nend 1 1 1\n".encode())
    assert raw.words == ["the", word, "end"]
    assert raw.vectors[1].tolist() == [1, 2, -3]


@pytest.mark.parametrize(
    "content",
    [
        b"a 1 .5\r\nb 2 +3\r\n",
        b"a 1 0.5 \nb 2 3. \n",
        b"a\t1\t0.5\nb\t2\t3",
        b"\xef\xbb\xbfa 1 0.5\nb 2 3\n\n\n",
    ],
)
def test_layouts(content: bytes) -> None:
    """DOS line ends, blanks at the end, tabs, a byte-order mark, no last line feed."""
    raw = _read(content)
    assert raw.words == ["a", "b"]
    assert raw.vectors.tolist() == [[1, 0.5], [2, 3]]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "no words in it"),
        (b"\n\n", "no words in it"),
        (b"alone\n", "line 1: expected a word and its numbers"),
        (b"a 1 2\nb 1\n", "line 2: expected a word and 2 numbers, found 1"),
        (b"a 1 2\nb 1.5 2 3\n", "line 2: expected a word and 2 numbers, found more"),
        (b"a 1 2\nb 1 x\n", "line 2: field 3 is not one of the 2 numbers expected"),
        (b"a 1 2\nb 1,2\n", "line 2: expected a word and 2 numbers, found 1"),
        (b"a 1 2\nb 1_0 2\n", "line 2: field 2 is not one of"),
        (b"a 1 2\n 1 2\n", "line 2: no word before the numbers"),
        (b"a 1 2\n\nb 1 2\n", "line 2: the line is empty"),
        (b"a 1 2\nb 1 nan\n", "line 2: a number is NaN or infinite"),
        (b"a 1 2\nb -inf 1\n", "line 2: a number is NaN or infinite"),
        (b"a 1 2\nb 1e39 1\n", "line 2: a number is NaN or infinite"),
        (b"a 1 2\nb 1 2\nc 1 2\nb 3 4\n", "line 4: the same word as line 2"),
        (b"a 1 2\n\xff\xfe 1 2\n", "line 2: the word is not UTF-8"),
    ],
)
def test_faults_are_named_by_line(content: bytes, reason: str) -> None:
    """A malformed line is an error that gives the file and the line, never a word."""
    with pytest.raises(LexiconError, match=rf"^v\.txt.*{reason}"):
        _read(content)


@given(st.binary(max_size=60))
def test_any_bytes_give_vectors_or_one_error(content: bytes) -> None:
    """No file whatever ends in another exception."""
    try:
        raw = _read(content)
    except LexiconError:
        return
    assert len(raw.words) == len(raw.vectors) > 0


def test_limit_reads_no_further() -> None:
    """With a limit the rest of the file is not looked at."""
    raw = _read(b"a 1 2\nb 3 4\nbroken", limit=2)
    assert raw.words == ["a", "b"]


def test_real_file() -> None:
    """A published layout of 5 000 words is read whole and agrees with its source."""
    path = files.real("embeddings/glove-wiki-imdb-50d/top5k.txt.gz")
    with gzip.open(path) as stream:
        raw = read_lines(stream, "top5k")  # type: ignore[arg-type]
    vocabulary = (path.parent / "vocab.txt").read_text(encoding="utf-8").split("\n")
    assert raw.words == vocabulary[:5000]
    halves = np.load(path.parent / "vectors.f16.npy", mmap_mode="r")[:5000]
    np.testing.assert_allclose(raw.vectors, halves, rtol=1e-3, atol=1e-4)
