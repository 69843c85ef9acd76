"""Read a file of vectors in any format, told by its name and its first bytes."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from pathlib import Path

from dptext import streams
from dptext.errors import LexiconError, UsageError
from dptext.lexicons import npy, npz, word2vec
from dptext.lexicons.lines import read_lines
from dptext.lexicons.opening import ZIP, opened
from dptext.lexicons.opening import quiet as quiet
from dptext.lexicons.raw import RawVectors
from dptext.progress import Shares

_READERS: dict[str, Callable[..., RawVectors]] = {
    "glove": read_lines,
    "word2vec": word2vec.read,
    "fasttext": word2vec.read_fasttext,
    "npz": npz.read,
}
FORMATS = tuple(_READERS)
FOLDER = "npy"


def read(
    path: Path, format: str | None, limit: int | None, progress: Shares = quiet
) -> tuple[RawVectors, str]:
    """Read the first `limit` words of a file or folder; return also its format."""
    location = str(path)
    streams.check_ends(path, "vectors")
    if path.is_dir():
        return npy.read(path, location, limit=limit), FOLDER
    if format is not None and format not in FORMATS:
        msg = f"no lexicon format named {format!r}; known: {', '.join(FORMATS)}"
        raise UsageError(msg)
    with opened(path, progress) as stream:
        format = format or detect(path, stream)
        return _READERS[format](stream, location, limit=limit), format


def sha256(path: Path) -> str:
    """Compute the sha256 of a file as it lies on disk, or of a folder's two files."""
    streams.check_ends(path, "vectors")
    if path.is_dir():
        parts = [f"{part.name} {sha256(part)}" for part in npy.files(path)]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()
    try:
        with open(path, "rb", buffering=0) as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        msg = f"{path}: {error.strerror}"
        raise LexiconError(msg) from None


def detect(path: Path, stream: io.BufferedReader) -> str:
    """Tell the format by suffix and first bytes, which stay unread."""
    head = stream.peek(2**16)[: 2**16]
    suffix = Path(streams.plain_name(path.name.lower())).suffix
    if head.startswith(ZIP) or suffix == ".npz":
        return "npz"
    if not head:
        msg = f"{path}: the file is empty"
        raise LexiconError(msg)
    first = head.partition(b"\n")[0][:64] + b"\n"
    if word2vec.header_of(first) is None:
        return "glove"
    return "fasttext" if suffix == ".vec" else "word2vec"
