"""Folders among the inputs: the files in them, and where their outputs go."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from dptext import formats, streams
from dptext.errors import InputError, UsageError


def outputs_of(
    names: Sequence[str],
    out_dir: str,
    format: str | None,
    warn: Callable[[str], None],
) -> list[tuple[str, str]]:
    """Return each input file with its output below out_dir.

    Of a folder these are the files of a known format, at any depth, by name; their
    outputs have the same paths below out_dir. Raises UsageError for a folder without
    any, and for two outputs of one name.
    """
    pairs: list[tuple[str, str]] = []
    for name in names:
        if streams.is_standard(name) or not os.path.isdir(name):
            pairs.append((name, str(Path(out_dir, Path(name).name))))
            continue
        inside = list(_inside(Path(name), Path(out_dir)))
        known = [path for path in inside if format or formats.by_suffix(str(path))]
        if not known:
            raise UsageError(f"{name}: no file of a known format is in this folder")
        if len(known) < len(inside):
            left_out = len(inside) - len(known)
            warn(f"{name}: files of no known format, which are left out: {left_out}")
        pairs += [
            (str(path), str(Path(out_dir, path.relative_to(name)))) for path in known
        ]
    _check_names([output for _, output in pairs], out_dir)
    return pairs


def _inside(folder: Path, out_dir: Path) -> Iterator[Path]:
    """Give the files in a folder by name, without hidden ones, marks and outputs.

    Raises InputError for a folder that cannot be read, and for a link to one, which is
    not followed.
    """
    written = out_dir.resolve()

    def refuse(error: OSError) -> None:
        raise InputError(f"{error.filename}: {error.strerror}; its files are not read")

    found: list[Path] = []
    for parent, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = filter(_is_shown, folders)
        for name in folders:
            if os.path.islink(os.path.join(parent, name)):
                raise InputError(
                    f"{os.path.join(parent, name)}: a link to a folder, which is not "
                    "followed; name that folder"
                )
        found += (Path(parent, name) for name in filter(_is_shown, names))
    for path in sorted(found):
        report = path.name.endswith(".dptext.json")
        mine = written != folder.resolve() and written in path.resolve().parents
        if not (report or mine):
            yield path


def _is_shown(name: str) -> bool:
    return not name.startswith((".", "_"))


def _check_names(outputs: Sequence[str], out_dir: str) -> None:
    known: set[str] = set()
    for output in outputs:
        if output in known:
            name = os.path.relpath(output, out_dir)
            raise UsageError(
                f"--out-dir: two inputs are named {name}; run once for each"
            )
        known.add(output)
