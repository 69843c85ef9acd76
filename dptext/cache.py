"""Cache of slow public results: shipped with the package, or in a user folder.

Only functions of public data (lexicon, settings) may be kept here, never of a text.
An entry of the folder is one file: a line with the format, the key and the sha256 of
key and content, then the content. An entry that is damaged, of another key or format,
or could have been written by another user is silently computed anew, and a folder that
cannot be read or written costs only time. What was not used for a month goes when
another result is kept, as do the oldest entries above half a gibibyte.

The digest finds damage, not forgery: a signing key would lie next to the entries, and a
process of the same user can change the program as well. Even so, no guarantee depends
on an entry alone: `holds` checks its values, all of them or random rows, before it is
used. Results that ship with the package are as trustworthy as the package.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import math
import os
import shutil
import stat
import struct
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np
from numpy.typing import NDArray

from dptext import progress, streams
from dptext.errors import LexiconError

Array = NDArray[Any]
Arrays = Mapping[str, Array]
Numbers = dict[str, Any]
T = TypeVar("T")

_FORMAT = "dptext-cache 2"
# The path of a folder, and name, inode, bytes and time of change of its files.
FolderState = tuple[str, tuple[tuple[str, int, int, int], ...]]
_SETTLED = 3 * 10**9  # ns after which a file changes its time when it changes again
_LIMIT = 2**29  # bytes that stay, apart from what was used since a day
_DAY = 86_400.0  # seconds
_ZIP_HEADER = 30  # bytes before the name in a zip; the last four are the lengths behind
_UNUSED = 30  # days after which a result goes, as those of earlier versions do


def folder() -> Path:
    """Return the cache folder for public, recomputable results."""
    home = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(home):
        return Path(home) / "dptext"
    return streams.home_folder() / ".cache" / "dptext"


def shipped_file() -> Path:
    """Return the file of numbers shipped with the package."""
    return Path(__file__).parent / "data" / "results.json"


def shipped(key: str) -> Numbers | None:
    """Return the shipped numbers for a key, or None."""
    known = shipped_entry(shipped_file(), key)
    return dict(known) if known else None


def shipped_entry(path: Path, key: str) -> Any:
    """Return the value of a key in a shipped JSON file, or None.

    Raises LexiconError for a damaged file.
    """
    try:
        return _read(path, path.stat().st_mtime_ns).get(key)
    except OSError:
        return None


def shipped_tables() -> Path:
    """Return the folder of shipped arrays, KEY.npz each."""
    return Path(__file__).parent / "data" / "tables"


@lru_cache(maxsize=4)
def _read(path: Path, changed: int) -> Mapping[str, Any]:
    try:
        data = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        raise LexiconError(f"{path}: not valid JSON; build it again") from None
    return data if isinstance(data, dict) else {}


def key_of(*parts: object) -> str:
    """Hash everything that a result depends on into its cache key."""
    text = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def digest(values: NDArray[np.generic]) -> str:
    """Return the SHA-256 of an array's values, for use in a cache key."""
    return hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()


def arrays(
    key: str,
    compute: Callable[[], Arrays],
    holds: Callable[[Arrays], bool] | None = None,
    work: str = "preparing public tables",
) -> Arrays:
    """Return the arrays of a key: shipped, cached or computed now.

    Cached arrays are computed again if `holds` is false for them, or fails; arrays that
    ship are used unchecked. `work` describes the computation to the user.
    """
    with contextlib.suppress(OSError):
        return _read_arrays((shipped_tables() / f"{key}.npz").read_bytes())

    def write(values: Arrays) -> bytes:
        sink = io.BytesIO()
        np.savez(sink, **values)  # type: ignore[arg-type]
        return sink.getvalue()

    return _entry(
        f"{key}.arrays",
        read=_read_arrays,
        write=write,
        compute=compute,
        holds=holds,
        work=work,
    )


def numbers(
    key: str,
    compute: Callable[[], Numbers],
    holds: Callable[[Numbers], bool] | None = None,
    work: str = "measuring public distances",
) -> Numbers:
    """Return the numbers cached under a key, computed if missing, like `arrays`."""
    return shipped(key) or _entry(
        f"{key}.numbers",
        read=lambda kept: dict(json.loads(kept)),
        write=lambda values: json.dumps(values).encode(),
        compute=compute,
        holds=holds,
        work=work,
    )


def folder_digest(state: FolderState, compute: Callable[[], str]) -> str:
    """Return the digest of a folder, recomputed when one of its files changes.

    state: path, and name, inode, bytes and time of change (ns) of each file. Changes of
    the last seconds may share a timestamp: such a digest is not cached.
    """
    path, files = state
    newest = max((changed for *_, changed in files), default=0)
    if not files or time.time_ns() - newest < _SETTLED:
        return compute()
    return _entry(
        f"{key_of('folder', 1, path, files)}.digest",
        read=bytes.decode,
        write=str.encode,
        compute=compute,
        holds=None,
        work="checking files",
    )


def table(
    key: str,
    compute: Callable[[], Array],
    holds: Callable[[Array], bool],
    work: str,
) -> Array:
    """Return a large array of a key, memory-mapped and shared by processes.

    Only the parts that are used are read, so no digest is checked: `holds` must detect
    damage. If the array cannot be cached it stays in memory.
    """
    path = folder() / f"{key}.table"
    kept = _mapped(path, holds)
    if kept is not None:
        return kept
    with progress.step(work):
        computed = compute()
    with contextlib.suppress(OSError):
        _write(path, lambda file: np.save(file, computed))
        kept = _mapped(path, holds)
    return computed if kept is None else kept


def _mapped(path: Path, holds: Callable[[Array], bool]) -> Array | None:
    """Memory-map an array file, or return None if it is invalid."""
    try:
        if _private(path.stat(), stat.S_ISREG):
            kept: Array = np.load(path, mmap_mode="r", allow_pickle=False)
            if holds(kept):
                mark_used(path)
                return np.asarray(kept)
    except Exception:  # noqa: S110 - any error means an invalid entry
        pass
    return None


def _read_arrays(content: bytes) -> Arrays:
    """Read the arrays of an uncompressed .npz file.

    np.load checks them again and copies them in small parts.
    """
    source = io.BytesIO(content)
    with zipfile.ZipFile(source) as stored:
        members = stored.infolist()
    read: dict[str, Array] = {}
    for member in members:
        at = member.header_offset + _ZIP_HEADER
        source.seek(at + sum(struct.unpack_from("<HH", content, at - 4)))
        np.lib.format.read_magic(source)
        header = np.lib.format.read_array_header_1_0(source)
        shape, by_columns, dtype = header
        flat = np.frombuffer(content, dtype, math.prod(shape), source.tell())
        array = flat.reshape(shape, order="F" if by_columns else "C")
        read[member.filename.removesuffix(".npy")] = array.copy(order="K")
    return read


def _entry(
    name: str,
    *,
    read: Callable[[bytes], T],
    write: Callable[[T], bytes],
    compute: Callable[[], T],
    holds: Callable[[T], bool] | None,
    work: str,
) -> T:
    """Return the content of a cache entry KEY.SUFFIX, computed if missing."""
    path, key = folder() / name, name.partition(".")[0]
    try:
        kept = read(_content(path, key))
        with progress.step(f"{work}: checking kept results"):
            if holds is None or holds(kept):
                mark_used(path)
                return kept
    except Exception:  # noqa: S110 - any error means an invalid entry
        pass
    with progress.step(work):
        computed = compute()
    with contextlib.suppress(OSError):
        _keep(path, key, write(computed))
    return computed


def _content(path: Path, key: str) -> bytes:
    """Return the content of an entry. Raises ValueError if it is damaged."""
    # Do not wait for a pipe under its name.
    with open(
        path, "rb", opener=lambda name, mode: os.open(name, mode | os.O_NONBLOCK)
    ) as file:
        if not _private(os.fstat(file.fileno()), stat.S_ISREG):
            raise ValueError("not a file of this user alone")
        header, content = file.readline(), file.read()
    if header != _header(key, content):
        raise ValueError("damaged, or stored under another key")
    return content


def _header(key: str, content: bytes) -> bytes:
    head = f"{_FORMAT} {key} ".encode()
    total = hashlib.sha256(head)
    total.update(content)  # without a copy of both
    return head + total.hexdigest().encode() + b"\n"


def _keep(path: Path, key: str, content: bytes) -> None:
    _write(path, lambda file: file.writelines((_header(key, content), content)))


def _write(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file atomically."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, part = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
        os.replace(part, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise
    tidy(folder())


def mark_used(path: Path) -> None:
    """Record that an entry, or a lexicon's folder, was used now."""
    with contextlib.suppress(OSError):
        os.utime(path)


@lru_cache(maxsize=1)
def tidy(kept_in: Path) -> None:
    """Delete results unused for long, and the oldest above a size limit; once a run.

    Results of earlier versions are never used again. Results used within the last day
    stay, as another run may need them.
    """
    now, left = time.time(), 0
    for used, size, path in sorted(_items(kept_in), reverse=True):
        age = (now - used) / _DAY
        left += size
        if age > _UNUSED or (age > 1 and left > _LIMIT):
            left -= size
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            with contextlib.suppress(OSError):
                path.unlink()


def _items(kept_in: Path) -> Iterator[tuple[float, int, Path]]:
    """Yield last use, size and path of every cached item."""
    with contextlib.suppress(OSError):
        for path in kept_in.iterdir():
            if path.suffix in _KINDS and path.is_file():
                yield path.stat().st_mtime, path.stat().st_size, path
    with contextlib.suppress(OSError):
        for path in (kept_in / "lexicons").iterdir():
            size = sum(each.stat().st_size for each in path.rglob("*"))
            yield path.stat().st_mtime, size, path


# What the folder holds, by the ends of names.
_KINDS = {
    ".arrays": "tables",
    ".table": "large tables",
    ".numbers": "figures",
    ".digest": "digests of folders",
    ".part": "unfinished files",
}
_LEXICONS = "lexicons opened from files"


def _kept() -> Iterator[tuple[str, Path]]:
    """Yield the kind and path of each file that dptext has cached; no others."""
    with contextlib.suppress(OSError):
        for path in sorted(folder().iterdir()):
            if path.suffix in _KINDS and path.is_file():
                yield _KINDS[path.suffix], path
    with contextlib.suppress(OSError):
        for path in sorted((folder() / "lexicons").rglob("*")):
            if path.is_file():
                yield _LEXICONS, path


def sizes() -> dict[str, tuple[int, int]]:
    """Return the number and total bytes of cached files, by kind."""
    sizes_by_kind: dict[str, tuple[int, int]] = {}
    for kind, path in _kept():
        with contextlib.suppress(OSError):
            files, size = sizes_by_kind.get(kind, (0, 0))
            sizes_by_kind[kind] = files + 1, size + path.stat().st_size
    return sizes_by_kind


def clear() -> None:
    """Delete the whole cache. Raises OSError where it cannot be deleted."""
    for kind, path in _kept():
        if kind != _LEXICONS:
            path.unlink(missing_ok=True)
    lexicons = folder() / "lexicons"
    if os.path.isdir(lexicons):  # false, too, if it is unreadable
        shutil.rmtree(lexicons)


def close(path: Path) -> None:
    """Remove other users' write permission on a folder and its files."""
    for each in (path, *path.iterdir()):
        each.chmod(each.stat().st_mode & ~(stat.S_IWGRP | stat.S_IWOTH))


def is_private_folder(path: Path) -> bool:
    """Return whether only this user can write to a folder and its content."""
    try:
        with os.scandir(path) as files:
            inside = [_private(file.stat(), stat.S_ISREG) for file in files]
        return all(inside) and _private(path.stat(), stat.S_ISDIR)
    except OSError:
        return False


def _private(status: os.stat_result, kind: Callable[[int], bool]) -> bool:
    """Return whether a file is of this kind and writable by this user alone."""
    if not kind(status.st_mode):
        return False
    others = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return streams.is_own(status) and not others
