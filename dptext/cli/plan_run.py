"""What `dptext plan` does with its options."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dptext import lexicons, pipeline, profile, progress, streams
from dptext.cli import screen
from dptext.errors import InputError, UsageError
from dptext.report import _badges, _use, terminal
from dptext.report import plan as plans
from dptext.report.plan import Plan, Size

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_SIZE = re.compile(r"([0-9.]+) ?([kmgt]?)b?", re.IGNORECASE)


def run(
    files: tuple[str, ...],
    name: str,
    over: dict[str, Any],
    *,
    size: str | None,
    jobs: int,
    bayes_risk: bool,
    as_json: bool,
    html: Path | None,
) -> None:
    """Plan and print it, as a table, as JSON or as a page."""
    if files and size is not None:
        msg = "give files or --size, not both"
        raise UsageError(msg)
    if html is not None:
        streams.check_distinct(files, str(html))
    total = _of_files(files) if files else None
    if size is not None:
        total = Size(parse(size))
    recipe = profile.load(name, over)
    made = pipeline.build(recipe, lexicons.find(recipe.lexicon))
    with progress.step("planning"):
        found = plans.plan(made, total, jobs=jobs, bayes_risk=bayes_risk)
    if html is not None:
        from dptext.report import plan_page

        plan_page.write(found, html)
    elif as_json:
        print(msgspec.json.format(msgspec.json.encode(found), indent=2).decode())  # noqa: T201
    else:
        show(found, screen.console())


def parse(size: str) -> int:
    """Read a size: "2GB", "300 MB", "1000". Raises UsageError."""
    match = _SIZE.fullmatch(size.strip())
    try:
        if match is None:
            raise ValueError
        return int(float(match[1]) * _UNITS[match[2].lower()])
    except ValueError:
        msg = f"--size {size}: write a number and B, KB, MB, GB or TB"
        raise UsageError(msg) from None


def _of_files(files: tuple[str, ...]) -> Size:
    total = packed = 0
    for name in files:
        try:
            size = Path(name).stat().st_size
        except OSError as error:
            msg = f"{name}: {error.strerror}"
            raise InputError(msg) from None
        total += size
        # Columns of Parquet are compressed in the file, whatever its name.
        if streams.compression(name) or Path(name).suffix.lower() == ".parquet":
            packed += size
    return Size(total, packed)


def show(found: Plan, console: Console) -> None:
    """Print a plan."""
    promise = found.guarantee
    for tone, told in _badges.badges(promise):
        console.print(Text(told, style=terminal.TONES[tone]))
    for line in (promise.sentence, "Whole texts: " + promise.text_level, ""):
        console.print(Text(line))
    table = Table(box=None, show_header=False, padding=(0, 2))
    for row in plans.figures_of(found):
        table.add_row(*row)
    console.print(table)
    for line in _use.good_for(found.risk) if found.risk else ():
        console.print(Text(f"- {line}"))
    console.print(Text("\nPublic sentences, and one way in which they come out:"))
    for each in found.examples:
        console.print(Text(f"  {each.before}", style="dim"))
        console.print(Text(f"  {each.after}\n"))
