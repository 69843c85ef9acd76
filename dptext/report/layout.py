"""How records are read, which files a run writes, and where reports go."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta

from dptext import formats
from dptext.run.groups import needs, options
from dptext.run.interface import COMMAND_LINE
from dptext.run.selection import CHANGES, FIELDS, Selection
from dptext.run.work import SIDECAR
from dptext.types import about

# In patterns, `$` alone would let a line end follow.
_Encoding = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{1,32}$(?!\n)")]


def sidecar_path(path: Path) -> Path:
    """Return the path of an output's public report."""
    return path.parent / f"{path.name}{SIDECAR}"


@dataclass(frozen=True, slots=True)
class Layout:
    """How a run reads records, according to its settings; nothing of their content."""

    format: Annotated[
        str | None, about("Name of the format; null if the outputs have several.")
    ]
    fields: Annotated[
        tuple[str, ...] | None,
        about(
            "Names of the private fields; null if the whole input is text, as "
            "strings of JSON may be, too."
        ),
    ]
    id_field: Annotated[
        str | None, about("Field that names records, unchanged in the output.")
    ] = None
    # No row: the commands that read the file name it.
    missing: Annotated[
        Literal["fail", "pass"],
        about("Records that lack a private field stop the run or pass."),
    ] = "fail"
    # No row: the commands that read the file name it.
    sheets: Annotated[
        tuple[str, ...],
        about(
            "Sheets of workbooks that have the private fields; empty if all with "
            "such a field do."
        ),
    ] = ()
    # No row: the commands that read the file name it.
    delimiter: Annotated[
        Annotated[str, Meta(max_length=1)] | None,
        about("Delimiter of a table; null if its header tells it."),
    ] = None
    # No row: the commands that read the file name it.
    quoting: Annotated[bool, about("Whether quotes enclose fields of a table.")] = True
    # No row: the commands that read the file name it.
    header: Annotated[
        bool, about("Whether a table begins with the names of its columns.")
    ] = True
    # No row: the commands that read the file name it.
    encoding: Annotated[
        _Encoding | None, about("Encoding of text; null for UTF-8.")
    ] = None
    # No row: the commands that read the file name it.
    escapes: Annotated[
        Literal["backslash", "none"] | None,
        about("Meaning of backslashes in a table; null if no private field has any."),
    ] = None
    dropped: Annotated[
        tuple[str, ...], about("Fields of the input that the output leaves out.")
    ] = ()
    pseudonyms: Annotated[
        tuple[str, ...],
        about("Fields whose values are keyed tokens, without differential privacy."),
    ] = ()
    shuffled: Annotated[
        bool, about("Whether the output has its records in random order.")
    ] = False

    @property
    def changed(self) -> tuple[str, ...]:
        """Return the fields that are left out or replaced."""
        return (*self.dropped, *self.replaced)

    @property
    def replaced(self) -> tuple[str, ...]:
        """Return the replaced fields, in the words of a selection."""
        return self.pseudonyms

    @property
    def is_ordered(self) -> bool:
        """Return whether output records keep the order of the input."""
        return not self.shuffled

    @classmethod
    def from_selection(
        cls, selection: Selection, names: Collection[str], *, shuffled: bool = False
    ) -> Layout:
        """Describe how the records of outputs in these formats were read."""
        if set(names) == {"text"}:  # without fields, whatever is named of others
            selection = replace(selection.without_changes(), fields=())
        shown = {name: getattr(selection, name) for name in _SHARED}
        shown |= {
            "format": next(iter(names)) if len(names) == 1 else None,
            "fields": selection.fields or None,
            "pseudonyms": selection.replaced,
        }
        return cls(**shown, shuffled=shuffled).that_applies(names)

    def that_applies(self, names: Collection[str]) -> Layout:
        """Reset the options of files that do not apply to any of these formats.

        Environment and configuration file may set a delimiter for all inputs.
        """
        read = [formats.find(None, name) for name in names]
        usual = Selection()
        unused = {
            name: getattr(usual, name)
            for name, need in needs(Selection).items()
            if name in _SHARED and need not in (FIELDS, CHANGES)
            if read and not any(getattr(each, need.quality) for each in read)
        }
        return replace(self, **unused)

    def typed(self, *paths: str) -> list[str]:
        """Return the shell command options that read these files."""
        usual, typed = Layout(format=None, fields=None), list[str]()
        named = {each and each.name for each in map(formats.by_suffix, paths)}
        for name, option, marks in options(Selection):
            value = getattr(self, name, None)
            is_usual = value == getattr(usual, name, None)
            is_written = CHANGES in marks  # not read
            if is_usual or is_written or (name == "format" and named == {value}):
                continue
            if isinstance(value, bool):
                typed.append(COMMAND_LINE.option(f"no-{option.name(name)}"))
                continue
            for each in (value,) if isinstance(value, str) else value or ():
                typed.append(COMMAND_LINE.option(option.name(name), each))
        return typed

    def selection(self, longest: int) -> Selection:
        """Return the selection that reads such records, up to a size in bytes."""
        shown = {name: getattr(self, name) for name in _SHARED}
        shown |= {"fields": self.fields or (), "replaced": self.replaced}
        strings = self.fields is None and self.format != "text"
        there = Selection(**shown, max_record_bytes=longest, strings=strings)
        return there.output_selection()


# Fields that a selection has, too.
_SHARED = {each.name for each in fields(Layout)} & {
    each.name for each in fields(Selection)
}


@dataclass(frozen=True, slots=True)
class RunOutputs:
    """The files and copied fields of a run, which the document does not hold."""

    #: Paths; None for standard output.
    outputs: Sequence[str | None]
    #: Folder of several outputs; None if they replaced the originals.
    folder: str | None = None
    #: Path of the public report of the first output.
    public: str | None = None
    #: Path of the internal report as JSON.
    internal: str | None = None
    #: Path of the internal report as a page.
    page: str | None = None
    #: Names of the copied fields; None if unknown.
    copied: Sequence[str] | None = ()
    #: Number of records in which unchanged fields were found; 0 if all are known, None
    #: if the number is unknown.
    first: int | None = 0
    #: Description of the signature of public reports; None if unknown.
    signed: str | None = None
    #: Whether the run has just ended: a report that is shown again is not one.
    is_run: bool = True
    #: Whether draws of records without ids go by the names of the outputs, too.
    is_by_name: bool = False
    #: Whether the output beside a report that is shown again has other bytes.
    is_changed: bool = False
