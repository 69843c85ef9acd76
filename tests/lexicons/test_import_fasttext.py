"""fastText `.vec`: a header, words that may hold spaces, a blank after each line."""

from __future__ import annotations

import io

import pytest

from dptext.errors import LexiconError
from dptext.lexicons import vector_lines
from tests.lexicons import files


def test_reads_a_vec_file() -> None:
    """Lines end in a blank and words hold spaces, as in the published files."""
    content = b"3 2\n, 0.1 -0.5 \nNew York 1 2 \n\xc2\xa0 0.25 3 \n"
    raw = vector_lines.read_fasttext(io.BytesIO(content), "v.vec")
    assert raw.words == [",", "New York", "\u00a0"]
    assert raw.vectors[1:].tolist() == [[1, 2], [0.25, 3]]


def test_a_missing_header_is_named() -> None:
    """Text without a header is an error of line 1."""
    with pytest.raises(LexiconError, match=r"v\.vec, line 1: expected a header"):
        vector_lines.read_fasttext(io.BytesIO(files.text()), "v.vec")


def test_a_truncated_file_is_named() -> None:
    """A file with fewer lines than its header says is refused."""
    content = files.text(header=True)
    short = content[: content.rindex(b"don't")]
    with pytest.raises(LexiconError, match="the header says 5 words, 4 are whole"):
        vector_lines.read_fasttext(io.BytesIO(short), "v.vec")


def test_a_model_file_is_refused() -> None:
    """The binary model of fastText is told from vectors by its missing header."""
    with pytest.raises(LexiconError, match="expected a header"):
        vector_lines.read_fasttext(io.BytesIO(b"\xba\x16\x4f\x2f\x0c\x00"), "m.bin")
