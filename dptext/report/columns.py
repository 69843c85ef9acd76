"""Which fields of a file are made private and which are copied, in words."""

from __future__ import annotations

from dptext.report.document import Layout, Output


def private(layout: Layout) -> str:
    """Name what is made private."""
    if layout.fields is None:
        return "each line" if layout.format == "text" else "all text"
    return ", ".join(layout.fields)


def copied(layout: Layout, output: Output | None) -> str:
    """Name what is copied, by its names where the output has them in one place."""
    if output is not None and output.copied is not None:
        return ", ".join(output.copied) or "no other field"
    if layout.fields is None:
        return "no other field: the input is lines of text"
    return f"every field but {' and '.join(layout.fields)}"
