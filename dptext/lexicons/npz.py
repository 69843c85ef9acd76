"""`.npz` of numpy: `words` (n,), `vectors` (n, d), and if known `counts` (n,)."""

from __future__ import annotations

import io
import zipfile
import zlib
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from dptext.errors import LexiconError
from dptext.lexicons.vector_lines import RawVectors, checked

Array = NDArray[np.generic]  # of any type, until it is checked

_ARRAYS = ("words", "vectors", "counts")


def read(stream: BinaryIO, location: str, *, limit: int | None = None) -> RawVectors:
    """Read an archive, or its first `limit` words."""
    # numpy seeks in the archive, which a stream that is being unpacked cannot.
    source = stream if stream.seekable() else io.BytesIO(stream.read())
    try:
        archive = np.load(source, allow_pickle=False)
        if isinstance(archive, np.ndarray):
            msg = f"{location}: one array and no .npz; it has to name its words as well"
            raise LexiconError(msg)
        with archive:
            present = [name for name in _ARRAYS if name in archive.files]
            arrays = {name: archive[name] for name in present}
    except LexiconError:
        raise
    except (ValueError, OSError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        msg = f"{location}: not a whole .npz of plain arrays ({type(error).__name__})"
        raise LexiconError(msg) from None
    for name in ("words", "vectors"):
        if name not in arrays:
            msg = f"{location}: no array named {name!r} in it"
            raise LexiconError(msg)
    words = words_of(arrays["words"], location)
    return assemble(
        words, arrays["vectors"], arrays.get("counts"), location, limit=limit
    )


def words_of(words: Array, location: str) -> list[str]:
    """Turn an array of text or UTF-8 bytes into a list."""
    if words.ndim != 1 or words.dtype.kind not in "US":
        msg = f"{location}: words must be one row of text, found {words.dtype.name}"
        raise LexiconError(msg)
    try:
        return [
            word.decode() if isinstance(word, bytes) else word
            for word in words.tolist()
        ]
    except UnicodeDecodeError:
        msg = f"{location}: words are not UTF-8"
        raise LexiconError(msg) from None


def assemble(
    words: list[str],
    vectors: Array,
    counts: Array | None,
    location: str,
    *,
    limit: int | None = None,
) -> RawVectors:
    """Check that the arrays of a source fit each other; float16 stays float16."""
    if vectors.ndim != 2 or vectors.dtype.kind != "f" or not vectors.shape[1]:
        msg = (
            f"{location}: vectors must be a matrix of floats, found "
            f"{vectors.dtype.name}"
        )
        raise LexiconError(msg)
    if len(words) != len(vectors):
        msg = f"{location}: {len(words)} words but {len(vectors)} vectors"
        raise LexiconError(msg)
    if not all(words):
        msg = f"{location}, entry {words.index('') + 1}: the word is empty"
        raise LexiconError(msg)
    counts = _counts(counts, len(words), location)
    kept: type[np.floating] = np.float16 if vectors.dtype == np.float16 else np.float32
    with np.errstate(over="ignore"):  # what overflows is refused as infinite below
        plain = np.ascontiguousarray(vectors[:limit], dtype=kept)
    cut = None if counts is None else counts[:limit]
    return checked(RawVectors(words[:limit], plain, cut), location, unit="entry")


def _counts(
    counts: Array | None, size: int, location: str
) -> NDArray[np.float64] | None:
    if counts is None:
        return None
    if counts.shape != (size,) or counts.dtype.kind not in "iuf":
        msg = f"{location}: counts must be {size} numbers, one for each word"
        raise LexiconError(msg)
    plain = counts.astype(np.float64)
    wrong = ~(np.isfinite(plain) & (plain > 0))
    if wrong.any():
        entry = int(np.argmax(wrong)) + 1
        msg = f"{location}, entry {entry}: the count is not a number above 0"
        raise LexiconError(msg)
    return plain
