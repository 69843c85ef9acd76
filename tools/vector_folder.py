"""A folder with a list of words and their vectors as one `.npy` matrix.

The list is `vocab.txt`, a word a line, the matrix `vectors.npy` or `vectors.f16.npy`;
or else they are the only such files in the folder, the list as text or as a column of a
Parquet file. Words stand by descending frequency. dptext itself reads one file: `pack`
makes an `.npz` of such a folder.

    python -m tools.vector_folder FOLDER OUT.npz
"""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from dptext import lexicons
from dptext.errors import LexiconError, MissingExtra
from dptext.lexicons import sources
from dptext.lexicons.importing import Settings
from dptext.lexicons.sources import RawVectors, assemble
from dptext.types import Lexicon

VOCABULARY = ("vocab.txt", "*.parquet", "*.txt")
VECTORS = ("vectors.f16.npy", "vectors.npy", "*.npy")
# The column of words where a Parquet file has several of text.
_COLUMNS = ("word", "words", "token", "index")


def files(folder: Path, location: str = "") -> tuple[Path, Path]:
    """Return the files of words and of vectors of a folder, or of one below it.

    Raises LexiconError that names a missing file or the files that are too many.
    """
    location = location or str(folder)
    vectors = _only(folder, VECTORS, "matrix (vectors.npy, or one .npy file)", location)
    content = "list of words (vocab.txt, or one .parquet or .txt file)"
    return _only(vectors.parent, VOCABULARY, content, location), vectors


def read(folder: Path, location: str, *, limit: int | None = None) -> RawVectors:
    """Read a folder, or its first `limit` words; the order is by frequency."""
    names, matrix = files(folder, location)
    read_words = _read_parquet if names.suffix == ".parquet" else _read_text
    words = read_words(names, f"{location}/{names.name}")
    try:
        vectors = np.load(matrix, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        msg = f"{location}/{matrix.name}: not a whole array ({type(error).__name__})"
        raise LexiconError(msg) from None
    return assemble(words, np.asarray(vectors), None, location, limit=limit)


def read_either(path: Path) -> RawVectors:
    """Read a folder, or one file of vectors as `dptext lexicon import` does."""
    if path.is_dir():
        return read(path, str(path))
    return sources.read(path, None, None)[0]


def sha256(path: Path) -> str:
    """Compute the sha256 of a file as it lies on disk, or of a folder's two files."""
    if not path.is_dir():
        return sources.sha256(path)
    parts = [f"{part.name} {sources.sha256(part)}" for part in files(path)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def pack(folder: Path, target: Path) -> Path:
    """Write the words and vectors of a folder as an `.npz`; return its path."""
    raw = read(folder, str(folder))
    np.savez(target, words=np.array(raw.words), vectors=raw.vectors)
    return target


def lexicon(folder: Path, settings: Settings) -> Lexicon:
    """Open a folder as dptext opens a file of vectors, kept in the cache."""
    with TemporaryDirectory() as name:
        packed = pack(folder, Path(name) / f"{folder.name}.npz")
        return lexicons.find(str(packed), settings=settings)


def _only(folder: Path, patterns: tuple[str, ...], content: str, location: str) -> Path:
    """Return the one file of the first pattern that has any, in or below a folder."""
    for search in (folder.glob, folder.rglob):
        for pattern in patterns:
            paths = sorted(path for path in search(pattern) if path.is_file())
            if len(paths) > 1:
                names = ", ".join(str(path.relative_to(folder)) for path in paths[:5])
                msg = f"{location}: several files may be its {content}: {names}"
                raise LexiconError(msg)
            if paths:
                return paths[0]
    raise LexiconError(f"{location}: no {content} in it")


def _read_text(path: Path, location: str) -> list[str]:
    lines = path.read_bytes().removesuffix(b"\n").split(b"\n")
    words = []
    for number, line in enumerate(lines, 1):
        try:
            words.append(line.removesuffix(b"\r").decode())
        except UnicodeDecodeError:
            msg = f"{location}, line {number}: the word is not UTF-8"
            raise LexiconError(msg) from None
    return words


def _read_parquet(path: Path, location: str) -> list[str]:
    """Read the column of text, or the one of several that is called word or index."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtra.for_package(f"{location}: Parquet", "parquet") from error
    try:
        schema = parquet.read_schema(path)
        kinds = (pa.string(), pa.large_string())
        texts = [field.name for field in schema if field.type in kinds]
        named = [name for name in texts if name.lower() in _COLUMNS] or texts
        if len(named) != 1:
            msg = f"{location}: one column of words expected, found {len(named)}"
            raise LexiconError(msg)
        words = parquet.read_table(path, columns=named).column(0).to_pylist()
    except (pa.ArrowInvalid, OSError) as error:
        msg = f"{location}: not a whole Parquet file ({type(error).__name__})"
        raise LexiconError(msg) from None
    return [word or "" for word in words]


def main() -> None:
    """Pack a folder."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    arguments = parser.parse_args()
    pack(arguments.folder, arguments.out)


if __name__ == "__main__":
    main()
