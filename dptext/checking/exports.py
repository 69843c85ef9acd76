"""Exports on disk or staged in git, and their copied fields.

Staged content is what the next commit will hold, whatever is on disk: a report on disk
that is not staged counts as missing, as does one with a staged removal.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import re
import shlex
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path, PurePath, PurePosixPath
from typing import BinaryIO, NamedTuple

import msgspec

from dptext import formats, settings, streams
from dptext.checking.policy import ExportPolicy
from dptext.engine import earlier
from dptext.errors import DptextError, InputError, UsageError
from dptext.report.layout import Layout, sidecar_path
from dptext.run.interface import noun
from dptext.run.selection import Selection
from dptext.run.work import SIDECAR
from dptext.streams import outputs
from dptext.types import Fault, Record, Verbatim

# Files that may accompany exports and are not exports themselves.
DOCUMENTS = (
    "README*",
    "LICENSE*",
    "CHANGELOG*",
    "*.md",
    "*.rst",
    "*.adoc",
    ".git*",
    ".dptext.yaml",
    ".pre-commit-config.yaml",
)
# Why a file is not checked.
NO_EXPORT = "its name does not look like an export"
EXCLUDED = "the policy excludes it"
ORPHAN = "a report without its file"
# The beginning of an internal report, which holds counts of private texts.
_INTERNAL = re.compile(rb'^\{\s*"report": "dptext",.{0,40}"audience": "internal"', re.S)
# Endings that programs add to the names of parts and copies.
_LEFT = re.compile(r"(~|\.(part|partial|tmp|temp|bak|backup|orig|old|save|swp|\d))+$")
# Links and submodules hold no content.
_GIT_FILE = "100"
# Instead of a file that Git LFS stores elsewhere, git keeps a pointer with its digest.
_POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\n(?:ext-[^\n]*\n)*"
    rb"oid sha256:([0-9a-f]{64})\nsize ([0-9]+)\n"
)
_LONGEST_POINTER = 1024
# A .json file with this beginning holds records; others are often settings.
_RECORDS = re.compile(rb"(?:\xef\xbb\xbf)?\s*\[\s*\{")
_BEGINNING = 4096  # bytes
# Names of fields that are shown; others could hold text.
_NAME = re.compile(r"(?:[\w.\\ -]{1,31}!)?[\w.\\ -]{1,40}")
_SHOWN = 5


class NotHere(InputError):
    """The content of a file is on another machine."""


@dataclass(frozen=True, slots=True)
class Export:
    """A file and its report."""

    name: str
    sha256: str
    size: int
    #: Content of the report beside it; None without one.
    report: bytes | None
    #: Opens the content; raises NotHere if only the digest is here.
    open: Callable[[], contextlib.AbstractContextManager[BinaryIO]]
    #: Returns advice to stage the files on disk, "" if that would not help.
    unstaged: Callable[[], str] = str


class Entry(NamedTuple):
    """A file or folder inside a folder that is checked."""

    path: Path
    #: Why it is not checked; "" for an export.
    unchecked: str = ""
    #: Whether it fails the check: its content is unknown and leaves with the folder.
    fails: bool = False


def walk(folder: Path, policy: ExportPolicy) -> Iterator[Entry]:
    """Yield an entry for everything in a folder, at any depth.

    The manifest of its outputs, which holds keyed digests, is skipped.
    Unreadable folders are yielded as exports, which then fail.
    """
    failed: list[OSError] = []
    root = folder.resolve()
    for inner, folders, names in os.walk(folder, onerror=failed.append):
        yield from (Entry(Path(error.filename)) for error in failed)
        failed.clear()
        for name in sorted(folders):
            path = Path(inner, name)
            if name == ".git":
                yield Entry(path, "git's own folder")
            elif path.is_symlink() and path.resolve().is_relative_to(root):
                yield Entry(path, "a link to a folder that is checked itself")
            elif path.is_symlink():
                yield Entry(
                    path,
                    "a link to a folder, which is not followed; check that folder",
                    fails=True,
                )
        folders[:] = sorted(name for name in folders if name != ".git")
        together = {*names}
        for name in sorted(names):
            if not earlier.is_manifest(Path(inner, name)):
                yield from _in_folder(Path(inner, name), together, policy)
    yield from (Entry(Path(error.filename)) for error in failed)


def _in_folder(path: Path, together: set[str], policy: ExportPolicy) -> Iterator[Entry]:
    """Yield an entry for a file, link or device; `together` are the names beside it.

    The report of an export is skipped, as it is checked with it.
    """
    name, head = path.name, partial(_beginning, path)
    if name.endswith(SIDECAR):
        if name.removesuffix(SIDECAR) not in together:
            yield Entry(path, ORPHAN, fails=True)
    elif excluded(path, policy):
        yield Entry(path, EXCLUDED)
    elif outputs.is_part(name):
        yield Entry(
            path, "an unfinished output; run dptext again or remove it", fails=True
        )
    elif (whole := _LEFT.sub("", name)) != name and formats.by_suffix(whole):
        yield Entry(path, "a part or copy of a data file", fails=True)
    elif path.is_symlink() and not path.exists():
        yield Entry(path, "a broken link", fails=True)
    elif not path.is_file():
        yield Entry(path, "a device or pipe, not a file", fails=True)
    elif _INTERNAL.search(head()):
        yield Entry(path, "an internal report, which must not be released", fails=True)
    else:
        reported = name + SIDECAR in together
        # A link leaves as the file that it names, whatever its own name is.
        names = {path, path.resolve()} if path.is_symlink() else {path}
        if any(is_export(each, policy, reported, head) for each in names):
            yield Entry(path)
        else:
            yield Entry(path, NO_EXPORT)


def on_disk(path: Path) -> Export:
    """Read an export and the report beside it.

    Raises OSError, and UsageError for a device.
    """
    streams.check_file(path, "export")
    with path.open("rb") as file:
        sha256, size = hashlib.file_digest(file, "sha256").hexdigest(), file.tell()
    try:
        report = streams.read_small(sidecar_path(path), "report")
    except FileNotFoundError:
        report = None
    return Export(
        name=path.name,
        sha256=sha256,
        size=size,
        report=report,
        open=lambda: path.open("rb"),
    )


def digest_named(report: bytes) -> str:
    """Return the file digest in a report, "" if it has none."""
    try:
        named = msgspec.json.decode(report)["output"]["sha256"]
    except (msgspec.DecodeError, ValueError, RecursionError, LookupError, TypeError):
        return ""
    return named if isinstance(named, str) else ""


def _beginning(path: Path) -> bytes:
    """Return the first bytes of a file, empty for a device or on failure."""
    with contextlib.suppress(OSError):
        if path.is_file():
            with path.open("rb") as file:
                return file.read(_BEGINNING)
    return b""


def is_export(
    path: PurePath,
    policy: ExportPolicy,
    reported: bool,
    head: Callable[[], bytes | None],
) -> bool:
    """Return whether a file is an export; head reads its first bytes if possible.

    Exports are files that the policy includes, files with a suffix of a format,
    compressed or not, and files with a report beside them (reported). Files that the
    policy excludes are not.
    """
    if path.name.endswith(SIDECAR) or excluded(path, policy):
        return False
    if reported or streams.matches(path, policy.include) or has_suffix(path.name):
        return True
    is_json = formats.by_suffix(path.name) is not None
    return is_json and _RECORDS.match(head() or b"") is not None


def excluded(path: PurePath, policy: ExportPolicy) -> bool:
    """Return whether the policy excludes a file."""
    return streams.matches(path, policy.exclude)


def is_document(path: PurePath) -> bool:
    """Return whether a file's name alone shows that it is no export."""
    return streams.matches(path, DOCUMENTS) and not has_suffix(path.name)


def has_suffix(name: str) -> bool:
    """Return whether a name has a suffix used only for files of records.

    A .json suffix is ambiguous, unless the file is compressed.
    """
    format = formats.by_suffix(name)
    is_plain = streams.plain_name(name) == name
    return format is not None and not (is_plain and format.name == "json")


class GitIndex:
    """The staged files of the working folder and below."""

    def __init__(self) -> None:
        self._files = _listed()

    def content(self, path: str) -> bytes | None:
        """Return the staged content of a file, None if it is not staged."""
        if path not in self._files:
            return None
        problem = f"{path}: git cannot read the staged files; run git fsck"
        return _git("cat-file", "blob", self._files[path], problem=problem)

    def in_parents(self, names: Iterable[str]) -> Iterator[tuple[str, bytes | None]]:
        """Yield paths with these names in this folder and its parents, nearest first.

        Each comes with its staged content, None if it is not staged.
        """
        depth = _git("rev-parse", "--show-prefix").count(b"/")
        paths = ["../" * up + name for up in range(depth + 1) for name in names]
        self._files |= _listed("--", *paths)
        for path in paths:
            yield path, self.content(path)

    def exports(self, parts: Sequence[str], policy: ExportPolicy) -> Iterator[str]:
        """Yield the paths of staged exports, limited to the given folders and files."""
        inside = [PurePosixPath(os.path.normpath(part)) for part in parts]
        for name in sorted(self._files):
            path = PurePosixPath(name)
            if inside and not any(path.is_relative_to(each) for each in inside):
                continue
            reported = name + SIDECAR in self._files
            if is_export(path, policy, reported, partial(self.content, name)):
                yield name

    def export(self, path: str) -> Export:
        """Return an export with its staged report."""
        data = self.content(path) or b""
        sha256, size = settings.digest_of_bytes(data), len(data)
        open: Callable[[], contextlib.AbstractContextManager[BinaryIO]]
        open = partial(io.BytesIO, data)
        pointer = _POINTER.fullmatch(data[: _LONGEST_POINTER + 1])
        if pointer is not None:
            sha256, size = pointer[1].decode(), int(pointer[2])
            open = partial(_fetched, Path(path), sha256)
        report = self.content(path + SIDECAR)
        unstaged = partial(_unstaged, path, sha256, report)
        return Export(
            name=PurePosixPath(path).name,
            sha256=sha256,
            size=size,
            report=report,
            open=open,
            unstaged=unstaged,
        )


def _fetched(path: Path, sha256: str) -> contextlib.AbstractContextManager[BinaryIO]:
    """Open content that Git LFS has on local disk. Raises NotHere."""
    try:
        data = path.read_bytes()
    except OSError:
        data = b""
    if settings.digest_of_bytes(data) != sha256:
        raise NotHere(
            f"{path}: its content is not downloaded from Git LFS; run git lfs pull"
        )
    return io.BytesIO(data)


def _unstaged(path: str, sha256: str, report: bytes | None) -> str:
    """Advise what to stage if the report on disk matches the file on disk or staged.

    The pre-commit hook leaves both on disk while the original is staged.
    """
    try:
        disk = on_disk(Path(path))
    except (OSError, DptextError):
        return ""
    reported = digest_named(disk.report or b"")
    if reported not in (sha256, disk.sha256):
        return ""
    names = [path] if reported != sha256 else []
    if disk.report != report:
        names.append(path + SIDECAR)
    ignored = subprocess.run(  # noqa: S603
        ["git", "check-ignore", "-q", "--", *names],  # noqa: S607
        capture_output=True,
        check=False,
    )
    force = [] if ignored.returncode else ["-f"]
    dashed = ["--"] if path.startswith("-") else []
    return f"run {shlex.join(['git', 'add', *force, *dashed, *names])}"


def _listed(*arguments: str) -> dict[str, str]:
    """Map the paths of staged files to git's object names."""
    files = {}
    for entry in _git("ls-files", "--stage", "-z", *arguments).split(b"\0")[:-1]:
        state, _, path = entry.partition(b"\t")
        mode, name, _ = state.decode().split(" ")
        if mode.startswith(_GIT_FILE):
            files[os.fsdecode(path)] = name
    return files


def _git(*arguments: str, problem: str = "") -> bytes:
    try:
        done = subprocess.run(  # noqa: S603
            ["git", *arguments],  # noqa: S607 - git of the user's PATH
            capture_output=True,
            check=False,
        )
    except OSError:
        raise UsageError(f"{noun('staged')}: git is not installed") from None
    if done.returncode:
        raise UsageError(
            problem or f"{noun('staged')}: this folder is not in a git repository"
        )
    return done.stdout


def read_head(layout: Layout, export: Export) -> Verbatim:
    """Read what a file states once: copied fields and sheets. See `Output`.

    Raises InputError and UsageError if its first record contradicts the layout.
    """
    with open_export(layout, export) as (module, stream, selection):
        for item in module.read(formats.Input(stream, selection, "file")):
            if isinstance(item, Fault):
                raise InputError("its first record does not match its report")
            if isinstance(item, Record):
                break
            if item.copied is not None:
                return item
    return Verbatim(None)


def copied_fields(layout: Layout, export: Export) -> Iterator[str]:
    """Yield the names of an export's fields that are not private.

    Raises InputError and UsageError when they cannot be read.
    """
    with open_export(layout, export) as (module, stream, selection):
        if formats.by_suffix(export.name) not in (None, module):
            raise UsageError("the file's name implies another format")
        yield from module.copied(stream, selection)


def denied_fields(names: Iterable[str], policy: ExportPolicy) -> Iterator[str]:
    """Yield a finding for denied fields of an export, and fields inside them."""
    patterns = [each for deny in policy.deny_columns for each in (deny, f"{deny}.*")]
    denied = [
        name for name in names if any(fnmatchcase(name, each) for each in patterns)
    ]
    if denied:
        yield f"the policy forbids {series(denied)} in exports (deny_columns)"


def against_policy(
    names: Sequence[str],
    policy: ExportPolicy,
    key: str = "copy",
    treatment: str = "unchanged",
) -> Iterator[str]:
    """Yield fields that a policy neither makes private nor lists under a key.

    treatment: how they were treated, for messages.
    """
    must = [name for name in names if is_in(name, policy.fields)]
    if must:
        yield f"the policy requires {series(must)} to be private; {treatment}"
    listed = getattr(policy, key)
    others = [
        name
        for name in names
        if name not in must and listed is not None and not is_in(name, listed)
    ]
    if others:
        where = f"{key}; {treatment}" if key == "copy" else key
        yield f"the policy does not list {series(others)} under {where}"


@contextlib.contextmanager
def open_export(
    layout: Layout, export: Export
) -> Iterator[tuple[formats.Format, BinaryIO, Selection]]:
    """Open an export, with the format and selection given in its report.

    Raises UsageError if it cannot be read that way.
    """
    if layout.format is None:
        raise UsageError("no single format")
    # One that was written is no longer than its file; packed, than this.
    selection = layout.selection(max(export.size, 2**30))
    module = formats.find(None, layout.format)
    with (
        export.open() as plain,
        streams.unpacked(plain, export.name, layout.encoding) as stream,
    ):
        yield module, stream, selection


def is_in(name: str, fields: tuple[str, ...]) -> bool:
    """Return whether a field is one of some fields, or inside one."""
    return any(name == each or name.startswith(f"{each}.") for each in fields)


def series(names: Sequence[str]) -> str:
    """List the names of fields, except names that may contain text."""
    shown = [repr(name) if _NAME.fullmatch(name) else "a field" for name in names]
    more = [f"{len(names) - _SHOWN} more"] if len(names) > _SHOWN else []
    return ", ".join(shown[:_SHOWN] + more)
