"""The report as a panel for people, on standard error."""

from __future__ import annotations

import math
from collections.abc import Iterable

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from dptext.guarantees.rounding import MAX_MEANINGFUL_LOSS, above
from dptext.guarantees.statement import Statement
from dptext.measures.context_risk import AT_LEAST
from dptext.report import _badges, _plain, _use, columns, figures, in_context
from dptext.report._plain import Tone
from dptext.report.document import Document, WordSection
from dptext.report.figures import share as _share
from dptext.report.signatures import UNSIGNED
from dptext.types import Level, Notion

_SPENT = {"min", "median", "p95", "max", "total"}
TONES = {Tone.GOOD: "bold green", Tone.FAIR: "bold yellow", Tone.BAD: "bold red"}


def show(document: Document, console: Console, signed: str = UNSIGNED) -> None:
    """Print a report; signed says who signed (dptext.report.signatures)."""
    promise, words = document.guarantee, document.words
    assert words is not None
    table = _figures(document, words)
    table.add_row("Signature", Text(signed))
    figures = Group(*_risk(words), table)
    name, audience = document.run.profile, document.audience
    console.print(
        panel(promise, _badges.badges(promise), figures, name=name, audience=audience)
    )


def panel(
    promise: Statement,
    badges: Iterable[_badges.Badge],
    figures: RenderableType,
    *,
    name: str,
    audience: str,
    several: str = "Whole texts",
) -> Panel:
    """Return a report as a panel: what is promised, then figures.

    several names what the second paragraph is about.
    """
    tone, _ = _plain.verdict(promise)
    parts = [
        *(Text(words, style=TONES[tone]) for tone, words in badges),
        Text(""),
        Text(promise.sentence),
        Text(""),
        Text(f"{several}: {promise.text_level}"),
        *([Text(promise.translation)] if promise.translation else []),
        *([Text(promise.decoding)] if promise.decoding else []),
        *([Text(f"Ledger: {promise.subjects}")] if promise.subjects else []),
        Text(""),
        Text("Not covered:", style="bold"),
        *(Text(f"- {line}") for line in promise.not_covered),
    ]
    if promise.conditions:
        parts += [Text(""), Text("Holds if:", style="bold")]
        parts += [Text(f"- {line}") for line in promise.conditions]
    return Panel(
        Group(*parts, Text(""), figures),
        title=Text(f"dptext privacy report: {name}"),
        subtitle=f"{audience} report",
        border_style="red" if tone is Tone.BAD else "green",
    )


def _risk(words: WordSection) -> list[Text | Table]:
    risk = words.risk
    if risk is None:
        return [Text(f"Risk: {words.risk_note}"), Text("")]
    table = Table(box=None, padding=(0, 2), title_justify="left")
    table.add_column("Best possible guess of a word from its output")
    for name in ("without output", "from output", "knowing the band"):
        table.add_column(name, justify="right")
    success = _share(risk.success)
    if risk.low is not None:
        success = f"{_share(risk.low)} to {success}"
    table.add_row("all words", _share(risk.baseline), success, "")
    for band in risk.bands:
        table.add_row(
            Text(f"  {band.name} ({band.share:.0%} of text)"),
            _share(band.baseline),
            _share(band.success),
            _share(band.success_band_known),
        )
    method = [] if risk.low is None else [Text(risk.method, style="dim")]
    good = [Text(f"- {line}") for line in _use.good_for(risk)]
    readers = [Text(f"{n}: {s}") for n, s in in_context.rows_of(words.in_context)]
    if readers:
        readers += [Text(AT_LEAST, style="dim"), Text("")]
    return [
        *readers,
        table,
        *method,
        Text(words.risk_note, style="dim"),
        *good,
        Text(""),
    ]


def _figures(document: Document, words: WordSection) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 2))
    table.add_row("Loss, one word changed", _loss(document))
    if words.deniability is not None:
        deny = words.deniability
        table.add_row("N_w", _explained("N_w", _share(deny.n_w)))
        table.add_row("S_w", _explained("S_w", figures.distinct(deny.s_w, deny.runs)))
        table.add_row("N_w and S_w by", Text(deny.method))
    private = document.private
    if private is not None and private.words is not None:
        counted = private.words
        for name, metric in counted.metrics.items():
            value = next(iter(metric.values()), None)
            shown = _explained(name, figures.measure(name, value))
            table.add_row(Text(f"{name} (from private text)"), shown)
        spent = counted.epsilon_per_text
        if _SPENT <= spent.keys():
            table.add_row(
                "Epsilon per text",
                f"min {spent['min']:.4g}, median {spent['median']:.4g}, p95 "
                f"{spent['p95']:.4g}, max {above(spent['max'])}, "
                f"total {above(spent['total'], 6)}",
            )
        counts = ", ".join(
            f"{count} {name.replace('_', ' ')} ({counted.treatment.get(name, '?')})"
            for name, count in counted.tokens.items()
            if count
        )
        table.add_row("Tokens (from private text)", Text(counts))
        if counted.fields:
            counts = ", ".join(f"{name}: {n}" for name, n in counted.fields.items())
            table.add_row("Records with field", Text(counts))
        table.add_row(
            "Done",
            f"{private.records} records, {private.faults} set aside, "
            f"{counted.words_per_second:,.0f} words/s",
        )
    run = document.run
    table.add_row("Made private", Text(columns.private(run.layout)))
    table.add_row("Copied", Text(columns.copied(run.layout, document.output)))
    table.add_row(
        "Run",
        Text(
            f"dptext {run.dptext}, profile {run.profile}, lexicon {run.lexicon} "
            f"({words.vocabulary} words, {run.lexicon_digest[:12]}), key: {run.key}"
        ),
    )
    return table


def _loss(document: Document) -> str:
    promise = document.guarantee
    loss = promise.loss
    if promise.notion is Notion.NONE:
        return "not bounded: no guarantee"
    if promise.level is Level.WORDS:
        return f"at most n times {_nats(loss.farthest)}, in a text of n replaced words"
    if promise.notion is Notion.METRIC:
        bound = (
            f"nearest {_nats(loss.nearest)}, median {_nats(loss.median)}, "
            f"farthest {_nats(loss.farthest)}"
        )
    else:
        bound = f"at most {_nats(loss.farthest)}"
    if promise.equal_parts:
        return f"{bound}, in a text of one replaced word, and no more in longer ones"
    return bound


def _explained(name: str, shown: str) -> Text:
    """Return a figure with the sentence that says what it is."""
    meaning = figures.MEANINGS.get(name)
    return Text(shown) if meaning is None else Text(f"{shown}: {meaning}")


def _nats(value: float) -> str:
    if math.isinf(value):
        return "unbounded"
    shown = f"{above(value)} nats"
    return (
        shown if value <= MAX_MEANINGFUL_LOSS else f"{shown} (no meaningful protection)"
    )
