"""Parquet: texts in columns of strings, lists of strings, and structs of them.

Types: string, large_string, string_view, dictionary of them, list and large_list, and
fields of structs by dotted path. Other columns keep value and type. Nothing of the
file is copied that the selected texts may have a part in: no statistics, indexes,
filters, sort orders or keys of its footer, and not the sizes of its row groups, which
writers cut by bytes. The codec is that of another column; see _metadata for what is
said of columns.
Needs the extra "parquet".
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import BinaryIO, ClassVar

from dptext import formats
from dptext.errors import InputError, MissingExtra
from dptext.formats import Item, _arrow, _metadata, _subjects
from dptext.formats._lines import Unreadable
from dptext.formats._parquet_rows import (
    ROWS,
    Head,
    Page,
    Rest,
    leaves,
    page_of,
    row_of,
)
from dptext.formats._parquet_writer import Writer
from dptext.types import Fault, Record, Selection, Verbatim

_IN_MEMORY = 2**30  # bytes of an input that cannot seek


class Format(formats.Format):
    """One record per row; rows in messages count from 1."""

    SUFFIXES: ClassVar = (".parquet", ".pq")

    def read(
        self,
        stream: BinaryIO,
        selection: Selection,
        location: str,
        start: int = 0,
        line: int = 1,
    ) -> Iterator[Item]:
        """Read one record per row."""
        file = _open(stream, location)
        head = _head(file, selection, location)
        schema = file.schema_arrow

        def named(path: str | None) -> _arrow.Column | None:
            if path is None:
                return None
            return _arrow.column(schema, path, location, is_text=False)

        identity, subject = map(named, (selection.id_field, selection.subject_field))
        yield Verbatim(head, header=True)
        number = 0
        for batch in _batches(file, location):
            where = f"{location}: rows from {number + 1}"
            page = page_of(head, batch, identity, where, subject)
            for row in range(batch.num_rows):
                try:
                    texts, name = row_of(page, row, selection)
                    about = _subject(page, row, selection)
                    rest, fields = Rest(page, row), selection.fields
                    yield Record(start + number, texts, rest, name, fields, about)
                except Unreadable as error:
                    raw = _arrow.json_line(batch, row)
                    yield Fault(f"{location}: row {number + 1}", str(error), raw)
                number += 1

    def rows(self, stream: BinaryIO) -> int | None:
        """Return how many rows a file holds."""
        return int(_open(stream, "file").metadata.num_rows)

    def writer(self, stream: BinaryIO, selection: Selection) -> formats.Writer:
        """Return a writer of rows."""
        return Writer(stream, selection)

    def copied(self, stream: BinaryIO, selection: Selection) -> Iterator[str]:
        """Give the paths of all columns, and fields in them, that are not selected.

        Raises InputError when a selected one is not there.
        """
        schema = _open(stream, "file").schema_arrow
        for path in selection.fields:
            _arrow.column(schema, path, "file")
        yield from leaves(schema, selection.fields)

    def others(self, record: Record, selection: Selection) -> Iterator[tuple[str, str]]:
        """Give the strings of a record that are copied, with their paths."""
        assert isinstance(record.rest, Rest)
        page, row = record.rest
        schema = page.head.schema
        for path in _arrow.leaf_paths(schema, only_text=True):
            if path in selection.named:
                continue
            column = _arrow.column(schema, path, "")
            (value,) = _arrow.values(
                page.batch.column(column.index)[row:][:1], column.steps
            )
            yield path, " ".join(text for text in _arrow.texts(value) if text)


def _open(stream: BinaryIO, location: str) -> _arrow.File:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtra.of("Parquet", "parquet") from None
    if not stream.seekable():
        # Not a temporary file: private text would stay on the disk.
        data = stream.read(_IN_MEMORY + 1)
        if len(data) > _IN_MEMORY:
            raise InputError(
                f"{location}: over {_IN_MEMORY >> 30} GiB cannot be read from a pipe "
                "or a compressed file; give the path of a plain one"
            )
        stream = io.BytesIO(data)
    try:
        return pq.ParquetFile(stream, pre_buffer=False, buffer_size=2**20)
    except (pa.ArrowException, OSError):
        raise InputError(
            f"{location}: not a Parquet file, or cut off; choose with --format"
        ) from None


def _head(file: _arrow.File, selection: Selection, location: str) -> Head:
    schema, metadata = file.schema_arrow, file.metadata
    columns = _arrow.columns(schema, selection.fields, location)
    others = _other_leaves(schema, {column.index for column in columns})
    codec = "SNAPPY"
    if metadata.num_row_groups and others:
        codec = metadata.row_group(0).column(others[0]).compression
    leaves = (file.schema.column(i) for i in range(metadata.num_columns))
    int96 = any(leaf.physical_type == "INT96" for leaf in leaves)
    released = _metadata.released(schema, columns)
    return Head(released, columns, codec.replace("UNCOMPRESSED", "NONE"), int96)


def _other_leaves(schema: _arrow.Schema, selected: set[int]) -> list[int]:
    """Return the numbers, in the file, of all columns without selected texts."""
    numbers: list[int] = []
    number = 0
    for index, field in enumerate(schema):
        count = _arrow.leaves(field.type)
        numbers += () if index in selected else range(number, number + count)
        number += count
    return numbers


def _batches(file: _arrow.File, location: str) -> Iterator[_arrow.Batch]:
    """Give the rows, some at a time."""
    import pyarrow as pa

    try:
        yield from file.iter_batches(batch_size=ROWS)
    except (pa.ArrowException, OSError):
        raise InputError(
            f"{location}: damaged Parquet data; write the file again"
        ) from None


def _subject(page: Page, row: int, selection: Selection) -> str | None:
    """Return whom a row is about, where a field says it."""
    if page.subjects is None:
        return None
    return _subjects.of_value(page.subjects[row], selection.subject_field or "")
