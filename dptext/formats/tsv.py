"""TSV: like CSV, but with tab as the delimiter; quoting is the same."""

from __future__ import annotations

from typing import ClassVar

from dptext.formats import csv


class Format(csv.Format):
    """One record per row; the delimiter is a tab unless selected otherwise."""

    SUFFIXES: ClassVar = (".tsv", ".tab")
    DELIMITER: ClassVar = "\t"
