"""Display content as data: views create blocks, renderers show them.

Views (dptext.report.views and those of each subject) turn documents into blocks. The
renderers, dptext.report.terminal and dptext.report.html, know only blocks,
and escape untrusted text: strings in blocks are plain text.
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
    """The colour of a verdict; its badge says the same in words."""

    GOOD = "good"
    FAIR = "fair"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Badge:
    """A verdict in a few words, optionally with a colour."""

    text: str
    tone: Tone | None = None


@dataclass(frozen=True, slots=True)
class Code:
    """Machine-readable text: a command, a digest, the name of a setting."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Mark:
    """A token coloured by its treatment, one of TREATMENTS."""

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
    """A paragraph: lead is emphasised, note is a remark, code stays on one line."""

    text: str
    kind: Literal["", "lead", "note", "code"] = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A one-line verdict, most emphasised, in a coloured box."""

    badge: Badge


@dataclass(frozen=True, slots=True)
class Bullets:
    """Lines, each with a bullet."""

    lines: Sequence[str]


@dataclass(frozen=True, slots=True)
class Tokens:
    """A text shown token by token, with a legend of colours."""

    tokens: Sequence[Mark]

    @property
    def legend(self) -> list[Mark]:
        """Return the treatments that occur, in text order."""
        names = dict.fromkeys(token.treatment for token in self.tokens)
        return [Mark(name, name) for name in names]


@dataclass(frozen=True, slots=True)
class Figures:
    """Names with values; with a title, a group on a first screen."""

    rows: Sequence[tuple[str | Code, Cell]]
    title: str = ""


def at(value: Any, path: str) -> Any:
    """Return the value at a path such as bound.epsilon, None if absent.

    List items are selected by number, or by their name or attacker.
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

    show formats a value that is not a Cell yet; such a column holds figures and is
    aligned right. full is the value of a full bar behind a figure, None for no bar.
    path locates the value in an item (see `at`), or is a function of the item; the
    name is the default path.
    """

    name: str
    show: Show | None = None
    full: float | None = None
    path: str | Callable[[Any], Any] | None = None

    def value(self, item: Any) -> Any:
        """Return an item's value in this column."""
        path = self.path or self.name
        return at(item, path) if isinstance(path, str) else path(item)

    def cell(self, value: Any) -> Cell:
        """Format a value; "" for None."""
        if value is None or isinstance(value, Cell):
            return value or ""
        return (self.show or str)(value)

    def bar(self, value: Any) -> float | None:
        """Return how far a value fills its bar, from 0 to 1, or None."""
        if not self.full or not isinstance(value, int | float):
            return None
        return min(max(value / self.full, 0.0), 1.0)


@dataclass(frozen=True, slots=True)
class Table:
    """Rows with one value per column; the first column names the rows."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]
    title: str = ""

    @classmethod
    def from_items(
        cls, columns: Sequence[Column], items: Iterable[Any], title: str = ""
    ) -> Table:
        """Build a table with one row per item."""
        rows = [[column.value(item) for column in columns] for item in items]
        return cls(columns, rows, title)

    def filled(self) -> Table:
        """Return the table without empty columns."""
        kept = [
            number
            for number in range(len(self.columns))
            if not self.rows or any(row[number] is not None for row in self.rows)
        ]
        rows = [[row[number] for number in kept] for row in self.rows]
        return Table([self.columns[number] for number in kept], rows, self.title)


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a line; note is shown on hover."""

    x: float
    y: float
    note: str = ""


@dataclass(frozen=True, slots=True)
class Axis:
    """A chart axis: its label and value format."""

    label: str
    show: Show


@dataclass(frozen=True, slots=True)
class Chart:
    """Named lines, each through its points from left to right; pages only.

    labelled: show the notes of points beside them.
    """

    title: str
    across: Axis
    up: Axis
    lines: Sequence[tuple[str, Sequence[Point]]]
    labelled: bool = False


@dataclass(frozen=True, slots=True)
class More:
    """Blocks shown on a page but not in a terminal."""

    blocks: Sequence[Block]


Block = (
    Heading | Paragraph | Verdict | Bullets | Tokens | Figures | Table | Chart | More
)


@dataclass(frozen=True, slots=True)
class Section:
    """A titled part of a page, coloured by the tone of its first badge."""

    title: str
    blocks: Sequence[Block]
    badges: Sequence[Badge] = ()

    @property
    def tone(self) -> Tone | None:
        """Return the colour of the section."""
        return self.badges[0].tone if self.badges else None


@dataclass(frozen=True, slots=True)
class Page:
    """Titled sections; lead comes before them, footer at the end of a page.

    Sections without blocks or badges are hidden, so that views need no conditions.
    first: blocks before all sections; a page then folds the sections, but
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
    """Return a paragraph for each non-empty line."""
    return [Paragraph(line, kind) for line in lines if line]
