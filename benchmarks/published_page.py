"""The page of benchmarks/published.py: docs/replication.md.

Prose in published_text.md; each of its <!-- NAME --> becomes a table, made from the
rows of docs/replication.jsonl and from the published figures.
"""

from __future__ import annotations

import re
from pathlib import Path

import published_page_comparative as comparative
import published_page_others as others
import published_page_puc as puc
from private_rows import ROOT

TABLES = {**puc.TABLES, **comparative.TABLES, **others.TABLES}


def page(rows: puc.Rows) -> str:
    """Return the text of the page."""
    text = Path(__file__).with_name("published_text.md").read_text("utf-8")
    return re.sub(r"<!-- (\w+) -->", lambda mark: TABLES[mark[1]](rows), text)


def write(rows: puc.Rows) -> None:
    """Write docs/replication.md."""
    (ROOT / "docs" / "replication.md").write_text(page(rows), "utf-8")
