"""Tables from declared columns, and pages without empty sections."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from rich.console import Console

from dptext.report import html, terminal
from dptext.report.blocks import Bullets, Column, Page, Section, Table, at
from dptext.report.figures import share

pytestmark = pytest.mark.quick


@dataclass
class Row:
    """An item with another inside."""

    name: str
    inner: dict[str, float | None]


COLUMNS = (
    Column("name"),
    Column("found", share, full=1.0, path="inner.share"),
    Column("twice", str, path=lambda row: row.name * 2),
)


def test_a_column_reads_its_values_from_objects_and_from_data() -> None:
    """A path leads through attributes and keys, a function takes the whole item."""
    items = [Row("a", {"share": 0.5}), Row("b", {"share": None})]
    table = Table.from_items(COLUMNS[:2], items, title="Shares")
    assert table.rows == [["a", 0.5], ["b", None]]
    assert table.title == "Shares"
    plain = [{"name": each.name, "inner": each.inner} for each in items]
    assert Table.from_items(COLUMNS[:2], plain).rows == table.rows
    assert Table.from_items(COLUMNS[2:], items).rows == [["aa"], ["bb"]]


def test_a_wrong_path_of_an_object_is_an_error() -> None:
    """A misspelled path cannot show an empty column."""
    with pytest.raises(AttributeError):
        Table.from_items([Column("nmae")], [Row("a", {})])


def test_items_of_lists_are_named_by_number_name_or_attacker() -> None:
    """Paths of figures of a comparison name an attacker, a class or a position."""
    data = {"readings": [{"attacker": "ngram", "classes": [{"name": "all", "n": 3}]}]}
    assert at(data, "readings.ngram.classes.all.n") == 3
    assert at(data, "readings.0.classes.0.n") == 3
    assert at(data, "readings.other.classes.all.n") is None
    assert at(("a", Row("b", {})), "1.name") == "b"


def test_sections_without_content_are_left_out() -> None:
    """Terminal and page show no title above nothing."""
    page = Page("T", [Section("Empty", ()), Section("Full", (Bullets(["line"]),))])
    console = Console(width=60)
    with console.capture() as capture:
        terminal.show([page], console)
    for shown in (capture.get(), html.render(page).decode()):
        assert "Full" in shown
        assert "Empty" not in shown
