"""The files of folders, and the names of their outputs."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from dptext import formats, streams
from dptext.errors import InputError, UsageError
from dptext.run.files import SIDECAR, Outputs
from dptext.run.interface import noun

EVERY = Outputs()


def check_patterns(outputs: Outputs, names: Iterable[str]) -> None:
    """Raise UsageError for a pattern that no file fits: it is most likely misspelt.

    Also if no input is a folder.
    """
    folders = list(filter(is_folder, names))
    paths = [
        path.relative_to(folder)
        for folder in folders
        for path in _files(folder, outputs.out_dir or "")
    ]
    for name, patterns in (("include", outputs.include), ("exclude", outputs.exclude)):
        for each in patterns:
            if not folders:
                raise UsageError(
                    f"{noun(name)}: patterns are for the files of folders, and no "
                    "input is a folder; leave it out"
                )
            if not any(streams.matches(path, (each,)) for path in paths):
                shown = ", ".join(folders)
                raise UsageError(f"{noun(name)} {each}: no file of {shown} fits it")


def pair_outputs(
    names: Sequence[str],
    outputs: Outputs,
    format: str | None,
    warn: Callable[[str], None],
) -> list[tuple[str, str]]:
    """Return each input file with its output below out_dir.

    Of a folder these are the chosen files of a known format, at any depth, by name;
    their outputs have the same paths below out_dir. Raises UsageError for a folder
    without any, and for two outputs of one name.
    """
    out_dir, pairs = outputs.out_dir or "", list[tuple[str, str]]()
    for name in names:
        if not is_folder(name):
            pairs.append((name, str(Path(out_dir, Path(name).name))))
            continue
        known, left_out = _known(name, out_dir, format, outputs)
        if left_out:
            warn(f"{name}: skipped files of unknown format: {left_out}")
        pairs += [
            (str(path), str(Path(out_dir, path.relative_to(name)))) for path in known
        ]
    for output, inputs in Counter(output for _, output in pairs).items():
        if inputs > 1:
            name = os.path.relpath(output, out_dir)
            raise UsageError(
                f"two inputs are named {name}; run once for each, into two folders"
            )
    return pairs


def find_files(
    names: Sequence[str], format: str | None = None, chosen: Outputs = EVERY
) -> list[str]:
    """Return files; a folder is replaced by its selected files of a known format.

    Raises UsageError for a folder without any, InputError for one that cannot be read.
    """
    files: list[str] = []
    for name in names:
        known = _known(name, name, format, chosen)[0] if is_folder(name) else [name]
        files += map(str, known)
    return files


def is_folder(name: str) -> bool:
    """Tell whether an input is a folder."""
    return not streams.is_standard(name) and os.path.isdir(name)


def _known(
    name: str, out_dir: str, format: str | None, chosen: Outputs
) -> tuple[list[Path], int]:
    """Return the chosen files of a known format in a folder, and how many are not."""
    files = [
        path for path in _files(name, out_dir) if chosen.has(path.relative_to(name))
    ]
    known = [path for path in files if format or formats.by_suffix(str(path))]
    if not known:
        which = " that fits the patterns" if chosen.include or chosen.exclude else ""
        raise UsageError(f"{name}: this folder has no file of a known format{which}")
    return known, len(files) - len(known)


def _files(name: str, out_dir: str) -> list[Path]:
    """Return the files in a folder by name, without hidden ones, marks and outputs.

    Raises InputError for a folder that cannot be read, and for a link to one, which is
    not followed.
    """

    def refuse(error: OSError) -> None:
        raise InputError(f"{error.filename}: {error.strerror}; its files are not read")

    files: list[Path] = []
    for parent, folders, names in os.walk(name, onerror=refuse):
        folders[:] = filter(_is_shown, folders)
        for link in filter(os.path.islink, (f"{parent}/{each}" for each in folders)):
            raise InputError(
                f"{link}: a link to a folder, which is not followed; name that folder"
            )
        files += (Path(parent, each) for each in filter(_is_shown, names))
    files = sorted(path for path in files if not path.name.endswith(SIDECAR))
    # Unlike Path.resolve it takes loops of links, which fail when they are opened.
    written = Path(os.path.realpath(out_dir))
    if written != Path(os.path.realpath(name)):
        files = [
            path
            for path in files
            if written not in Path(os.path.realpath(path)).parents
        ]
    return files


def _is_shown(name: str) -> bool:
    return not name.startswith((".", "_"))
