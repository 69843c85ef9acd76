"""`dptext evaluate`: what a private file keeps, and what it gives away."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dptext.cli import options, screen
from dptext.cli.values import Number
from dptext.errors import UsageError
from dptext.report.figures import score, share

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from dptext.evaluation.classify import Task
    from dptext.evaluation.run import Result


READERS = (
    "readers see whole texts, drawn anew from the originals with these settings; they "
    "find at least this much"
)


def command(
    original: Annotated[str, typer.Argument(help="The file before.")],
    private: Annotated[str, typer.Argument(help="The same file, privatized.")],
    *,
    layout: options.Layout,
    id: options.Id = None,
    profile: Annotated[
        str | None,
        options.setting_option(
            "-p",
            "--profile",
            metavar="NAME",
            help=f"{options.PROFILE} That which wrote the private file.",
        ),
    ] = None,
    changes: options.Changes,
    measured: options.Measured,
    readers: Annotated[
        bool,
        options.measure_option(
            "--readers/--no-readers",
            help="Whether readers of whole texts attack new draws of the originals.",
            hidden=True,
        ),
    ] = True,
    masked_words: Annotated[
        int,
        options.measure_option(
            parser=Number(int, 1),
            help="Words that it guesses, evenly chosen.",
            hidden=True,
        ),
    ] = 2000,
    as_json: options.Json = False,
    report: options.Report = None,
    html: options.Html = None,
) -> None:
    """Compare a private file with its original: PP, CS, LOW, utility and attacks.

    All figures are functions of the private text and for its owner only. Texts
    are held in memory for --label, --attribute, --id and --masked-model.

    Example: dptext evaluate reviews.jsonl reviews.private.jsonl --label stars
    """
    import msgspec

    from dptext import __version__, api, lexicons, progress
    from dptext.evaluation import page, rows
    from dptext.evaluation import run as evaluation

    over = changes.overrides()
    settings = replace(measured.settings(), masked_words=masked_words, readers=readers)
    selection = replace(layout.selection("text"), id_field=id)
    if profile is None and set(over) - {"lexicon"}:
        raise UsageError("settings are those of a profile: give --profile, too")
    settings.check()
    writer = None if profile is None else api.open_pipeline(profile, over)
    words = (
        writer.lexicon if writer else lexicons.find(str(over.get("lexicon", "builtin")))
    )
    values = (*settings.labels, *settings.attributes)
    pairs = rows.pairs(original, private, selection, values, layout.format)
    with progress.step("evaluating"):
        result = evaluation.evaluate(pairs, words, settings, writer)
    data = {
        "report": "dptext-evaluation",
        "version": 1,
        "dptext": __version__,
        "original": Path(original).name,
        "private": Path(private).name,
        "lexicon": words.name,
        "lexicon_digest": words.digest,
        "profile": writer.profile.name if writer else None,
        "settings": writer.profile.settings() if writer else None,
        **msgspec.to_builtins(result),
    }
    if report is not None:
        screen.write_file(report, f"{screen.to_json(data)}\n".encode())
    if html is not None:
        screen.write_file(html, page.render(result))
    if as_json:
        screen.print_json(data)
    else:
        _show(result, screen.console())


def _show(result: Result, console: Console) -> None:
    """Print a result as tables."""
    table = screen.table()
    for name, value in _figures(result):
        table.add_row(name, value)
    console.print(table)
    for title, tasks in (
        ("Utility: accuracy of a classifier", result.utility),
        ("Attack on an attribute: accuracy", result.attribute_attacks),
    ):
        if tasks:
            console.print(f"\n{title}", style="bold")
            console.print(_tasks(tasks))
    if result.utility or result.attribute_attacks:
        for name, meaning in result.meanings.items():
            console.print(f"{name}: {meaning}", style="dim")
    console.print(f"\n{result.audience}", style="dim")


def _figures(result: Result) -> Iterator[tuple[str, str]]:
    """Yield names and values of the single figures."""
    from dptext.evaluation import result_rows

    kept = result.kept
    yield "texts", f"{kept.texts:,}, of which {kept.compared:,} with as many words"
    for name, value, meaning in result_rows.kept(result):
        yield name, f"{value}: {meaning}" if meaning else value
    for name, success, words, assumed in result_rows.attacks(result):
        yield f"attack: {name}", f"{success} of {words} words ({assumed})"
    yield from _readings(result)
    yield from result_rows.together(result)
    if result.composite:
        yield "", result.composite_formula


def _readings(result: Result) -> Iterator[tuple[str, str]]:
    """Yield names and values of what readers of whole texts find."""
    for reading in result.in_context:
        for each in reading.classes:
            yield (
                f"reader: {reading.reader}, {each.name}",
                f"{share(each.success)} (95%: {share(each.low)} to {share(each.high)}) "
                f"of {each.words:,} words",
            )
    if result.in_context:
        yield "", READERS


def _tasks(tasks: Sequence[Task]) -> Table:
    numbers = ("chance", "original", "private", "static", "macro-F1")
    table = screen.table("field", *numbers, right=numbers)
    for task in tasks:
        table.add_row(
            task.field,
            share(task.chance),
            *map(str, (task.original, task.private, task.static)),
            f"{score(task.original.macro_f1)} -> {score(task.private.macro_f1)}",
        )
    return table
