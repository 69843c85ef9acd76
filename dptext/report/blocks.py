"""Everything shown to people, as data: a view makes blocks, a renderer shows them.

Views (dptext.report.views and those of each subject) turn documents into blocks. The
renderers, dptext.report.terminal and dptext.report.html, know blocks and nothing else,
and make text of others harmless: strings in blocks are plain text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

Show = Callable[[Any], str]
# What can happen to a token, in the order of their colours.
TREATMENTS = (
    "replaced",
    "unchanged",
    "random digits",
    "made new",
    "layout unchanged",
    "masked",
    "left out",
)


class Tone(StrEnum):
    """The colour of a verdict, which a badge also says in words."""

    GOOD = "good"
    FAIR = "fair"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Badge:
    """A verdict in a few words, with its colour if it has one."""

    text: str
    tone: Tone | None = None


@dataclass(frozen=True, slots=True)
class Code:
    """What a machine reads: a command, a digest, the name of a setting."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Mark:
    """A token in the colour of its treatment, one of TREATMENTS."""

    text: str
    treatment: str

    def __str__(self) -> str:
        return self.text


Cell = str | Code | Mark | Badge
Rows = list[tuple[str | Code, Cell]]


@dataclass(frozen=True, slots=True)
class Heading:
    """A title inside a section."""

    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph: lead is said louder, note is a remark, code stays on one line."""

    text: str
    kind: Literal["", "lead", "note", "code"] = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A verdict of one line, said loudest, in a box of its colour."""

    badge: Badge


@dataclass(frozen=True, slots=True)
class Bullets:
    """Lines, each with a bullet."""

    lines: Sequence[str]


@dataclass(frozen=True, slots=True)
class Tokens:
    """A text by its tokens, with a legend of their colours."""

    tokens: Sequence[Mark]

    @property
    def legend(self) -> list[Mark]:
        """Return the treatments that occur, in the order of the text."""
        names = dict.fromkeys(token.treatment for token in self.tokens)
        return [Mark(name, name) for name in names]


@dataclass(frozen=True, slots=True)
class Figures:
    """Names with their values; with a title, a group of a first screen."""

    rows: Sequence[tuple[str | Code, Cell]]
    title: str = ""


def at(value: Any, path: str) -> Any:
    """Return the value at a path, as in bound.epsilon; None if it is absent.

    Items of a list are named by their number, or by their name or attacker.
    """
    for step in path.split("."):
        if isinstance(value, list | tuple):
            value = {str(n): item for n, item in enumerate(value)} | {
                item.get("name", item.get("attacker")): item
                for item in value
                if isinstance(item, Mapping)
            }
        if value is None:
            return None
        is_mapping = isinstance(value, Mapping)
        value = value.get(step) if is_mapping else getattr(value, step)
    return value


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: its name, the path to its values, and their format.

    show writes a value that is no Cell yet; with it a column holds figures and is set
    right. full is the value of a full bar behind a figure, None for a column without.
    path leads from an item to its value (see `at`), or is a function of the item; the
    name is the path of a column without one.
    """

    name: str
    show: Show | None = None
    full: float | None = None
    path: str | Callable[[Any], Any] | None = None

    def value(self, item: Any) -> Any:
        """Return the value of an item in this column."""
        path = self.path or self.name
        return at(item, path) if isinstance(path, str) else path(item)

    def cell(self, value: Any) -> Cell:
        """Return a value as text; "" for None."""
        if value is None or isinstance(value, Cell):
            return value or ""
        return (self.show or str)(value)

    def bar(self, value: Any) -> float | None:
        """Return how much of a bar a value fills, from 0 to 1."""
        if not self.full or not isinstance(value, int | float):
            return None
        return min(max(value / self.full, 0.0), 1.0)


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of values, one for each column; the first column names the rows."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]
    title: str = ""

    @classmethod
    def from_items(
        cls, columns: Sequence[Column], items: Iterable[Any], title: str = ""
    ) -> Table:
        """Return a table with a row for each item."""
        rows = [[column.value(item) for column in columns] for item in items]
        return cls(columns, rows, title)

    def filled(self) -> Table:
        """Return the table without the columns in which no row has a value."""
        kept = [
            number
            for number in range(len(self.columns))
            if not self.rows or any(row[number] is not None for row in self.rows)
        ]
        rows = [[row[number] for number in kept] for row in self.rows]
        return Table([self.columns[number] for number in kept], rows, self.title)


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a line; note is shown when it is pointed at."""

    x: float
    y: float
    note: str = ""


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of a chart: its label and the format of its values."""

    label: str
    show: Show


@dataclass(frozen=True, slots=True)
class Chart:
    """Lines by their names, each through its points from left to right; pages only.

    labelled: notes of points are written beside them.
    """

    title: str
    across: Axis
    up: Axis
    lines: Sequence[tuple[str, Sequence[Point]]]
    labelled: bool = False


@dataclass(frozen=True, slots=True)
class More:
    """Blocks that a page shows and a terminal leaves out."""

    blocks: Sequence[Block]


Block = (
    Heading | Paragraph | Verdict | Bullets | Tokens | Figures | Table | Chart | More
)


@dataclass(frozen=True, slots=True)
class Section:
    """A titled part of a page; the tone of its first badge colours it as a box."""

    title: str
    blocks: Sequence[Block]
    badges: Sequence[Badge] = ()

    @property
    def tone(self) -> Tone | None:
        """Return the colour of the section."""
        return self.badges[0].tone if self.badges else None


@dataclass(frozen=True, slots=True)
class Page:
    """Sections under a title; lead stands before them, footer at the end of a page.

    Sections without blocks and badges are not shown, so that views need no conditions.
    first: blocks that stand before all sections; a page folds the sections then, and
    prints them all.
    """

    title: str
    sections: Sequence[Section]
    lead: Sequence[str] = ()
    footer: str = ""
    first: Sequence[Block] = ()

    @property
    def shown(self) -> list[Section]:
        """Return the sections with content."""
        return [each for each in self.sections if each.blocks or each.badges]


def paragraphs(
    *lines: str, kind: Literal["", "lead", "note", "code"] = ""
) -> list[Paragraph]:
    """Return a paragraph for each line that is not empty."""
    return [Paragraph(line, kind) for line in lines if line]
