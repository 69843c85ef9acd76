"""Vectors as text and in binary: read exactly, and every fault named by its place."""

from __future__ import annotations

import gzip
import io
import struct
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dptext.errors import LexiconError
from dptext.lexicons import sources
from dptext.lexicons.sources import RawVectors
from tests.lexicons import files


def glove(content: bytes, limit: int | None = None) -> RawVectors:
    """Read lines without a header."""
    return sources.read_lines(io.BytesIO(content), "v", limit=limit)


def word2vec(content: bytes, limit: int | None = None) -> RawVectors:
    """Read what a header begins, text or binary."""
    return sources.read_word2vec(io.BytesIO(content), "v", limit=limit)


def fasttext(content: bytes) -> RawVectors:
    """Read a .vec file."""
    return sources.read_fasttext(io.BytesIO(content), "v")


def test_reads_words_and_vectors() -> None:
    """Words come unchanged, vectors as float32, counts as unknown."""
    raw = glove(files.text())
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
        raw = glove("\n".join(lines).encode())
        expected = np.array([[float(field) for field in row] for row in fields])
        np.testing.assert_array_equal(raw.vectors, expected.astype(np.float32))


@pytest.mark.parametrize(
    "word",
    [". . .", "at name@domain.com", "a\u00a0b", "x\u0085", "a\u2028b", "5 000", "nan"],
)
def test_words_may_hold_blanks(word: str) -> None:
    """Words with spaces, no-break spaces and odd line ends are read whole."""
    raw = glove(f"the 0.5 0.25 1\n{word} 1 2 -3\nend 1 1 1\n".encode())
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
    raw = glove(content)
    assert raw.words == ["a", "b"]
    assert raw.vectors.tolist() == [[1, 0.5], [2, 3]]


def test_limit_reads_no_further() -> None:
    """With a limit the rest of the file is not looked at."""
    raw = glove(b"a 1 2\nb 3 4\nbroken", limit=2)
    assert raw.words == ["a", "b"]


def test_real_file() -> None:
    """A published layout of 5 000 words is read whole and agrees with its source."""
    path = files.real("embeddings/glove-wiki-imdb-50d/top5k.txt.gz")
    with gzip.open(path) as stream:
        raw = sources.read_lines(stream, "top5k")  # type: ignore[arg-type]
    vocabulary = (path.parent / "vocab.txt").read_text(encoding="utf-8").split("\n")
    assert raw.words == vocabulary[:5000]
    halves = np.load(path.parent / "vectors.f16.npy", mmap_mode="r")[:5000]
    np.testing.assert_allclose(raw.vectors, halves, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(
    "content",
    [files.text(header=True), files.binary(), files.binary(feed=b"")],
    ids=["text", "binary", "binary without line feeds"],
)
def test_reads_text_and_binary(content: bytes) -> None:
    """The same words and numbers come out of each of the three layouts."""
    raw = word2vec(content)
    assert tuple(raw.words) == files.WORDS
    np.testing.assert_array_equal(raw.vectors, files.rows(5))
    assert raw.vectors.dtype == np.float32
    assert word2vec(content, limit=2).words == list(files.WORDS[:2])


def test_binary_longer_than_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """Entries that lie across the blocks in which a file is read stay whole."""
    monkeypatch.setattr(sources, "_BLOCK", 5000)
    words = [f"word{i}" for i in range(2000)]
    raw = word2vec(files.binary(words, 7))
    assert raw.words == words
    np.testing.assert_array_equal(raw.vectors, files.rows(2000, 7))


def test_binary_numbers_that_look_like_a_line_feed() -> None:
    """A first number that begins with the byte of a line feed is still binary."""
    number = struct.unpack("<f", b"\n234")[0]
    content = b"1 6\nw " + struct.pack("<6f", number, *[0.5] * 5)
    assert word2vec(content).vectors[0].tolist() == [number, *[0.5] * 5]


def test_reads_a_vec_file() -> None:
    """Lines end in a blank and words hold spaces, as in the published files."""
    raw = fasttext(b"3 2\n, 0.1 -0.5 \nNew York 1 2 \n\xc2\xa0 0.25 3 \n")
    assert raw.words == [",", "New York", "\u00a0"]
    assert raw.vectors[1:].tolist() == [[1, 2], [0.25, 3]]


_SHORT = files.text(header=True).partition(b"don't")[0]


@pytest.mark.parametrize(
    ("read", "content", "reason"),
    [
        (glove, b"", "contains no words"),
        (glove, b"\n\n", "contains no words"),
        (glove, b"alone\n", "line 1: expected a word and its numbers"),
        *(
            (glove, b"a 1 2\n" + line, "line 2: expected a word and 2 numbers")
            for line in (b"b 1", b"b 1.5 2 3", b"b 1 x", b"b 1,2", b"b 1_0 2", b" 1 2")
        ),
        (glove, b"a 1 2\nb 1 nan\n", "line 2: a number is NaN or infinite"),
        (glove, b"a 1 2\nb -inf 1\n", "line 2: a number is NaN or infinite"),
        (glove, b"a 1 2\nb 1e39 1\n", "line 2: a number is NaN or infinite"),
        (glove, b"a 1 2\n\xff\xfe 1 2\n", "line 2: the word is not UTF-8"),
        (word2vec, b"", "line 1: expected a header"),
        (word2vec, b"the 0.5 0.5\n", "line 1: expected a header"),
        (word2vec, b"3 0\n", "line 1: expected a header"),
        (word2vec, b"3 99999999\n", "line 1: expected a header"),
        (word2vec, b"0 3\n", "contains no words"),
        (word2vec, b"2 2\na 1 2\n", "does not hold the 2 words"),
        (word2vec, b"1 2\na 1 2\nb 1 2\n", "does not hold the 1 words"),
        (word2vec, b"2 3\na 1 2\nb 1 2\n", "line 2: expected a word and 3 numbers"),
        (word2vec, files.binary()[:-6], "does not hold the 5 words"),
        (word2vec, files.binary(["a", ""]), "word 2: the word is empty"),
        (word2vec, b"1 1\n\xff \x00\x00\x00\x00", "word 1: the word is not UTF-8"),
        (word2vec, b"1 1\na \x00\x00\xc0\x7f", "word 1: a number is NaN"),
        (word2vec, b"9 1\n" + b"\x00" * 9000, "does not hold the 9 words"),
        (fasttext, files.text(), "line 1: expected a header"),
        (fasttext, b"\xba\x16\x4f\x2f\x0c\x00", "line 1: expected a header"),
        (fasttext, _SHORT, "does not hold the 5 words"),
    ],
)
def test_faults_are_named(
    read: Callable[[bytes], RawVectors], content: bytes, reason: str
) -> None:
    """An error gives the file and the line, or the entry in binary, never a word.

    The binary model of fastText is told from vectors by its missing header.
    """
    with pytest.raises(LexiconError, match=rf"^v\b.*{reason}"):
        read(content)


@pytest.mark.parametrize(("read", "head"), [(glove, b""), (word2vec, b"2 2\n")])
@given(tail=st.binary(max_size=60))
def test_any_bytes_give_vectors_or_one_error(
    read: Callable[[bytes], RawVectors], head: bytes, tail: bytes
) -> None:
    """No bytes end in another exception."""
    try:
        raw = read(head + tail)
    except LexiconError:
        return
    assert len(raw.words) == len(raw.vectors) > 0
