"""What `dptext evaluate` does with its options."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dptext import __version__, lexicons, pipeline, profile, progress, streams
from dptext.cli import screen
from dptext.errors import UsageError
from dptext.evaluation import rows
from dptext.evaluation import run as evaluation
from dptext.evaluation.classify import Task
from dptext.evaluation.run import Result, Settings
from dptext.pipeline import Pipeline
from dptext.report.figures import MEANINGS, cosine, distinct, points, score, share
from dptext.types import Lexicon, Selection


@dataclass(frozen=True, slots=True)
class Files:
    """The two files, and which parts of their records are text."""

    original: str
    private: str
    selection: Selection
    format: str | None


def run(
    files: Files,
    settings: Settings,
    name: str | None,
    over: dict[str, Any],
    *,
    as_json: bool,
    report: Path | None,
    html: Path | None,
) -> None:
    """Evaluate two files and print what was found."""
    made = None
    if name is not None:
        recipe = profile.load(name, over)
        made = pipeline.build(recipe, lexicons.find(recipe.lexicon))
    elif "budget" in over or set(over) - {"lexicon"}:
        msg = "settings are those of a profile: give --profile, too"
        raise UsageError(msg)
    lexicon = made.lexicon if made else lexicons.find(over.get("lexicon", "builtin"))
    found = rows.pairs(
        files.original,
        files.private,
        files.selection,
        (*settings.labels, *settings.attributes),
        files.format,
    )
    with progress.step("evaluating"):
        result = evaluation.evaluate(found, lexicon, settings, made)
    told = {**_run(files, lexicon, made), **msgspec.to_builtins(result)}
    data = msgspec.json.format(msgspec.json.encode(told), indent=2) + b"\n"
    if report is not None:
        with streams.open_output(str(report)) as sink:
            sink.stream.write(data)
    if html is not None:
        from dptext.evaluation import page

        page.write(result, html)
    if as_json:
        print(data.decode(), end="")  # noqa: T201
    else:
        show(result, screen.console())


def _run(files: Files, lexicon: Lexicon, made: Pipeline | None) -> dict[str, Any]:
    """Say what was compared, and what is said to have written the private file."""
    return {
        "report": "dptext-evaluation",
        "version": 1,
        "dptext": __version__,
        "original": Path(files.original).name,
        "private": Path(files.private).name,
        "lexicon": lexicon.name,
        "lexicon_digest": lexicon.digest,
        "profile": made.profile.name if made else None,
        "settings": made.profile.settings() if made else None,
    }


def show(result: Result, console: Console) -> None:
    """Print a result as tables."""
    table = Table(box=None, show_header=False, padding=(0, 2))
    for name, value in figures(result):
        table.add_row(name, value)
    console.print(table)
    for title, tasks in (
        ("Utility: accuracy of a classifier", result.utility),
        ("Attack on an attribute: accuracy", result.attribute_attacks),
    ):
        if tasks:
            console.print(Text(f"\n{title}", style="bold"))
            console.print(_tasks(tasks))
    if result.utility or result.attribute_attacks:
        for name, meaning in result.meanings.items():
            console.print(Text(f"{name}: {meaning}", style="dim"))
    console.print(Text(f"\n{result.audience}", style="dim"))


def figures(result: Result) -> Iterator[tuple[str, str]]:
    """Yield names and values of the single figures."""
    kept = result.kept
    yield "texts", f"{kept.texts:,}, of which {kept.compared:,} with as many words"
    yield "PP", _told("PP", share(kept.perturbed))
    yield "LOW", _told("LOW", share(kept.low))
    yield "CS", f"{_told('CS', cosine(kept.similarity))} (by {kept.encoder})"
    yield (
        "English words",
        f"{share(kept.english)} (before {share(kept.english_before)})",
    )
    if result.deniability is not None:
        deny = result.deniability
        yield "N_w", _told("N_w", share(deny.n_w))
        yield "S_w", _told("S_w", distinct(deny.s_w, deny.runs))
    for attack in result.word_attacks:
        told = f"{share(attack.success)} of {attack.words:,} words ({attack.assumes})"
        if attack.predicted is not None:
            told += f"; the Bayes risk's figure is {share(attack.predicted)}"
        yield f"attack: {attack.name}", told
    masked = result.masked_word
    if masked is not None:
        told = f"{share(masked.first)}, in five guesses {share(masked.first_five)}"
        told += f", of {masked.words:,} words"
        yield f"attack: masked word, {masked.model}", f"{told} ({masked.assumes})"
    if result.trade_off is not None:
        yield "trade-off", points(result.trade_off)
    for each in result.composite:
        yield f"composite, alpha {each.alpha:g}", score(each.value)
    if result.composite:
        yield "", result.composite_formula


def _tasks(tasks: tuple[Task, ...]) -> Table:
    table = Table(box=None, padding=(0, 2))
    for name in ("field", "chance", "original", "private", "static", "macro-F1"):
        table.add_column(name, justify="left" if name == "field" else "right")
    for task in tasks:
        table.add_row(
            Text(task.field),
            share(task.chance),
            *map(str, (task.original, task.private, task.static)),
            f"{score(task.original.macro_f1)} -> {score(task.private.macro_f1)}",
        )
    return table


def _told(name: str, shown: str) -> str:
    return f"{shown}: {MEANINGS[name]}"
