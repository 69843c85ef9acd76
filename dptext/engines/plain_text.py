"""Whether lines of standard input are texts, or look like something else."""

from __future__ import annotations

from dptext.errors import UsageError
from dptext.types import Selection

_DELIMITERS = ",;\t|"
_ROWS = 3  # lines with equally many delimiters that look like a table


def check(head: bytes, selection: Selection) -> None:
    """Refuse lines that the options speak of as of a table or of objects."""
    usual = Selection().fields
    first = head.partition(b"\n")[0].decode("utf-8", "replace").strip("\ufeff\r")
    for delimiter in _DELIMITERS:
        names = [part.strip().strip('"') for part in first.split(delimiter)]
        for name in selection.fields or usual:
            if len(names) > 1 and name in names:
                raise UsageError(
                    f"standard input looks like a table with a column {name!r}: give "
                    f"{_as_option(delimiter)}, or --format text if each line is a text"
                )
    if head and selection.fields not in ((), usual):
        raise UsageError(
            "standard input looks like plain text, which has no fields: name its "
            "format with --format, or leave --field out"
        )


def _as_option(delimiter: str) -> str:
    if delimiter == "\t":
        return "--format tsv"
    other = "" if delimiter == "," else f" --delimiter '{delimiter}'"
    return f"--format csv{other}"


def looks_like_table(head: bytes) -> bool:
    """Tell whether lines have equally many delimiters."""
    lines = [line for line in head.split(b"\n")[:-1] if line.strip()][:_ROWS]
    counts = [{line.count(each.encode()) for line in lines} for each in _DELIMITERS]
    return len(lines) == _ROWS and any(len(n) == 1 and 0 not in n for n in counts)
