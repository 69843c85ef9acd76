"""A lexicon on disk: one folder of memory-mapped arrays with a digest.

    meta.json                {"format": 2, "name", "digest", "meta": {...}}
    words.txt                one word a line, UTF-8, by descending count
    vectors.npy orders.npy far.npy counts.npy
          synonym_ends.npy synonyms.npy information_content.npy parts.npy    optional

The digest is the sha256 over the name and the sha256 of every file but meta.json,
sorted by name, and the canonical JSON of meta. The name of the lexicon and the name of
its source file (meta["file"]) are not in it: the same content has the same digest under
any name. Lexicons are in the package, in the user's store and in the cache.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from tokenize import TokenError
from types import SimpleNamespace
from typing import Any, BinaryIO, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from dptext import cache, streams
from dptext.errors import LexiconError, OutputError, UsageError
from dptext.settings import digest_of_path
from dptext.types import NUMBER, JsonObject, Lexicon

Array = NDArray[Any]  # of the type that its kind says
# Names of types, and the sides: a name of `lengths` or any length.
Kind = tuple[tuple[str, ...], tuple[str, ...]]
Meta = Mapping[str, object]

FORMAT = 2  # 2: the elements for numbers
META = "meta.json"
WORDS = "words.txt"
_UNHASHED = ("file",)
_BLOCK = 8192  # orders that are looked at together

_ARRAYS: dict[str, Kind] = {
    "vectors": (("float16", "float32"), ("V+1", "d")),
    "counts": (("float64",), ("V",)),
    "orders": (("uint16", "uint32"), ("V+1", "k")),
    "far": (("float32",), ("V+1",)),
    "synonym_ends": (("int32",), ("V",)),
    "synonyms": (("int32",), ("s",)),
    "information_content": (("float32",), ("V",)),
    "parts": (("uint8",), ("V",)),
}
_OPTIONAL = ("synonym_ends", "synonyms", "information_content", "parts")
BUILTIN = "builtin"
# Another name of the built-in lexicon, and that of its folder.
ENGLISH = "english"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.\-]{0,99}")


def save(lexicon: Lexicon, folder: Path, beside: Sequence[Path] = ()) -> str:
    """Write a lexicon to a folder and return its digest.

    beside: files to copy with it, such as a licence, which are not in the digest.
    lexicon.digest is ignored: the digest is computed from the written files. A new
    folder appears atomically. In an existing folder the files of the
    lexicon are replaced and all others (a licence) stay.
    """
    folder = Path(folder)
    check(lexicon)
    with describe_errors(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        near = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
        try:
            (near / WORDS).write_bytes(_encoded_lines(lexicon.words))
            for name, array in _present_arrays(lexicon).items():
                save_array(near / f"{name}.npy", array)
            # Through JSON, so that the hash is of the values that will be read back.
            meta = json.loads(_canonical(lexicon.meta))
            digest = content_digest(near, meta)
            document = Description(lexicon.name, digest, meta)._asdict()
            document = {"format": FORMAT, **document}
            text = json.dumps(document, ensure_ascii=False, indent=1) + "\n"
            (near / META).write_text(text, encoding="utf-8")
            for path in beside:
                shutil.copyfile(path, near / path.name)
            _publish(near, folder)
        finally:
            shutil.rmtree(near, ignore_errors=True)
    return digest


@contextlib.contextmanager
def describe_errors(path: Path) -> Iterator[None]:
    """Raise OutputError if a file or folder cannot be written.

    For the user's data folder, the error names the variable that changes it.
    """
    try:
        yield
    except OutputError:
        raise
    except OSError as error:
        way_on = ""
        if user_folder().parent in path.parents:
            variable = "DPTEXT_HOME" if "DPTEXT_HOME" in os.environ else "XDG_DATA_HOME"
            way_on = f"; set {variable} to a folder that you can write to"
        raise OutputError(
            f"{path}: cannot be written ({error.strerror}){way_on}"
        ) from error


def load(folder: Path, *, verify: bool = True) -> Lexicon:
    """Open the lexicon in a folder; its arrays stay on disk until used.

    verify compares the content with the digest. A folder is opened once until it
    changes. Raises LexiconError for a folder that is not a lexicon, was changed, or is
    of another format.
    """
    return _load(Path(folder), verify, state(Path(folder)))


@lru_cache(maxsize=2)
def _load(folder: Path, verify: bool, state: cache.FolderState) -> Lexicon:
    name, digest, meta = read_meta(folder)
    words = read_words(folder)
    arrays = map_arrays(folder, _present(folder), len(words))
    if verify and content_digest(folder, meta, state) != digest:
        raise LexiconError(
            f"{folder}: the lexicon does not match its digest; import it again"
        )
    return Lexicon(name=name, words=words, digest=digest, meta=meta, **arrays)


def state(folder: Path) -> cache.FolderState:
    """Return a fingerprint that changes with the files of a folder."""
    path = os.path.abspath(folder)
    with contextlib.suppress(OSError), os.scandir(folder) as files:
        stats = sorted((file.name, file.stat()) for file in files)
        return path, tuple((n, s.st_ino, s.st_size, s.st_mtime_ns) for n, s in stats)
    return path, ()


class Description(NamedTuple):
    """The content of meta.json."""

    name: str
    digest: str
    meta: JsonObject


def read_meta(folder: Path) -> Description:
    """Read only meta.json."""
    try:
        document = json.loads((folder / META).read_bytes())
    except OSError as error:
        msg = f"{folder}: not a lexicon ({META}: {error.strerror})"
        raise LexiconError(msg) from None
    except (ValueError, RecursionError):
        msg = f"{folder / META}: not valid JSON; import the lexicon again"
        raise LexiconError(msg) from None
    format = document.get("format") if isinstance(document, dict) else None
    if format != FORMAT:
        raise LexiconError(
            f"{folder}: lexicon format {format!r}, "
            f"this version reads {FORMAT}; import the lexicon again"
        )
    meta = document.get("meta")
    if not {"name", "digest"} <= document.keys() or not isinstance(meta, dict):
        msg = f"{folder / META}: name, digest or meta is missing; import it again"
        raise LexiconError(msg)
    return Description(str(document["name"]), str(document["digest"]), meta)


def content_digest(
    folder: Path, meta: Meta, state: cache.FolderState = ("", ())
) -> str:
    """Return the digest of the files in a folder and of meta.

    If its state is given, the folder is read only if changed (dptext.cache).
    """

    def compute() -> str:
        files = [WORDS, *(f"{name}.npy" for name in _present(folder))]
        digests = {file: digest_of_path(folder / file) for file in files}
        return _combined_digest(digests, meta)

    return cache.folder_digest(state, compute)


def digest_in_memory(lexicon: Lexicon) -> str:
    """Compute the digest that a lexicon would have once saved."""
    files = {WORDS: hashlib.sha256(_encoded_lines(lexicon.words)).hexdigest()}
    for name, array in _present_arrays(lexicon).items():
        digest = hashlib.sha256()
        _write(array, digest.update)
        files[f"{name}.npy"] = digest.hexdigest()
    return _combined_digest(files, json.loads(_canonical(lexicon.meta)))


def check(lexicon: Lexicon) -> None:
    """Raise LexiconError unless the arrays match dptext.types.Lexicon."""
    size = len(lexicon.words)
    if not size:
        raise LexiconError(f"lexicon {lexicon.name!r} has no words")
    for name, array in _present_arrays(lexicon).items():
        _check_shape(f"lexicon {lexicon.name!r}, {name}", array, _ARRAYS[name], size)
    words, counts, orders = lexicon.words, lexicon.counts, lexicon.orders
    outputs = lexicon.meta.get("outputs", size)
    one_line = all(words) and "\n" not in "".join(words)
    distinct = len({word.lower() for word in words}) == size
    finite = np.isfinite(counts).all() and (counts > 0).all()
    parts = counts[:outputs], counts[outputs:]
    descending = all((np.diff(part) <= 0).all() for part in parts)
    inside, once = _permutations(orders, outputs)
    for is_kept, reason in (
        (one_line, "a word is empty or contains a line break"),
        (distinct, "two words are the same in lower case"),
        (NUMBER in words, f"the element {NUMBER} is missing"),
        (finite, "counts must be finite and above 0"),
        (descending, "words must be sorted by descending count, outputs first"),
        (int(orders.max()) < size, "orders refer to a word that does not exist"),
        (
            inside,
            "an order lists a word that is not an output (and not first in its "
            "own order)",
        ),
        (once, "an order lists a word twice"),
        (np.isfinite(lexicon.vectors).all(), "vectors must be finite"),
    ):
        if not is_kept:
            raise LexiconError(f"lexicon {lexicon.name!r}: {reason}")


def _permutations(orders: Array, outputs: int) -> tuple[bool, bool]:
    """Return whether orders list only outputs, and whether none twice.

    The proof of rank needs both. A word that is not an output may come first in its own
    order, where rank leaves it out.
    """
    inside = once = True
    for begin in range(0, len(orders), _BLOCK):
        block = np.asarray(orders[begin : begin + _BLOCK])
        rows = np.arange(begin, begin + len(block))
        own = (block[:, 0] == rows) & (rows >= outputs) & (rows < len(orders) - 1)
        inside &= bool((block[:, 1:] < outputs).all())
        inside &= bool((own | (block[:, 0] < outputs)).all())
        ranked = np.sort(block, axis=1)
        once &= bool((ranked[:, 1:] != ranked[:, :-1]).all())
    return inside, once


def _present_arrays(lexicon: Lexicon) -> dict[str, Array]:
    arrays = {name: getattr(lexicon, name) for name in _ARRAYS}
    return {name: array for name, array in arrays.items() if array is not None}


def _check_shape(location: str, array: Array, kind: Kind, size: int) -> None:
    types, shape = kind
    lengths = {"V": size, "V+1": size + 1, "V+2": size + 2}
    fits = len(array.shape) == len(shape) and all(
        have == lengths.get(side, have)
        for have, side in zip(array.shape, shape, strict=True)
    )
    if not fits or array.dtype.name not in types:
        sides = " x ".join(str(lengths.get(side, side)) for side in shape)
        expected = f"expected {sides} of {' or '.join(types)}"
        have = f"found {' x '.join(map(str, array.shape))} of {array.dtype.name}"
        raise LexiconError(f"{location}: {expected}, {have}")


def _present(folder: Path) -> dict[str, Kind]:
    """Return the arrays to open: required ones, and optional ones that exist."""
    absent = {each for each in _OPTIONAL if not (folder / f"{each}.npy").exists()}
    return {name: kind for name, kind in _ARRAYS.items() if name not in absent}


def read_words(folder: Path) -> tuple[str, ...]:
    """Read only the words of a stored lexicon."""
    try:
        text = (folder / WORDS).read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8"
        raise LexiconError(
            f"{folder / WORDS}: {reason}; import the lexicon again"
        ) from None
    # Not splitlines: words may hold other characters that Python takes for line ends.
    return tuple(text.removesuffix("\n").split("\n"))


def map_arrays(folder: Path, kinds: Mapping[str, Kind], size: int) -> dict[str, Array]:
    """Memory-map the arrays of a vocabulary.

    Raises LexiconError unless they have the right types and shapes.
    """
    arrays = {}
    for name, kind in kinds.items():
        path = folder / f"{name}.npy"
        try:
            # It warns of damaged headers as of old ones.
            with warnings.catch_warnings(action="ignore"):
                plain = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError, EOFError, SyntaxError, TokenError) as error:
            if getattr(error, "errno", None) == errno.ENOMEM:
                raise MemoryError from None  # the file is whole
            reason = getattr(error, "strerror", None) or "not a complete .npy array"
            raise LexiconError(f"{path}: {reason}; import the lexicon again") from None
        # A plain view: np.memmap pays for its subclass at every slice.
        arrays[name] = np.asarray(plain)
        _check_shape(str(path), arrays[name], kind, size)
    return arrays


def save_array(path: Path, array: Array) -> None:
    """Write an array as .npy. Raises OSError with the cause, such as a full disk."""
    with open(path, "wb") as file:
        _write(array, file.write)


def _write(array: Array, write: Callable[[bytes], object]) -> None:
    """Write an array as .npy with Python, since NumPy's errors name no cause."""
    np.save(cast(BinaryIO, SimpleNamespace(write=write)), np.ascontiguousarray(array))


def _publish(part: Path, folder: Path) -> None:
    os.chmod(part, 0o755)  # noqa: S103 - mkdtemp closes it to others
    try:
        os.rename(part, folder)
    except OSError:
        if not folder.is_dir():
            raise
        # meta.json comes last: a crash on the way leaves a digest that does not match.
        new = sorted(part.iterdir(), key=lambda path: path.name == META)
        for path in new:
            os.replace(path, folder / path.name)
        for name in {WORDS, *(f"{name}.npy" for name in _ARRAYS)}:
            if name not in {path.name for path in new}:
                (folder / name).unlink(missing_ok=True)


def _combined_digest(files: Mapping[str, str], meta: Meta) -> str:
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{name} {files[name]}\n".encode())
    digest.update(_canonical({k: v for k, v in meta.items() if k not in _UNHASHED}))
    return digest.hexdigest()


def _encoded_lines(words: tuple[str, ...]) -> bytes:
    return ("\n".join(words) + "\n").encode()


def _canonical(meta: Meta) -> bytes:
    """Return the canonical JSON of meta, for hashing; numpy scalars become numbers."""
    how: dict[str, Any] = {"separators": (",", ":"), "default": _plain}
    how |= {"sort_keys": True, "ensure_ascii": False, "allow_nan": False}
    return json.dumps(dict(meta), **how).encode()


def _plain(value: object) -> object:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise LexiconError(
        f"meta holds a {type(value).__name__}, which JSON cannot represent"
    )


def packaged_folder() -> Path:
    """Return the folder of the built-in lexicon."""
    return Path(__file__).resolve().parent.parent / "data" / ENGLISH


def user_folder() -> Path:
    """Return the folder of imported lexicons, in $DPTEXT_HOME or XDG's data folder."""
    home = os.environ.get("DPTEXT_HOME")
    # The XDG rules: a relative path in the variable is ignored.
    data = os.environ.get("XDG_DATA_HOME", "")
    base = Path(data) if os.path.isabs(data) else streams.home_folder() / ".local/share"
    return (Path(home) if home else base / "dptext") / "lexicons"


def stored_in(folder: Path) -> list[Path]:
    """Return the paths in a folder by name; empty if missing or unreadable.

    A service may run with another user's home folder; built-in data need no folder.
    """
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def cached_folder() -> Path:
    """Return the cache folder of implicitly imported lexicons."""
    return cache.folder() / "lexicons"


def lexicon_folder(name: str) -> Path:
    """Return an imported lexicon's folder. Raises UsageError for an invalid name."""
    if name in (BUILTIN, ENGLISH):
        msg = f"the name {name!r} is that of the built-in lexicon; choose another"
        raise UsageError(msg)
    if not is_name(name):
        msg = "a lexicon's name may contain only letters, digits, '_', '-' and '.'"
        raise UsageError(msg)
    return user_folder() / name


def is_name(text: str) -> bool:
    """Return whether a text is a valid name for an imported lexicon."""
    return _NAME.fullmatch(text) is not None
