"""The size of an input that is not read: of files, or as it is written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dptext.errors import InputError, UsageError

if TYPE_CHECKING:
    from dptext.report.plan import Size

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_SIZE = re.compile(r"([0-9.]+) ?([kmgt]?)b?", re.IGNORECASE)


def parse(size: str) -> int:
    """Read a size: "2GB", "300 MB", "1000". Raises UsageError."""
    match = _SIZE.fullmatch(size.strip())
    try:
        if match is None:
            raise ValueError
        return int(float(match[1]) * _UNITS[match[2].lower()])
    except ValueError:
        raise UsageError(
            f"--size {size}: write a number and B, KB, MB, GB or TB"
        ) from None


def of_files(files: Sequence[str]) -> Size:
    """Return the size of files together."""
    from dptext import streams
    from dptext.report.plan import Size

    total = packed = 0
    for name in files:
        try:
            size = Path(name).stat().st_size
        except OSError as error:
            raise InputError(f"{name}: {error.strerror}") from None
        total += size
        # Columns of Parquet are compressed in the file, whatever its name.
        if streams.compression(name) or Path(name).suffix.lower() == ".parquet":
            packed += size
    return Size(total, packed)
