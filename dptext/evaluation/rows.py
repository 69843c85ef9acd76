"""Read the values of fields from any format, original and private file in pairs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, BinaryIO

import msgspec

from dptext import formats, streams
from dptext.errors import InputError, UsageError
from dptext.formats._paths import parse
from dptext.models import package


@dataclass(frozen=True, slots=True)
class Pair:
    """A text before and after, and the values of further fields of the original."""

    before: str
    after: str
    values: tuple[str | None, ...] = ()


def pairs(
    original: str,
    private: str,
    fields: Sequence[str],
    values: Sequence[str] = (),
    *,
    format: str | None = None,
    id_field: str | None = None,
) -> Iterator[Pair]:
    """Read two files record by record; texts of several fields are joined by lines.

    values are further fields of the original, as text, None where they are absent.
    Raises InputError where the files do not belong together: other numbers of records,
    or, with an id field, other ids.
    """
    wanted = (*fields, *((id_field,) if id_field else ()))
    one = rows(original, (*wanted, *values), format)
    two = rows(private, wanted, format)
    count = len(fields)
    for number, (mine, other) in enumerate(zip_longest(one, two), 1):
        if mine is None or other is None:
            longer, shorter = (
                (original, private) if other is None else (private, original)
            )
            msg = (
                f"{longer}: record {number} has no partner in {shorter}; give the two "
                "files of one run, without records that were set aside"
            )
            raise InputError(msg)
        if id_field and mine[count] != other[count]:
            msg = f"{private}: record {number} has another {id_field} than {original}"
            raise InputError(msg)
        yield Pair(
            _text(mine[:count]), _text(other[:count]), tuple(mine[len(wanted) :])
        )


def _text(parts: Sequence[str | None]) -> str:
    return "\n".join(part for part in parts if part is not None)


def rows(
    path: str, fields: Sequence[str], format: str | None = None
) -> Iterator[list[str | None]]:
    """Yield the values of fields of each record, as text; lists are joined by lines.

    Raises InputError with file and line for what cannot be read.
    """
    name = format or formats.find(path).__name__.rpartition(".")[2]  # type: ignore[attr-defined]
    if name not in _READERS:
        msg = f"{path}: evaluate does not read the format {name}"
        raise UsageError(msg)
    with streams.open_input(path) as stream:
        yield from _READERS[name](stream, path, fields)


def _jsonl(stream: BinaryIO, path: str, fields: Sequence[str]) -> Iterator[list[Any]]:
    steps = [parse(field) for field in fields]
    for number, line in enumerate(stream, 1):
        if not line.strip():
            continue
        try:
            record = msgspec.json.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            msg = f"{path}:{number}: not JSON"
            raise InputError(msg) from None
        yield [_plain(_at(record, names)) for names in steps]


def _at(record: Any, names: Sequence[str]) -> Any:
    for name in names:
        record = record.get(name) if isinstance(record, dict) else None
    return record


def _plain(value: Any) -> str | None:
    if isinstance(value, list):
        return "\n".join(str(each) for each in value)
    return None if value is None else str(value)


def _delimited(delimiter: str) -> Any:
    def read(
        stream: BinaryIO, path: str, fields: Sequence[str]
    ) -> Iterator[list[str | None]]:
        text = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
        csv.field_size_limit(2**31 - 1)
        reader = csv.DictReader(text, delimiter=delimiter)
        for name in fields:
            if name not in (reader.fieldnames or ()):
                msg = f"{path}: no column {name!r}"
                raise UsageError(msg)
        try:
            for row in reader:
                yield [row[name] for name in fields]
        except (csv.Error, UnicodeDecodeError):
            msg = f"{path}:{reader.line_num}: not a table that can be read"
            raise InputError(msg) from None
        finally:
            text.detach()  # the stream is closed by who opened it

    return read


def _lines(
    stream: BinaryIO, path: str, fields: Sequence[str]
) -> Iterator[list[str | None]]:
    if set(fields) - {"text"}:
        msg = f"{path}: plain text has no fields"
        raise UsageError(msg)
    for number, line in enumerate(stream, 1):
        try:
            yield [line.decode("utf-8").rstrip("\r\n")] * len(fields)
        except UnicodeDecodeError:
            msg = f"{path}:{number}: not UTF-8"
            raise InputError(msg) from None


def _parquet(
    stream: BinaryIO, path: str, fields: Sequence[str]
) -> Iterator[list[str | None]]:
    parquet = package("pyarrow.parquet", "Parquet", "parquet")
    file = parquet.ParquetFile(path)
    steps = [parse(field) for field in fields]
    for names in steps:
        if names[0] not in file.schema_arrow.names:
            msg = f"{path}: no column {names[0]!r}"
            raise UsageError(msg)
    for batch in file.iter_batches(columns=list({names[0] for names in steps})):
        for record in batch.to_pylist():
            yield [_plain(_at(record, names)) for names in steps]


_READERS = {
    "jsonl": _jsonl,
    "csv": _delimited(","),
    "tsv": _delimited("\t"),
    "text": _lines,
    "parquet": _parquet,
}
