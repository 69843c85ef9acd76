"""Renders blocks in a terminal with rich. The console escapes untrusted text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import Console, RenderableType
from rich.rule import Rule
from rich.table import Table as Grid
from rich.text import Text

from dptext.report import blocks
from dptext.report.blocks import Block, Cell, Page, Section, Tone

_TONES = {Tone.GOOD: "bold green", Tone.FAIR: "bold yellow", Tone.BAD: "bold red"}
_TREATMENTS = {
    "replaced": "bold green",
    "unchanged": "yellow",
    "random digits": "blue",
    "made new": "blue",
    "layout unchanged": "blue",
    "masked": "magenta",
    "left out": "dim strike",
}
_KINDS = {"": "", "lead": "bold", "note": "dim"}
_BAR = 16  # characters of a full bar
_SHORT = 20  # characters of a name


def show(parts: Iterable[Block | Section | Page], console: Console) -> None:
    """Print blocks, sections and pages, one below the other."""
    for each in _parts(parts):
        # A console takes its own rule for the lines of a text, not that of the text.
        is_whole = isinstance(each, Text) and bool(each.no_wrap)
        console.print(each, crop=False, soft_wrap=is_whole)


def _parts(parts: Iterable[Block | Section | Page]) -> Iterator[RenderableType]:
    for each in parts:
        if isinstance(each, Page):
            yield Rule(Text(each.title), style="dim")
            yield from (Text(line, style="dim") for line in each.lead)
            yield from _parts(each.first)
            yield from _parts(each.sections)
        elif isinstance(each, Section):
            inner = list(_parts(each.blocks))
            if inner or each.badges:
                yield from (Text(), Text(f"{each.title}:", style="bold"))
                yield from map(_text, each.badges)
                yield from inner
        else:
            yield from _block(each)


def _block(block: Block) -> Iterator[RenderableType]:
    match block:
        case blocks.Heading():
            yield Text(block.text, style="bold")
        case blocks.Paragraph():
            code = block.kind == "code"
            yield Text(
                block.text,
                style=_KINDS.get(block.kind, ""),
                no_wrap=code,
                overflow="ignore" if code else None,
            )
        case blocks.Verdict():
            yield _text(block.badge)
        case blocks.Bullets():
            yield from (Text(f"- {line}") for line in block.lines)
        case blocks.Tokens():
            yield Text("tokens: ") + Text(", ").join(map(_text, block.legend))
            yield Text(" ").join(map(_text, block.tokens))
        case blocks.Figures():
            if block.title:
                yield from (Text(), Text(f"{block.title}:", style="bold"))
            yield _figures(block)
        case blocks.Table():
            yield _table(block)
        case blocks.More() | blocks.Chart():
            pass


def _figures(block: blocks.Figures) -> Grid:
    grid = Grid(box=None, show_header=False, padding=(0, 1))
    grid.add_column(overflow="fold", max_width=32)
    grid.add_column(overflow="fold")
    for name, value in block.rows:
        grid.add_row(_text(name), _text(value))
    return grid


def _table(block: blocks.Table) -> Grid:
    """Return a table; one column may have bars."""
    grid = Grid(box=None, padding=(0, 1), title=block.title or None)
    grid.title_justify = "left"
    for number, column in enumerate(block.columns):
        # Headings and texts may break, figures and short names not.
        widths = [len(str(column.cell(row[number]))) for row in block.rows]
        widest = max(widths, default=0)
        kept = column.show is not None or widest <= _SHORT
        grid.add_column(
            Text(column.name),
            justify="left" if column.show is None else "right",
            overflow="fold",
            min_width=widest if kept else None,
        )
    full = [number for number, column in enumerate(block.columns) if column.full]
    if len(full) == 1:
        grid.add_column("", no_wrap=True, style="cyan")
    for row in block.rows:
        cells = zip(block.columns, row, strict=True)
        drawn = [_text(column.cell(value)) for column, value in cells]
        if len(full) == 1:
            filled = block.columns[full[0]].bar(row[full[0]])
            drawn.append(Text("█" * max(1, round(_BAR * filled)) if filled else ""))
        grid.add_row(*drawn)
    return grid


def _text(cell: Cell) -> Text:
    """Return a cell with its colour."""
    match cell:
        case blocks.Mark():
            return Text(cell.text, style=_TREATMENTS.get(cell.treatment, ""))
        case blocks.Badge():
            return Text(cell.text, style=_TONES[cell.tone] if cell.tone else "")
        case blocks.Code():
            return Text(cell.text)
    return Text(cell)
