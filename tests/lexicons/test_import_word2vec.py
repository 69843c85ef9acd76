"""word2vec: text and binary are told apart, and truncation is noticed."""

from __future__ import annotations

import io
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dptext.errors import LexiconError
from dptext.lexicons import vector_lines
from dptext.lexicons.vector_lines import RawVectors
from tests.lexicons import files


def _read(content: bytes, limit: int | None = None) -> RawVectors:
    return vector_lines.read(io.BytesIO(content), "v.bin", limit=limit)


@pytest.mark.parametrize(
    "content",
    [files.text(header=True), files.binary(), files.binary(feed=b"")],
    ids=["text", "binary", "binary without line feeds"],
)
def test_reads_text_and_binary(content: bytes) -> None:
    """The same words and numbers come out of each of the three layouts."""
    raw = _read(content)
    assert tuple(raw.words) == files.WORDS
    np.testing.assert_array_equal(raw.vectors, files.rows(5))
    assert raw.vectors.dtype == np.float32
    assert _read(content, limit=2).words == list(files.WORDS[:2])


def test_binary_longer_than_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """Entries that lie across the blocks in which a file is read stay whole."""
    monkeypatch.setattr(vector_lines, "_BLOCK", 5000)
    words = [f"word{i}" for i in range(2000)]
    raw = _read(files.binary(words, 7))
    assert raw.words == words
    np.testing.assert_array_equal(raw.vectors, files.rows(2000, 7))


def test_binary_numbers_that_look_like_a_line_feed() -> None:
    """A first number that begins with the byte of a line feed is still binary."""
    number = struct.unpack("<f", b"\n234")[0]
    content = b"1 6\nw " + struct.pack("<6f", number, *[0.5] * 5)
    assert _read(content).vectors[0].tolist() == [number, *[0.5] * 5]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "line 1: expected a header"),
        (b"the 0.5 0.5\n", "line 1: expected a header"),
        (b"3 0\n", "line 1: expected a header"),
        (b"3 99999999\n", "line 1: expected a header"),
        (b"0 3\n", "no words in it"),
        (b"2 2\na 1 2\n", "truncated: the header says 2 words, 1 are whole"),
        (b"1 2\na 1 2\nb 1 2\n", "line 3: more than the 1 words of the header"),
        (b"2 3\na 1 2\nb 1 2\n", "line 2: expected a word and 3 numbers, found 2"),
        (b"2 2\na 1 2\na 1 2\n", "line 3: the same word as line 2"),
        (files.binary()[:-6], "truncated: the header says 5 words, 4 are whole"),
        (files.binary(["a", "b", "a"]), "word 3: the same word as word 1"),
        (files.binary(["a", ""]), "word 2: the word is empty"),
        (b"1 1\n\xff \x00\x00\x00\x00", "word 1: not UTF-8"),
        (b"1 1\na \x00\x00\xc0\x7f", "word 1: a number is NaN"),
        (b"9 1\n" + b"\x00" * 9000, "word 1: no end; not word2vec binary"),
    ],
)
def test_faults_are_named(content: bytes, reason: str) -> None:
    """A malformed file is an error that gives the line, or the entry in binary."""
    with pytest.raises(LexiconError, match=rf"^v\.bin.*{reason}"):
        _read(content)


@given(st.binary(max_size=60))
def test_any_bytes_give_vectors_or_one_error(tail: bytes) -> None:
    """No bytes after a header end in another exception."""
    try:
        raw = _read(b"2 2\n" + tail)
    except LexiconError:
        return
    assert raw.vectors.shape == (2, 2)
