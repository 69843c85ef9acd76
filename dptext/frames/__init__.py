"""Tables in memory: sanitizes text columns; other columns are shared, not copied.

Tables of all libraries become a narrow Arrow table of the columns to read, which
comes back with the same new texts as a file of these rows (`PrivateColumns`).
Libraries are imported on use.
"""

from __future__ import annotations

import secrets
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dptext import pipeline as pipelines
from dptext import progress, randomness
from dptext.engine import fields, job
from dptext.engine.identifying import FieldValues, identifying
from dptext.engine.language import Language
from dptext.engine.tally import Repeats, Tally
from dptext.errors import InputError, MissingExtra, UnknownFieldError, UsageError
from dptext.formats import Unreadable, _arrow, _fields
from dptext.formats._arrow import RowPage, TableHead
from dptext.formats._arrow_fields import FieldChanges
from dptext.lexicons.public_rows import PublicRows
from dptext.pipeline import Pipeline
from dptext.run.selection import REPLACEMENT, Selection
from dptext.types import Record

# A table or column of one of the libraries, none of which need be there.
Foreign = Any
_LOCATION = "the table"
_ROWS = 4096  # that are read and rebuilt at once


class PrivateColumns:
    """Sanitizes the columns of a run; its tables are rows of one input.

    With a tally rows are counted, and language checks the first records. The number of
    rows so far is `rows`, of all rows `total`, for a progress bar. Rows with equal id
    and texts are counted and drawn separately, except in partitions, where no process
    reads all rows.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        key: randomness.RunKey,
        selection: Selection,
        tally: Tally | None = None,
        language: Language | None = None,
        *,
        is_whole: bool = True,
        total: int = 0,
    ) -> None:
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            raise MissingExtra.for_package("a table", "parquet") from None
        self.rows, self._total = 0, total
        self._pipeline, self._randomness = pipeline, pipeline.randomness(key)
        self._selection, self._tally = selection, tally
        public = PublicRows(pipeline.lexicon)
        self._language = language or Language(public=public)
        self._replacement = job.find_replacement(selection, key)
        counts = is_whole and selection.id_field is not None
        self._repeats = Repeats() if counts else None

    def __call__(self, table: _arrow.Table, start: int = 0) -> _arrow.Table:
        """Return a table with new texts; start is the number of its first row.

        The schema is the same without metadata and widths of a dictionary's index,
        which may tell of the old texts, and without dropped fields; replaced ones
        are strings.
        Raises InputError for a column that holds no text, and for a null where none
        is allowed.
        """
        import pyarrow as pa

        head = TableHead.from_schema(table.schema, self._selection, _LOCATION)
        head = replace(head, schema=head.schema.remove_metadata())
        changes = self.changes(head.schema)
        schema = head.schema if changes is None else changes.schema
        batches = []
        for batch in table.to_batches(max_chunksize=_ROWS):
            page = RowPage.from_batch(head, batch, f"{_LOCATION}: rows from {start}")
            new = _arrow.with_texts(head, batch, self._texts(page, start))
            batches.append(
                new if changes is None else changes.apply(new, self._replacement)
            )
            start += batch.num_rows
            if self._total:
                progress.share("rows", start / self._total)
        self._language.close()
        self.rows += table.num_rows
        if self._tally is not None:
            counts = dict.fromkeys(self._selection.fields, table.num_rows)
            self._tally.fields.update(counts)
        return pa.Table.from_batches(batches, schema=schema).unify_dictionaries()

    def selected(self, schema: _arrow.Schema) -> tuple[_arrow.ArrowColumn, ...]:
        """Return the positions of the texts in a table. Raises InputError."""
        return _arrow.columns(schema, self._selection.fields, _LOCATION)

    def changes(self, schema: _arrow.Schema) -> FieldChanges | None:
        """Return the treatment of a table's other fields, or None.

        Dropped columns may be missing from it already. Raises UsageError
        and InputError.
        """
        there = [
            path
            for path in self._selection.dropped
            if len(names := _fields.parse(path)) > 1 or names[0] in schema.names
        ]
        selection = replace(self._selection, dropped=tuple(there))
        if not selection.changed:
            return None
        return FieldChanges.from_selection(schema, selection, _LOCATION)

    def texts(self, schema: _arrow.Schema) -> list[str]:
        """Return the names of the columns that hold texts."""
        numbers = (column.index for column in self.selected(schema))
        return [schema.names[number] for number in dict.fromkeys(numbers)]

    def names(self, schema: _arrow.Schema) -> list[str]:
        """Return the names of the columns that change and stay, in order."""
        changes, changed = self.changes(schema), {*self.texts(schema)}
        if changes is None:
            return [name for name in schema.names if name in changed]
        changed |= {schema.names[number] for number in changes.plan}
        kept = set(changes.schema.names)
        return [name for name in schema.names if name in changed & kept]

    def gone(self, schema: _arrow.Schema) -> list[str]:
        """Return the names of columns that are dropped entirely."""
        paths = map(_fields.parse, self._selection.dropped)
        whole = [names[0] for names in paths if len(names) == 1]
        changes = self.changes(schema)
        kept = schema.names if changes is None else changes.schema.names
        return [*whole, *(each for each in schema.names if each not in (*kept, *whole))]

    def _texts(self, page: RowPage, start: int) -> list[list[_arrow.Value]]:
        """Return the new values of each column in a page."""
        new: list[list[_arrow.Value]] = [[] for _ in page.values]
        rows = zip(*page.values, strict=True)
        for batch in pipelines.batches(self._records(page, start)):
            self._language.look(batch)
            private = self._pipeline.privatize(batch, self._randomness)
            if self._tally is not None:
                self._tally.count(private)
            for texts, values in zip(private.texts, rows, strict=False):
                remaining = iter(texts)
                for into, value in zip(new, values, strict=True):
                    into.append(_arrow.refill(value, remaining))
        return new

    def _records(self, page: RowPage, start: int) -> Iterator[Record]:
        for row in range(page.batch.num_rows):
            try:
                record = page.record(row, self._selection, start + row)
                if self._repeats is not None:
                    record = replace(record, repeat=self._repeats.count(record))
                yield record
            except Unreadable as error:
                advice = f"; {error.advice}" if error.advice else ""
                raise InputError(
                    f"row {start + row}, counted from 0: {error}{advice}"
                ) from None


class Frame(ABC):
    """A table from some library, accessed by column names."""

    def __init__(self, frame: Foreign) -> None:
        self.frame = frame

    @property
    def names(self) -> Sequence[object]:
        """Return the names of all columns, of any type."""
        return list(self.frame.columns)

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return len(self.frame)

    @abstractmethod
    def privatized(
        self, names: Sequence[str], columns: PrivateColumns, start: int
    ) -> Foreign:
        """Return the table with new texts; only the named columns are read.

        start: the number of its first row. Raises InputError and UsageError.
        """

    def values(self, name: str, rows: int) -> Sequence[object]:
        """Return the first values of a column that occurs once, or its texts."""
        return list(self.frame[name].head(rows))

    def identifying(self, selection: Selection) -> dict[str, str]:
        """Return the copied fields that look identifying.

        Texts inside lists and structs are identified by path, as in a file.
        """
        changed = {
            _fields.parse(path) for path in (*selection.fields, *selection.changed)
        }
        every = [name for name in self.names if isinstance(name, str)]
        values: dict[tuple[str, ...], FieldValues] = {}
        for name in every:
            known = self.values(name, fields.SAMPLE) if every.count(name) == 1 else ()
            by_path: dict[tuple[str, ...], FieldValues] = {}
            for value in known:
                for path, text in _strings(value, (name,)):
                    by_path.setdefault(path, FieldValues()).add(text)
            if len(by_path) > 1:  # where a struct is null
                by_path.pop((name,), None)
            values |= by_path or {(name,): FieldValues()}
        values = {
            path: each
            for path, each in values.items()
            if not any(path[: len(names)] == names for names in changed)
        }
        named = {_fields.joined(path): each for path, each in values.items()}
        return identifying(named, named)

    def selected(self, chosen: Selection) -> tuple[Selection, list[str]]:
        """Return the selection for rows, and the columns to read, in order.

        A path equal to a column name means that column. Raises
        UnknownFieldError for a missing column, and UsageError for one that
        occurs twice.
        """
        every = [name for name in self.names if isinstance(name, str)]
        if not chosen.fields:
            raise UsageError("columns: name at least one")

        def found(paths: Sequence[str], use: str) -> tuple[str, ...]:
            return tuple(_field(path, every, use) for path in paths)

        named = chosen.id_field
        selection = replace(
            chosen,
            fields=found(chosen.fields, "columns"),
            id_field=None if named is None else _field(named, every, "id"),
            max_record_bytes=sys.maxsize,
            dropped=tuple(dict.fromkeys(found(chosen.dropped, "drop"))),
            replaced=tuple(dict.fromkeys(found(chosen.replaced, REPLACEMENT))),
        )
        # Refuses fields within each other.
        used = _fields.tree(selection).below
        # Columns that are left out as a whole need not be read, unless they name rows.
        read = {
            name
            for name, node in used.items()
            if node.holds_name or not node.is_dropped
        }
        # In the order of the table, as a file is read: randomness goes by all texts.
        return selection, [name for name in every if name in read]

    def unchanged(self, selection: Selection) -> list[str]:
        """Return the names of columns that stay entirely unchanged.

        Empty if paths lead into columns, or if names are not text: then others
        may stay.
        """
        changed = (*selection.fields, *selection.changed)
        paths = [_fields.parse(path) for path in changed]
        if any(len(path) > 1 for path in paths):
            return []
        names = {name for (name,) in paths}
        every = [name for name in self.names if isinstance(name, str)]
        if len(every) < len(self.names):
            return []
        return [name for name in every if name not in names]


def _strings(
    value: object, path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the texts in a value with their paths; "" for a value without text."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _strings(inner, (*path, str(name)))
    elif isinstance(value, str):
        yield path, value
    elif hasattr(value, "tolist") or hasattr(value, "to_list"):  # of numpy or Polars
        listed = getattr(value, "to_list", None) or value.tolist  # type: ignore[attr-defined]
        inner = listed()
        yield from _strings(inner if isinstance(inner, list) else None, path)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _strings(inner, path)
    else:
        yield path, ""


def _field(path: str, every: Sequence[str], use: str) -> str:
    """Return the path of a column; use: the parameter that names it, for errors."""
    field = _fields.joined([path]) if path in every else path
    name = _fields.parse(field)[0]
    if name not in every:
        known = list(filter(_fields.is_plain, every))
        parts = [part.strip() for part in name.split(",")]
        hint = _fields.nearest(name, known)
        if len(parts) > 1:
            hint = f"; a list names several: {parts}"
        raise UnknownFieldError(
            f"{use}: no column {name!r} in the table{_fields.listed(known, 'columns')}"
            f"{hint}"
        )
    if every.count(name) > 1:
        raise UsageError(f"column {name!r} occurs more than once; rename one of them")
    return field


def _array(values: Foreign, name: str) -> _arrow.Array:
    """Convert a column of Python values to an Arrow array.

    A column of only nulls counts as text. Raises InputError for values of
    which Arrow cannot make a column; Arrow's message would quote them.
    """
    import pyarrow as pa

    try:
        column = pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        raise InputError(
            f"column {name!r} contains values of several types, or invalid Unicode; "
            "convert all values to text"
        ) from None
    if _arrow.is_kind(column.type, "is_null"):
        return column.cast(pa.string())
    return column


# The kinds of dtypes that hold no text: numbers, truth values, times.
_NO_TEXT = "biufcmM"


class PandasFrame(Frame):
    """A pandas data frame; the result shares its index and other columns."""

    def privatized(
        self, names: Sequence[str], columns: PrivateColumns, start: int
    ) -> Foreign:
        """Return the data frame with new texts, keeping dtypes and kinds of null."""
        import pyarrow as pa

        frame = self.frame
        table = pa.table({name: _array(frame[name], name) for name in names})
        new = columns(table, start)
        changed = frame.copy(deep=False)
        for name in columns.names(table.schema):
            changed[name] = self._series(frame[name], new.column(name))
        return changed.drop(columns=columns.gone(table.schema))

    @staticmethod
    def _series(old: Foreign, new: _arrow.Array) -> Foreign:
        """Return a series like the old one with new texts."""
        import pandas as pd

        values: Foreign = new.to_pylist()
        dtype = old.dtype
        if isinstance(dtype, pd.CategoricalDtype):
            dtype = pd.CategoricalDtype(ordered=dtype.ordered)
        elif isinstance(dtype, pd.ArrowDtype):
            values, dtype = pd.array(new, dtype=pd.ArrowDtype(new.type)), None
        elif dtype.kind in _NO_TEXT:
            dtype = None  # of replaced values
        elif old.dtype == object:
            pairs = zip(old, values, strict=True)
            values = [was if value is None else value for was, value in pairs]
        return pd.Series(values, old.index, name=old.name, dtype=dtype)


class PolarsFrame(Frame):
    """A Polars data frame; the result shares its other columns."""

    def privatized(
        self, names: Sequence[str], columns: PrivateColumns, start: int
    ) -> Foreign:
        """Return the data frame with new texts; categoricals get new categories."""
        import polars as pl

        table = self.frame.select(names).to_arrow()
        for name in columns.texts(table.schema):
            if isinstance(self.frame.schema[name], pl.Enum):
                raise InputError(
                    f"column {name!r} is an Enum, which cannot contain new words; cast "
                    "it to String"
                )
        new = columns(table, start).select(columns.names(table.schema))
        written: Foreign = pl.from_arrow(new)  # a data frame, as new is a table
        changed = self.frame.with_columns(written.get_columns())
        return changed.drop(columns.gone(table.schema))


class ArrowTable(Frame):
    """A pyarrow table or record batch; the result shares its other columns.

    Metadata of the new columns is dropped, as in a Parquet file.
    """

    @property
    def names(self) -> Sequence[str]:
        """Return the names of all columns."""
        names: list[str] = self.frame.schema.names
        return names

    def values(self, name: str, rows: int) -> Sequence[object]:
        """Return the first values of a column."""
        return list(self.frame.column(name).slice(0, rows).to_pylist())

    def privatized(
        self, names: Sequence[str], columns: PrivateColumns, start: int
    ) -> Foreign:
        """Return the table or batch with new texts."""
        import pyarrow as pa

        is_batch = isinstance(self.frame, pa.RecordBatch)
        table = pa.Table.from_batches([self.frame]) if is_batch else self.frame
        narrow = table.select(list(names))
        new, changed = columns(narrow, start), columns.names(narrow.schema)
        gone = columns.gone(narrow.schema)
        for name in changed:
            at = table.schema.get_field_index(name)
            table = table.set_column(at, new.schema.field(name), new.column(name))
        metadata = _arrow.without_columns(table.schema.metadata, {*gone}, {*changed})
        table = table.drop_columns(gone).replace_schema_metadata(metadata)
        if not is_batch:
            return table
        arrays = [
            column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
            for column in table.columns
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=table.schema)


class DataSet(Frame):
    """A Hugging Face data set; other columns are added back unchanged.

    Only the text columns go through its batched `map`, which stores only the new texts
    on disk. Its cache of results is not used: every call draws anew, or by key.
    """

    @property
    def names(self) -> Sequence[str]:
        """Return the names of all columns."""
        return list(self.frame.column_names)

    def values(self, name: str, rows: int) -> Sequence[object]:
        """Return the first values of a column as stored, without decoding."""
        dataset = self.frame.select_columns([name])
        kinds = (kind for _, kind in _arrow.leaves(dataset.features.arrow_schema))
        if not any(map(_arrow.holds_text, kinds)):
            return [None] * min(rows, len(dataset))
        return list(dataset.with_format("arrow")[:rows].column(name).to_pylist())

    def privatized(
        self, names: Sequence[str], columns: PrivateColumns, start: int
    ) -> Foreign:
        """Return the data set with new texts, keeping features and format."""
        import datasets

        dataset, schema = self.frame, self.frame.features.arrow_schema
        changed, gone = columns.names(schema), columns.gone(schema)
        texts, changes = columns.texts(schema), columns.changes(schema)
        features = {name: dataset.features[name] for name in texts}
        if changes is not None:
            of_schema = datasets.Features.from_arrow_schema(changes.schema)
            features |= {
                name: of_schema[name]
                for name in changed
                if schema.names.index(name) in changes.plan
            }
        if not len(dataset):
            dataset = dataset.remove_columns(gone)
            return dataset.cast(datasets.Features({**dataset.features, **features}))

        def replaced(batch: _arrow.Table, rows: list[int]) -> _arrow.Table:
            return columns(batch, start + rows[0]).select(changed)

        new = (
            dataset.select_columns(list(names))
            .with_format("arrow")
            .map(
                replaced,
                batched=True,
                with_indices=True,
                remove_columns=list(names),
                features=datasets.Features({name: features[name] for name in changed}),
                load_from_cache_file=False,
                new_fingerprint=secrets.token_hex(8),
                desc="dptext",
            )
            .select_columns(changed)
        )
        others = dataset.with_format(None).remove_columns([*changed, *gone])
        parts = [part.with_format(None) for part in (others, new) if part.column_names]
        joined = parts[0]
        if len(parts) > 1:
            joined = datasets.concatenate_datasets(parts, axis=1)
        shown = dataset.format
        kept = [name for name in dataset.column_names if name not in gone]
        formatted = [name for name in shown["columns"] if name not in gone]
        return joined.select_columns(kept).with_format(
            shown["type"],
            columns=formatted if shown["type"] else None,
            output_all_columns=shown["output_all_columns"],
            **shown["format_kwargs"],
        )


class DataSets(Frame):
    """The splits of a data set, treated as consecutive rows of one run."""

    @property
    def names(self) -> Sequence[str]:
        """Return the names of the columns, the same in all splits."""
        names = [list(split.column_names) for split in self.frame.values()]
        if any(sorted(each) != sorted(names[0]) for each in names):
            raise UsageError("the splits have different columns: pass them one by one")
        return names[0] if names else []

    def values(self, name: str, rows: int) -> Sequence[object]:
        """Return the first texts of a column from each split."""
        splits = map(DataSet, self.frame.values())
        return [value for split in splits for value in split.values(name, rows)]

    @property
    def rows(self) -> int:
        """Return the total number of rows over all splits."""
        return sum(map(len, self.frame.values()))

    def privatized(
        self, names: Sequence[str], columns: PrivateColumns, start: int
    ) -> Foreign:
        """Return the splits with new texts."""
        splits = type(self.frame)()
        for name, split in self.frame.items():
            splits[name] = DataSet(split).privatized(names, columns, start)
            start += len(split)
        return splits


# By library and class.
_KINDS: dict[tuple[str, str], type[Frame]] = {
    ("pandas", "DataFrame"): PandasFrame,
    ("polars", "DataFrame"): PolarsFrame,
    ("pyarrow", "Table"): ArrowTable,
    ("pyarrow", "RecordBatch"): ArrowTable,
    ("datasets", "Dataset"): DataSet,
    ("datasets", "DatasetDict"): DataSets,
}
_LAZY = ("LazyFrame", "IterableDataset", "IterableDatasetDict")


def wrap(frame: object) -> Frame:
    """Wrap a table by its type. Raises TypeError for any other object."""
    name = type(frame).__name__
    for kind in type(frame).__mro__:
        library = kind.__module__.partition(".")[0]
        if (library, kind.__name__) in _KINDS:
            return _KINDS[library, kind.__name__](frame)
    if type(frame).__module__.startswith("pyspark."):
        raise TypeError("this is a Spark DataFrame: use dptext.spark.privatize")
    if name in _LAZY:
        raise TypeError(
            f"a {name} is lazy and has no rows yet: collect it, or save it as Parquet "
            "for `dptext sanitize`"
        )
    if isinstance(frame, Mapping):
        raise TypeError(
            f"a {name} is not a table: convert it, for example with "
            "pandas.DataFrame, or give a list of texts and no columns"
        )
    raise TypeError(
        "columns apply to tables (pandas, Polars, pyarrow, datasets), and this is a "
        f"{name}: leave columns out for a text or an iterable of texts"
    )
