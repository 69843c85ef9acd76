"""Tables in memory: text columns become private, all others are shared, not copied.

One file for each library; what they have in common is a narrow Arrow table, which holds
the columns that are read, and comes back with new texts (dptext.frames.columns).
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from importlib import import_module
from typing import Generic, TypeVar

from dptext.engine.fields import SAMPLE
from dptext.engine.identifying import Identifying, Kind
from dptext.errors import UsageError
from dptext.formats import _fields
from dptext.frames.columns import Columns as Columns
from dptext.types import Selection

# What a library's own classes are handled by.
_LIBRARIES = {
    "pandas": "pandas_frames",
    "polars": "polars_frames",
    "pyarrow": "arrow_tables",
    "datasets": "data_sets",
}
_LAZY = {
    "LazyFrame": "holds no rows yet: call its collect() first",
    "IterableDataset": "is a stream: save it as Parquet for `dptext sanitize`",
    "IterableDatasetDict": "is a stream: save its parts as Parquet for "
    "`dptext sanitize`",
}

Kept = TypeVar("Kept")


class Frame(ABC, Generic[Kept]):
    """A table of some library, under the names of its columns."""

    def __init__(self, frame: Kept) -> None:
        self.frame = frame

    @property
    @abstractmethod
    def names(self) -> Sequence[object]:
        """Return the names of all columns."""

    @abstractmethod
    def privatized(self, names: Sequence[str], columns: Columns, start: int) -> Kept:
        """Return the table with new texts; only the named columns are read.

        start is the number of its first row. Raises InputError and UsageError.
        """

    @abstractmethod
    def values(self, name: str, rows: int) -> Sequence[object]:
        """Return the first values of a column that is there once, or of its texts."""

    def identifying(self, selection: Selection) -> dict[str, Kind]:
        """Return which columns look identifying, of those that are not private."""
        private = {_fields.parse(path)[0] for path in selection.fields}
        every = [name for name in self.names if isinstance(name, str)]
        names = [name for name in every if name not in private]
        fields = Identifying()
        for name in names if len(set(every)) == len(every) else ():
            for value in self.values(name, SAMPLE):
                fields.add([(name, value if isinstance(value, str) else "")])
        return fields.kinds(names)

    def selected(
        self, paths: Sequence[str], id: str | None, missing: str
    ) -> tuple[Selection, list[str]]:
        """Return what is private in a row, and which columns to read, in their order.

        A path that is a column's name as it stands means that column. Raises UsageError
        for a column that is not there, or there twice, and TypeError for what is no
        name.
        """
        for path in (*paths, *([] if id is None else [id])):
            if not isinstance(path, str):
                raise TypeError(
                    f"columns: give names of columns as str, not {type(path).__name__}"
                )
        if not paths:
            raise UsageError("columns: name at least one")
        if missing not in ("fail", "pass"):
            raise UsageError("missing: give 'fail' or 'pass'")
        every = [name for name in self.names if isinstance(name, str)]
        fields = tuple(_field(path, every) for path in paths)
        id_field = None if id is None else _field(id, every)
        read = (*fields, *([] if id_field is None else [id_field]))
        used = {_fields.parse(field)[0] for field in read}
        # In the order of the table, as a file is read: randomness goes by all texts.
        names = [name for name in every if name in used]
        selection = Selection(fields, id_field, missing, max_record_bytes=sys.maxsize)
        _fields.tree(selection)  # refuses fields within each other
        return selection, names


def _field(path: str, every: Sequence[str]) -> str:
    field = _fields.joined([path]) if path in every else path
    name = _fields.parse(field)[0]
    if every.count(name) != 1:
        if name in every:
            problem = f"column {name!r} occurs more than once; rename one of them"
        else:
            problem = f"there is no column {name!r}; name columns that hold text"
        raise UsageError(problem)
    return field


def library_of(frame: object) -> str | None:
    """Return the library that a table is of, by the classes it descends from."""
    for kind in type(frame).__mro__:
        name = kind.__module__.partition(".")[0]
        if name in _LIBRARIES:
            return name
    return None


def of(frame: Kept) -> Frame[Kept]:
    """Return what handles a table. Raises TypeError for what is none."""
    kind, library = type(frame).__name__, library_of(frame)
    if type(frame).__module__.startswith("pyspark."):
        raise TypeError("a DataFrame of Spark: call dptext.spark.privatize")
    if library is not None and kind in _LAZY:
        raise TypeError(f"a {kind} {_LAZY[kind]}")
    if library is not None:
        module = import_module(f"dptext.frames.{_LIBRARIES[library]}")
        for known, handler in module.KINDS.items():
            if isinstance(frame, known):
                wrapped: Frame[Kept] = handler(frame)
                return wrapped
    raise TypeError(
        f"columns are of a table of pandas, Polars, pyarrow or datasets, and this is a "
        f"{kind}: leave columns out for a text or an iterable of texts"
    )
