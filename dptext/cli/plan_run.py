"""What `dptext plan` does with its options."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dptext import lexicons, pipeline, profile, progress
from dptext.cli import screen
from dptext.errors import InputError, UsageError
from dptext.report import plan as plans
from dptext.report.plan import Plan

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_SIZE = re.compile(r"([0-9.]+) ?([kmgt]?)b?", re.IGNORECASE)


def run(
    files: tuple[str, ...],
    name: str,
    over: dict[str, Any],
    *,
    size: str | None,
    jobs: int,
    ruler: bool,
    as_json: bool,
) -> None:
    """Plan and print it."""
    if files and size is not None:
        msg = "give files or --size, not both"
        raise UsageError(msg)
    total = _of_files(files) if files else None
    if size is not None:
        total = parse(size)
    recipe = profile.load(name, over)
    made = pipeline.build(recipe, lexicons.find(recipe.lexicon))
    with progress.step("planning"):
        found = plans.plan(made, total, jobs=jobs, ruler=ruler)
    if as_json:
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


def _of_files(files: tuple[str, ...]) -> int:
    total = 0
    for name in files:
        try:
            total += Path(name).stat().st_size
        except OSError as error:
            msg = f"{name}: {error.strerror}"
            raise InputError(msg) from None
    return total


def show(found: Plan, console: Console) -> None:
    """Print a plan."""
    promise = found.guarantee
    for line in (promise.sentence, "Whole texts: " + promise.text_level, ""):
        console.print(Text(line))
    table = Table(box=None, show_header=False, padding=(0, 2))
    for row in _figures(found):
        table.add_row(*row)
    console.print(table)
    console.print(Text("\nPublic sentences, and one way in which they come out:"))
    for each in found.examples:
        console.print(Text(f"  {each.before}", style="dim"))
        console.print(Text(f"  {each.after}\n"))


def _figures(found: Plan) -> list[tuple[str, str]]:
    rows = [("mechanism", f"{found.mechanism}, epsilon {found.epsilon:g}")]
    if found.risk is None:
        rows.append(("risk", found.risk_note))
    else:
        rows.append(
            (
                "risk",
                f"best guess of a word succeeds for {found.risk.success:.1%} "
                f"(without output {found.risk.baseline:.1%})",
            )
        )
    if found.changed is not None:
        rows.append(("words that change", f"about {found.changed:.0%}"))
    if found.deniability is not None:
        n_w, s_w = found.deniability.n_w, found.deniability.s_w
        rows.append(("N_w, S_w", f"{n_w:.1%}, {s_w:.1f} of {found.deniability.runs}"))
    rows.append(("speed here", f"{found.characters / 1e6:.2f} MB of text a second"))
    if found.bytes is not None and found.seconds is not None:
        told = f"about {_duration(found.seconds)} if all {found.bytes:,} bytes are text"
        rows.append(("time", told))
    return rows


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
