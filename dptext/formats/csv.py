"""CSV: fields are chosen by the names in the header row, rows may span lines."""

from __future__ import annotations

from typing import ClassVar

from dptext.formats import _delimited


class Format(_delimited.Format):
    """One record per row; the delimiter is a comma unless selected otherwise."""

    SUFFIXES: ClassVar = (".csv",)
    DELIMITER: ClassVar = ","
