"""Released vectors as files: .npy, .npz, .parquet, in constant memory."""

from __future__ import annotations

import contextlib
import math
import shutil
import tempfile
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import IO, Any, BinaryIO, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from dptext import models
from dptext.errors import InputError, UsageError
from dptext.streams import plain_name, unpacked

# Rows of a group of a Parquet file.
_BLOCK = 2**14
# Ids that are read at once.
_IDS = 1024
# Types of columns other than the vectors.
_TYPES = {"id": "string", "record": "int64", "text": "int32", "word": "int32"}
# Objects of pyarrow, which has no type hints.
Arrow = Any
Columns = Mapping[str, NDArray[Any]]


class VectorWriter(ABC):
    """Writes named columns in batches of rows, with vector (n, m) last."""

    def __init__(self, stream: BinaryIO) -> None:
        self.rows = 0
        self.names: tuple[str, ...] = ()
        self._stream = stream

    @abstractmethod
    def write(self, columns: Columns) -> None:
        """Write or keep rows; the base class counts them."""
        self.names = tuple(columns)
        self.rows += len(columns["vector"])

    @abstractmethod
    def close(self) -> None:
        """Write all kept rows, leaving the stream open."""


class _Spool:
    """A column in a temporary file, as its header needs the number of rows."""

    def __init__(self, values: NDArray[Any]) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile()
        self._kind, self._shape, self._rows = values.dtype, values.shape[1:], 0
        self.add(values)

    def add(self, values: NDArray[Any]) -> None:
        self._file.write(np.ascontiguousarray(values, self._kind).tobytes())
        self._rows += len(values)

    def write(self, stream: BinaryIO) -> None:
        """Write the column in numpy's format."""
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
    """Writes one array per column; ids, of any length, are kept in memory."""

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__(stream)
        self._spools: dict[str, _Spool] = {}
        self._texts: dict[str, list[NDArray[Any]]] = {}

    def write(self, columns: Columns) -> None:
        """Keep rows until the end."""
        super().write(columns)
        for name, values in columns.items():
            if values.dtype == object:
                self._texts.setdefault(name, []).append(values)
            elif name in self._spools:
                self._spools[name].add(values)
            else:
                self._spools[name] = _Spool(values)

    def close(self) -> None:
        """Write the zip file, with the same time in all entries."""
        for name, blocks in self._texts.items():
            self._spools[name] = _Spool(np.concatenate(blocks).astype(str))
        with zipfile.ZipFile(self._stream, "w", zipfile.ZIP_STORED) as file:
            for name, spool in self._spools.items():
                info = zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0))
                with file.open(info, "w", force_zip64=True) as member:
                    spool.write(cast(BinaryIO, member))


class NpyWriter(NpzWriter):
    """Writes only the vectors, (n, m) float32."""

    def write(self, columns: Columns) -> None:
        """Keep the vectors of rows until the end."""
        super().write({"vector": columns["vector"]})

    def close(self) -> None:
        """Write the array."""
        self._spools["vector"].write(self._stream)


class ParquetWriter(VectorWriter):
    """Writes a table with vectors as fixed-size lists, uncompressed.

    Row groups have a fixed size: the file does not depend on the batches of rows.
    """

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__(stream)
        self._waiting: list[Columns] = []
        self._writer: Arrow = None

    def write(self, columns: Columns) -> None:
        """Keep rows until a block is full."""
        super().write(columns)
        self._waiting.append(columns)
        if sum(len(each["vector"]) for each in self._waiting) >= _BLOCK:
            self._write_blocks()

    def _write_blocks(self, last: bool = False) -> None:
        """Write full blocks of waiting rows; at the end, all rows, even if none."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        values = [
            np.concatenate([each[name] for each in self._waiting])
            for name in self.names
        ]
        columns = [
            pa.array(each, pa.string() if each.dtype == object else None)
            for each in values[:-1]
        ]
        flat = pa.array(np.ascontiguousarray(values[-1]).ravel())
        columns.append(pa.FixedSizeListArray.from_arrays(flat, values[-1].shape[1]))
        batch = pa.RecordBatch.from_arrays(columns, names=list(self.names))
        if self._writer is None:
            self._writer = pq.ParquetWriter(
                self._stream, batch.schema, compression="NONE", use_dictionary=False
            )
        end = len(batch) if last else len(batch) // _BLOCK * _BLOCK
        for begin in range(0, end, _BLOCK) if self.rows else (0,):
            self._writer.write_batch(batch.slice(begin, min(_BLOCK, end - begin)))
        rest = (each[end:] for each in values)
        self._waiting = [dict(zip(self.names, rest, strict=True))]

    def close(self) -> None:
        """Write the remaining rows and the footer."""
        self._write_blocks(last=True)
        self._writer.close()


WRITERS: dict[str, type[VectorWriter]] = {
    ".npy": NpyWriter,
    ".npz": NpzWriter,
    ".parquet": ParquetWriter,
}


def suffix(path: str) -> str:
    """Return the format suffix of a file name, ignoring a compression suffix."""
    return PurePath(plain_name(path)).suffix.lower()


def find(path: str | None) -> type[VectorWriter]:
    """Return the writer for a file name. Raises UsageError and MissingExtra."""
    if path is None or path == "-" or suffix(path) not in WRITERS:
        raise UsageError(f"give -o a name ending in {', '.join(WRITERS)}")
    writer = WRITERS[suffix(path)]
    if writer is ParquetWriter:
        models.package("pyarrow", "Parquet", "parquet")
    return writer


class Shape(NamedTuple):
    """Columns and row count of a file."""

    #: Types of columns by name, such as "float32[300]".
    columns: dict[str, str]
    rows: int

    @classmethod
    def from_names(cls, names: tuple[str, ...], rows: int, width: int) -> Shape:
        """Return the shape of a file that dptext writes."""
        types = {**_TYPES, "vector": f"float32[{width}]"}
        return cls({name: types[name] for name in names}, rows)


def shape(plain: BinaryIO, path: str) -> Shape:
    """Read a file to its end; return its columns and row count.

    Raises InputError unless it is complete and in the format of its name, UsageError
    for an unknown format, and MissingExtra.
    """
    writer = find(path)
    with _seekable(plain, path) as stream:
        if writer is NpyWriter:
            kind, rows = _read_array(stream)
            return Shape({"vector": kind}, rows)
        return _read_archive(stream) if writer is NpzWriter else _read_table(stream)


@contextlib.contextmanager
def _seekable(plain: BinaryIO, path: str) -> Iterator[BinaryIO]:
    """Decompress a written file for a block; read errors become InputError."""
    with contextlib.ExitStack() as stack:
        stream: BinaryIO = stack.enter_context(unpacked(plain, path))
        if not stream.seekable():
            copy = stack.enter_context(tempfile.TemporaryFile())
            shutil.copyfileobj(stream, copy, 2**20)
            copy.seek(0)
            stream = cast(BinaryIO, copy)
        try:
            yield stream
        except (OSError, ValueError, EOFError, zipfile.BadZipFile):
            raise InputError(f"not a readable {suffix(path)} file") from None


def ids(plain: BinaryIO, path: str) -> Iterator[list[str]]:
    """Yield the ids in a file of vectors, in blocks. Raises as `shape`."""
    writer = find(path)
    with _seekable(plain, path) as stream:
        if writer is NpzWriter:
            with zipfile.ZipFile(stream) as file, file.open("id.npy") as member:
                np.lib.format.read_magic(member)
                _, _, dtype = np.lib.format.read_array_header_1_0(member)
                while data := member.read(_IDS * dtype.itemsize):
                    yield np.frombuffer(data, dtype).tolist()
        elif writer is ParquetWriter:
            import pyarrow.parquet as pq

            for batch in pq.ParquetFile(stream).iter_batches(_IDS, columns=["id"]):
                yield batch.column(0).to_pylist()


def _read_array(stream: IO[bytes]) -> tuple[str, int]:
    """Read a numpy array to its end; return its type and rows."""
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError
    (rows, *inside), fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    size = sum(map(len, iter(lambda: stream.read(2**20), b"")))
    if fortran or size != dtype.itemsize * rows * math.prod(inside):
        raise ValueError
    kind = "string" if dtype.kind == "U" else dtype.name
    return kind + "".join(f"[{each}]" for each in inside), rows


def _read_archive(stream: BinaryIO) -> Shape:
    columns: dict[str, str] = {}
    counts = set()
    with zipfile.ZipFile(stream) as file:
        for name in file.namelist():
            with file.open(name) as member:
                kind, rows = _read_array(member)
            if not name.endswith(".npy") or name[:-4] in columns:
                raise ValueError
            columns[name[:-4]] = kind
            counts.add(rows)
    (rows,) = counts
    return Shape(columns, rows)


def _read_table(stream: BinaryIO) -> Shape:
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
