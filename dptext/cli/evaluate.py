"""`dptext evaluate`: what a private file keeps, and what it gives away."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dptext.cli import options, screen
from dptext.errors import UsageError
from dptext.report.figures import (
    cosine,
    distinct,
    explained,
    measure,
    points,
    score,
    share,
)

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from dptext.evaluation.classify import Task
    from dptext.evaluation.run import Result
    from dptext.measures.kept import Kept


READERS = (
    "readers see whole texts, drawn anew from the originals with these settings; they "
    "find at least this much"
)


def command(
    original: Annotated[str, typer.Argument(help="The file before.")],
    private: Annotated[str, typer.Argument(help="The same file, privatized.")],
    field: options.Fields = None,
    id: options.Id = None,
    format: options.Format = None,
    delimiter: options.Delimiter = None,
    quoting: options.Quoting = True,
    header: options.Header = True,
    profile: Annotated[
        str | None,
        options.setting_option(
            "-p",
            "--profile",
            help=f"{options.PROFILE} That which wrote the private file: for N_w, S_w, "
            "Bayes.",
        ),
    ] = None,
    epsilon: options.Epsilon = None,
    risk: options.Risk = None,
    decode: options.Decode = None,
    lexicon: options.Lexicon = None,
    set_: options.Set = None,
    label: options.Labels = None,
    attribute: options.Attributes = None,
    classifier: options.Classifier = "tfidf",
    splits: options.Splits = 3,
    alpha: options.Alphas = None,
    encoder: options.Encoder = None,
    readers: Annotated[
        bool,
        options.measure_option(
            "--readers/--no-readers",
            help="Whether readers of whole texts attack new draws of the originals.",
        ),
    ] = True,
    masked_model: options.MaskedModel = None,
    masked_words: Annotated[
        int,
        options.measure_option(min=1, help="Words that it guesses, evenly chosen."),
    ] = 2000,
    as_json: options.Json = False,
    report: options.Report = None,
    html: options.Html = None,
) -> None:
    """Compare a private file with its original: PP, CS, LOW, utility and attacks.

    All figures are functions of the private text and for its owner only. Texts are held
    in memory for --label, --attribute, --id and --masked-model; else they stream.
    --report and --html write files beside what is printed.

    Example: dptext evaluate reviews.jsonl reviews.private.jsonl --label stars
    """
    import msgspec

    from dptext import __version__, api, lexicons, progress
    from dptext.evaluation import page, rows
    from dptext.evaluation import run as evaluation
    from dptext.types import Selection

    over = options.overrides(
        epsilon=epsilon, risk=risk, lexicon=lexicon, decode=decode, settings=set_
    )
    settings = evaluation.Settings(
        labels=tuple(label or ()),
        attributes=tuple(attribute or ()),
        classifier=classifier,
        splits=splits,
        alphas=tuple(alpha or options.ALPHAS),
        encoder=encoder,
        masked_model=masked_model,
        masked_words=masked_words,
        readers=readers,
    )
    selection = Selection(
        fields=tuple(field or ("text",)),
        id_field=id,
        delimiter=delimiter,
        quoting=quoting,
        header=header,
    )
    if profile is None and set(over) - {"lexicon"}:
        msg = "settings are those of a profile: give --profile, too"
        raise UsageError(msg)
    settings.check()
    writer = None if profile is None else api.open_pipeline(profile, over)
    words = (
        writer.lexicon if writer else lexicons.find(str(over.get("lexicon", "builtin")))
    )
    values = (*settings.labels, *settings.attributes)
    pairs = rows.pairs(original, private, selection, values, format)
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
        page.write(result, html)
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
    yield from _kept(result.kept)
    if result.deniability is not None:
        deny = result.deniability
        yield explained("N_w", share(deny.n_w))
        yield explained("S_w", distinct(deny.s_w, deny.runs))
    for attack in result.word_attacks:
        shown = f"{share(attack.success)} of {attack.words:,} words ({attack.assumes})"
        if attack.predicted is not None:
            shown += f"; the Bayes risk's figure is {share(attack.predicted)}"
        yield f"attack: {attack.name}", shown
    yield from _readings(result)
    masked = result.masked_word
    if masked is not None:
        yield (
            f"attack: masked word, {masked.model}",
            f"{share(masked.first)}, in five guesses {share(masked.first_five)}, of "
            f"{masked.words:,} words ({masked.assumes})",
        )
    if result.trade_off is not None:
        yield "trade-off", points(result.trade_off)
    for each in result.composite:
        yield f"composite, alpha {each.alpha:g}", score(each.value)
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


def _kept(kept: Kept) -> Iterator[tuple[str, str]]:
    """Yield names and values of what texts keep."""
    yield "texts", f"{kept.texts:,}, of which {kept.compared:,} with as many words"
    yield explained("PP", share(kept.perturbed))
    yield explained("LOW", share(kept.low))
    name, similarity = explained("CS", cosine(kept.similarity))
    yield name, f"{similarity} (by {kept.encoder})"
    yield (
        "English words",
        f"{share(kept.english)} (before {share(kept.english_before)})",
    )
    for name, value in kept.others():
        yield name, measure(name, value)


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
