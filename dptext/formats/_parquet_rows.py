"""Rows of a Parquet file on their way from reading to writing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dptext.formats import _arrow, _paths

ROWS = 1024  # rows that are read, or rebuilt, at once


@dataclass(frozen=True, slots=True)
class Head:
    """What all rows of a file share; schema is that of the output."""

    schema: _arrow.Schema
    columns: tuple[_arrow.Column, ...]
    codec: str
    int96: bool


@dataclass(frozen=True, slots=True, eq=False)
class Page:
    """Some rows in a row, and their selected values: one list per column."""

    head: Head
    batch: _arrow.Batch
    values: list[list[_arrow.Value]]
    identities: Sequence[object] | None
    subjects: Sequence[object] | None = None


class Rest(NamedTuple):
    """Where a record came from."""

    page: Page
    row: int


def leaves(schema: _arrow.Schema, fields: tuple[str, ...]) -> Iterator[str]:
    """Give the paths of all leaves that are none of these fields."""
    texts = {_paths.joined(_paths.parse(path)) for path in fields}
    return (path for path in _arrow.leaf_paths(schema) if path not in texts)
