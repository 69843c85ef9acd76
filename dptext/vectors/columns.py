"""Released vectors as files: .npy, .npz, .parquet, in constant memory.

Rows are written in blocks of one size, so that no file depends on how they came.
"""

from __future__ import annotations

import contextlib
import math
import shutil
import tempfile
import zipfile
from abc import ABC, abstractmethod
from pathlib import PurePath
from typing import IO, Any, BinaryIO, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from dptext.errors import InputError, MissingExtra, UsageError
from dptext.streams import plain_name, unpacked

_BLOCK = 2**14
# What pyarrow gives, which has no types that a checker knows.
Arrow = Any


class VectorTable(NamedTuple):
    """Columns of one length by name, vector (n, m) the last."""

    names: tuple[str, ...]
    values: tuple[NDArray[Any], ...]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.values[-1])

    def part(self, begin: int, end: int) -> VectorTable:
        """Return some rows."""
        return VectorTable(self.names, tuple(each[begin:end] for each in self.values))


class VectorWriter(ABC):
    """Writes tables of the same columns, one after the other."""

    def __init__(self, stream: BinaryIO) -> None:
        self.rows = 0
        self.names: tuple[str, ...] = ()
        self._stream = stream
        self._waiting: list[VectorTable] = []

    def write(self, table: VectorTable) -> None:
        """Write rows, or keep them until a block is full."""
        self._waiting.append(table)
        if sum(map(len, self._waiting)) < _BLOCK:
            return
        joined = self._joined()
        filled = len(joined) // _BLOCK * _BLOCK
        for begin in range(0, filled, _BLOCK):
            self._put(joined.part(begin, begin + _BLOCK))
        self._waiting = [joined.part(filled, len(joined))]

    def close(self) -> None:
        """Write the last rows, even none; the stream stays open."""
        self._put(self._joined())
        self.end()

    def _joined(self) -> VectorTable:
        columns = zip(*(table.values for table in self._waiting), strict=True)
        return VectorTable(self._waiting[0].names, tuple(map(np.concatenate, columns)))

    def _put(self, table: VectorTable) -> None:
        self.names = table.names
        self.rows += len(table)
        self.block(table)

    @abstractmethod
    def block(self, table: VectorTable) -> None:
        """Write a block; the last one may be shorter, or empty."""

    @abstractmethod
    def end(self) -> None:
        """Write what stands after all rows."""


class _Spool:
    """A column on its way: its rows in a nameless file, as their number comes first."""

    def __init__(self, values: NDArray[Any]) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile()
        self._kind, self._shape, self._rows = values.dtype, values.shape[1:], 0

    def add(self, values: NDArray[Any]) -> None:
        self._file.write(np.ascontiguousarray(values, self._kind).tobytes())
        self._rows += len(values)

    def write(self, stream: BinaryIO) -> None:
        """Write the column as numpy's own format."""
        header = {
            "descr": np.lib.format.dtype_to_descr(self._kind),
            "fortran_order": False,
            "shape": (self._rows, *self._shape),
        }
        np.lib.format.write_array_header_1_0(stream, header)
        self._file.seek(0)
        shutil.copyfileobj(self._file, stream, 2**20)
        self._file.close()


class NpzWriter(VectorWriter):
    """An array for each column; ids, which have no one length, are held in memory."""

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__(stream)
        self._spools: dict[str, _Spool] = {}
        self._texts: dict[str, list[NDArray[Any]]] = {}

    def block(self, table: VectorTable) -> None:
        """Keep a block."""
        for name, values in zip(table.names, table.values, strict=True):
            if values.dtype == object:
                self._texts.setdefault(name, []).append(values)
            else:
                self._spools.setdefault(name, _Spool(values)).add(values)

    def end(self) -> None:
        """Write all; the time that a zip file wants is always the same."""
        for name, blocks in self._texts.items():
            texts = np.concatenate(blocks).astype(str)
            self._spools[name] = _Spool(texts)
            self._spools[name].add(texts)
        with zipfile.ZipFile(self._stream, "w", zipfile.ZIP_STORED) as file:
            for name, spool in self._spools.items():
                info = zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0))
                with file.open(info, "w", force_zip64=True) as member:
                    spool.write(cast(BinaryIO, member))


class NpyWriter(NpzWriter):
    """The vectors alone, (n, m) float32."""

    def block(self, table: VectorTable) -> None:
        """Keep the vectors of a block."""
        self.names = table.names[-1:]
        super().block(VectorTable(self.names, table.values[-1:]))

    def end(self) -> None:
        """Write all."""
        (spool,) = self._spools.values()
        spool.write(self._stream)


class ParquetWriter(VectorWriter):
    """Columns of a table, the vectors as lists of one length, not compressed."""

    _writer: Arrow = None

    def block(self, table: VectorTable) -> None:
        """Write a block."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        *others, vectors = table.values
        flat = pa.array(np.ascontiguousarray(vectors).ravel())
        columns = [
            pa.array(each, pa.string() if each.dtype == object else None)
            for each in others
        ]
        columns.append(pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1]))
        batch = pa.RecordBatch.from_arrays(columns, names=list(table.names))
        if self._writer is None:
            self._writer = pq.ParquetWriter(
                self._stream, batch.schema, compression="NONE", use_dictionary=False
            )
        if len(table) or not self.rows:
            self._writer.write_batch(batch)

    def end(self) -> None:
        """Write the footer."""
        self._writer.close()


WRITERS: dict[str, type[VectorWriter]] = {
    ".npy": NpyWriter,
    ".npz": NpzWriter,
    ".parquet": ParquetWriter,
}


def suffix(path: str) -> str:
    """Return the suffix that names the format of a file, compression taken off."""
    return PurePath(plain_name(path)).suffix.lower()


def find(path: str | None) -> type[VectorWriter]:
    """Return what writes a file of this name. Raises UsageError and MissingExtra."""
    if path is None or path == "-" or suffix(path) not in WRITERS:
        raise UsageError(f"give -o a name that ends in {', '.join(WRITERS)}")
    writer = WRITERS[suffix(path)]
    if writer is ParquetWriter:
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            raise MissingExtra.of("Parquet", "parquet") from None
    return writer


class Shape(NamedTuple):
    """Columns of a file with their types by name, as "float32[300]"; rows."""

    columns: dict[str, str]
    rows: int

    @classmethod
    def of(cls, names: tuple[str, ...], rows: int, width: int) -> Shape:
        """Return the shape of a file that dptext writes."""
        types = {**_TYPES, "vector": f"float32[{width}]"}
        return cls({name: types[name] for name in names}, rows)


_TYPES = {"id": "string", "record": "int64", "text": "int32", "word": "int32"}


def shape(plain: BinaryIO, path: str) -> Shape:
    """Read the shape of a written file, and that it is whole.

    Raises InputError for a file that is not as its name says, UsageError for another
    name, and MissingExtra.
    """
    writer = find(path)
    with contextlib.ExitStack() as stack:
        stream: BinaryIO = stack.enter_context(unpacked(plain, path))
        if not stream.seekable():
            copy = stack.enter_context(tempfile.TemporaryFile())
            shutil.copyfileobj(stream, copy, 2**20)
            copy.seek(0)
            stream = cast(BinaryIO, copy)
        try:
            if writer is NpyWriter:
                kind, rows = _array(stream)
                return Shape({"vector": kind}, rows)
            return _of_archive(stream) if writer is NpzWriter else _of_table(stream)
        except (OSError, ValueError, EOFError, zipfile.BadZipFile):
            raise InputError(f"not a readable {suffix(path)} file") from None


def _array(stream: IO[bytes]) -> tuple[str, int]:
    """Read an array in numpy's own format to its end: its type, and rows."""
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError
    header = np.lib.format.read_array_header_1_0(stream)
    (rows, *inside), fortran, dtype = header
    size = sum(map(len, iter(lambda: stream.read(2**20), b"")))
    if fortran or size != dtype.itemsize * rows * math.prod(inside):
        raise ValueError
    kind = "string" if dtype.kind == "U" else dtype.name
    return kind + "".join(f"[{each}]" for each in inside), rows


def _of_archive(stream: BinaryIO) -> Shape:
    columns: dict[str, str] = {}
    counts = set()
    with zipfile.ZipFile(stream) as file:
        for name in file.namelist():
            with file.open(name) as member:
                kind, rows = _array(member)
            if not name.endswith(".npy") or name[:-4] in columns:
                raise ValueError
            columns[name[:-4]] = kind
            counts.add(rows)
    (rows,) = counts
    return Shape(columns, rows)


def _of_table(stream: BinaryIO) -> Shape:
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = pq.ParquetFile(stream)
    schema, rows = file.schema_arrow, file.metadata.num_rows
    kinds = [str(each.type) for each in schema]
    for index, each in enumerate(schema):
        if pa.types.is_fixed_size_list(each.type):
            inside = str(each.type.value_type).replace("float", "float32")
            kinds[index] = f"{inside}[{each.type.list_size}]"
    if len(set(schema.names)) < len(kinds):
        raise ValueError
    return Shape(dict(zip(schema.names, kinds, strict=True)), rows)
