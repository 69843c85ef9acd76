"""TSV: as CSV, with a tab as delimiter; quotes have their meaning here too."""

from __future__ import annotations

from typing import ClassVar

from dptext.formats import csv


class Format(csv.Format):
    """One record per row; the delimiter is a tab unless selected otherwise."""

    SUFFIXES: ClassVar = (".tsv", ".tab")
    DELIMITER: ClassVar = "\t"
