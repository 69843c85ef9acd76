"""What a comparison reads and keeps: a sample of texts, finished rows."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np

from dptext import streams
from dptext.errors import InputError, UsageError
from dptext.evaluation import rows
from dptext.evaluation.comparison import Row, Sample
from dptext.evaluation.run import Settings
from dptext.types import Selection


def sample(
    path: str, selection: Selection, settings: Settings, size: int, format: str | None
) -> Sample:
    """Take texts evenly over a file, with all labels and attributes.

    Records without a text or without one of these are passed over. Raises InputError
    where none is left.
    """
    values = (*settings.labels, *settings.attributes)
    joined = (
        (rows.one_text(row.texts), row.values)
        for row in rows.records(path, selection, values, format)
    )
    usable = [row for row in joined if row[0].strip() and None not in row[1]]
    if not usable:
        raise InputError(f"{path}: no record has text and all of the fields asked for")
    # A fixed choice: the same sample each time, whatever the order of labels.
    order = np.random.default_rng(0).permutation(len(usable))[:size]
    chosen = [usable[index] for index in sorted(order.tolist())]
    return Sample(tuple(text for text, _ in chosen), tuple(row for _, row in chosen))


def finished(path: Path) -> dict[str, Row]:
    """Read the rows of an earlier run by their keys; make the file if there is none.

    Raises UsageError for another file, OSError where rows could not be kept.
    """
    streams.check_ends(path, "--resume")
    with path.open("ab"):
        pass
    known = {}
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        try:
            key, row = msgspec.json.decode(line, type=tuple[str, Row])
        except (msgspec.ValidationError, msgspec.DecodeError):
            raise UsageError(
                f"{path}:{number}: not a file that compare has written"
            ) from None
        known[key] = row
    return known


def keep(path: Path, key: str, row: Row) -> None:
    """Add a row to the file of finished rows; one that failed is to be tried again."""
    if not row.reason:
        with path.open("ab") as file:
            file.write(msgspec.json.encode((key, row)) + b"\n")
