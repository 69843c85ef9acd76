"""Renders a comparison as a page, CSV, LaTeX table and chart."""

from __future__ import annotations

import csv
import io
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from dptext._version import __version__
from dptext.evaluation import OWNER, classify
from dptext.evaluation.comparison import CellRow
from dptext.evaluation.views import ENDPOINT, attackers_note
from dptext.measures.context_risk import ALL, CONTENT, RARE, SAME_KIND
from dptext.report import figures, html
from dptext.report.blocks import (
    Axis,
    Block,
    Bullets,
    Chart,
    Column,
    Heading,
    More,
    Page,
    Paragraph,
    Point,
    Section,
    Table,
    at,
    paragraphs,
)
from dptext.report.figures import accuracy, count, share, short
from dptext.run.interface import option
from dptext.types import Notion

KEPT = ("N_w", "S_w", "PP", "CS", "LOW")
_LONGEST = 300  # characters of an example
_TWO_SIDED = 1.96  # standard deviations on both sides of a mean: 95%
_DRAWS = (
    "Draws are compared: words as the mechanisms draw them, without a decoder, which "
    "`dptext sanitize` may add."
)
_FIGURES, _CHANCE = "All figures", "What chance gives"
_LEARNED, _COST = "Utility and attack", "Guarantee and cost"
_DENIABILITY, _METRICS = "result.deniability", "result.kept.metrics"
_S_W = Column("S_w", figures.distinct)
_ACCURACY = (
    "Utility, attack: accuracy of a classifier of the first label, of the first "
    "attribute, trained and tested on private texts; on originals: trained and tested "
    "on the texts before; by chance: the share of the most frequent value."
)
# What charts show upwards and across, by the keys of a row.
_UP = {
    "utility": ("Utility", Axis("accuracy on private texts", figures.percent)),
    "attack": (
        "Attack on the attribute",
        Axis("accuracy of the attack", figures.percent),
    ),
    "cs": ("Meaning", Axis("CS, share of meaning kept", figures.percent)),
    "n_w / s_w": ("Deniability", Axis("N_w / S_w", short)),
}
_ACROSS = {
    "risk": Axis("risk (best guess of a word)", figures.percent),
    "worst_loss": Axis("worst loss of a word, nats", short),
}


class Figure(NamedTuple):
    """One figure of a row, as shown in all outputs of a comparison."""

    #: Its name in the CSV.
    name: str
    #: Its path in the row, if that is not the name.
    path: str = ""
    #: The table of the page, and its column there; others are in the CSV alone.
    table: str = ""
    column: Column = Column("")
    #: Its head in a table for a paper, which leaves others out.
    latex: str = ""
    #: Whether it stands in the line of progress.
    is_first: bool = False


def _attacker_figures(
    name: str, attacker: str, title: str, latex: str = ""
) -> Iterator[Figure]:
    """Yield an attacker's success by word class."""
    path = f"result.in_context.{attacker}.classes"
    yield Figure(name, f"{path}.{ALL}.success", _FIGURES, _bar(title), latex=latex)
    yield Figure(f"{name}_low", f"{path}.{ALL}.low")
    yield Figure(f"{name}_high", f"{path}.{ALL}.high")
    yield Figure(f"{name}_content", f"{path}.{CONTENT}.success")
    yield Figure(f"{name}_rare", f"{path}.{RARE}.success")


def _classifier_figures(name: str, path: str) -> Iterator[Figure]:
    """Yield accuracies of the classifier for the first label or attribute."""
    for suffix, part, title, latex in (
        ("", "private", name, name),
        ("_original", "original", "on originals", "(originals)"),
    ):
        accuracy_path = f"{path}.{part}.accuracy"
        column = Column(title, str)
        yield Figure(f"{name}{suffix}", accuracy_path, _LEARNED, column, latex=latex)
        yield Figure(f"{name}{suffix}_sd", f"{accuracy_path}_sd")
    chance = Column("by chance", share)
    yield Figure(f"{name}_by_chance", f"{path}.chance", _LEARNED, chance)


def _bar(name: str) -> Column:
    return Column(name, share, full=1.0)


def _first(name: str, path: str, column: Column, latex: str) -> Figure:
    """Return a figure that belongs in the main table."""
    return Figure(name, path, table=_FIGURES, column=column, latex=latex, is_first=True)


_LOSS = Column("worst loss, nats", short)
_ROW = (
    Figure("mechanism"),
    Figure("level"),
    Figure("lexicon"),
    Figure("lexicon_sha256"),
    Figure("dimensions", "", _COST, Column("dimensions", count)),
    _first("epsilon", "", Column("epsilon", short), r"$\varepsilon$"),
    Figure("notion", "", _COST, Column("guarantee"), latex="guarantee"),
    Figure("worst_loss", "", _FIGURES, _LOSS, latex="loss, nats"),
    _first("risk", "", _bar("risk"), "risk"),
    _first("n_w", f"{_DENIABILITY}.n_w", _bar("N_w"), "$N_w$"),
    _first("s_w", f"{_DENIABILITY}.s_w", _S_W, "$S_w$"),
    _first("pp", "result.kept.pp", _bar("PP"), "PP"),
    _first("cs", "result.kept.cs", _bar("CS"), "CS"),
    Figure("mean_cosine", "result.kept.mean_cosine"),
    Figure("unrelated_cosine", "result.kept.unrelated_cosine"),
    _first("low", "result.kept.low", _bar("LOW"), "LOW"),
    Figure(
        "n_w_by_chance", f"{_DENIABILITY}.n_w_by_chance", _CHANCE, Column("N_w", share)
    ),
    Figure("s_w_by_chance", f"{_DENIABILITY}.s_w_by_chance", _CHANCE, _S_W),
    Figure("pp_by_chance", f"{_METRICS}.PP.by_chance", _CHANCE, Column("PP", share)),
    Figure("low_by_chance", f"{_METRICS}.LOW.by_chance", _CHANCE, Column("LOW", share)),
    *_attacker_figures("attacker", SAME_KIND, "attacker of the kind", "attacker"),
    *_attacker_figures(ENDPOINT, ENDPOINT, "attacker on a server"),
    *_classifier_figures("utility", "result.utility.0"),
    *_classifier_figures("attack", "result.attribute_attacks.0"),
    Figure("trade_off", "result.trade_off"),
    Figure("words_per_second", "", _COST, Column("words/s", count)),
    Figure("megabytes", "", _COST, Column("peak memory, MB", count)),
    Figure("profile"),
    Figure("texts"),
    Figure("sample_sha256"),
    Figure("seed"),
    Figure("dptext"),
    Figure("kernel"),
    Figure("reason"),
)
# Of pairs: the values of a row, and a reading of it.
_READINGS = (
    Column("mechanism", path="0.name"),
    Column("level", path="0.level"),
    Column("attacker", path="1.attacker"),
    Column("success", share, full=1.0, path="1.success"),
    Column("knowledge and cost", path="1.assumes"),
)
_LATEX_WRITTEN = str.maketrans(
    {each: f"\\{each}" for each in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    # In text the usual encoding has other characters at their places.
    | {each: f"${each}$" for each in "<>"}
    | {"±": r"$\pm$", "\N{MINUS SIGN}": "$-$"}
)


def flat(row: CellRow) -> dict[str, Any]:
    """Return a value for each CSV column, and figures only for the page."""
    nested = msgspec.to_builtins(row)
    values = {each.name: at(nested, each.path or each.name) for each in _ROW}
    values["name"] = row.mechanism
    if row.lexicon not in ("builtin", "english"):
        values["name"] += f" ({Path(row.lexicon).name})"
    values["n_w / s_w"] = values["n_w"] / values["s_w"] if values["s_w"] else None
    return values


def _shown(figure: Figure, values: dict[str, Any]) -> Any:
    """Format accuracies with their standard deviation."""
    value = values[figure.name]
    sd = f"{figure.name}_sd"
    return value if value is None or sd not in values else accuracy(value, values[sd])


def as_csv(rows: Iterable[CellRow]) -> str:
    """Return a comparison as CSV."""
    out, names = io.StringIO(), [each.name for each in _ROW]
    writer = csv.DictWriter(out, names, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(map(flat, rows))
    return out.getvalue()


def as_latex(rows: Sequence[CellRow]) -> str:
    """Return a comparison as a LaTeX table with booktabs rules.

    Columns without figures are left out, as are cells that could not run.
    """
    values = [flat(row) for row in rows if not row.reason]
    shown = [
        each
        for each in _ROW
        if each.latex and any(value[each.name] is not None for value in values)
    ]
    heads = ["mechanism", "level", *(each.latex for each in shown)]
    lines = [
        [value["name"], value["level"]]
        + [each.column.cell(_shown(each, value)) for each in shown]
        for value in values
    ]
    texts = ", ".join(sorted({str(value["texts"]) for value in values}))
    seeds = ", ".join(str(value["seed"]) for value in values)
    body = [
        " & ".join(str(cell).translate(_LATEX_WRITTEN) for cell in line)
        for line in lines
    ]
    return "\n".join(
        [
            rf"% dptext compare, version {__version__}; \usepackage{{booktabs}}",
            f"% texts: {texts}; seeds of the rows: {seeds}",
            rf"\begin{{tabular}}{{ll{'r' * len(shown)}}}",
            r"\toprule",
            rf"{' & '.join(heads)} \\",
            r"\midrule",
            *(rf"{line} \\" for line in body),
            r"\bottomrule",
            r"\end{tabular}",
            "",
        ]
    )


def as_svg(rows: Sequence[CellRow]) -> str:
    """Return the first chart of a comparison as SVG, "" if there is none.

    It shows utility by risk if a label is learned, else the attack or the meaning
    preserved.
    """
    chart = next(_charts([flat(row) for row in rows if not row.reason]), None)
    return "" if chart is None else html.picture(chart)


def line(row: CellRow) -> str:
    """Format the main figures of a row on one line."""
    values = flat(row)
    return ", ".join(
        f"{each.column.name} {each.column.cell(values[each.name]) or figures.NOTHING}"
        for each in _ROW
        if each.is_first
    )


def comparison(rows: Sequence[CellRow], originals: Sequence[str] = ()) -> Page:
    """Return a comparison as a page; originals are the texts in order."""
    done = [row for row in rows if not row.reason]
    missing = [
        f"{row.mechanism}, {row.level}: {row.reason}" for row in rows if row.reason
    ]
    values = [flat(row) for row in done]
    chance = figures.DRAWN_BY_CHANCE, figures.CHANGED_BY_CHANCE
    learned = [row for row in values if row["utility"] or row["attack"]]
    sections = [
        _table(_FIGURES, values, *_units(done), *figures.legend("risk", *KEPT)),
        _table(_CHANCE, values, *chance),
        _table(_LEARNED, learned, _ACCURACY, *_uncertainty(done)),
        _whole_text_attackers(done, values),
        Section("Curves", [*_charts(values)]),
        _table(_COST, values),
        Section(
            "The first texts, before and after", _examples(values, done, originals)
        ),
        Section("Not run", [Bullets(missing)] if missing else ()),
    ]
    return Page(
        "Mechanisms compared",
        sections,
        lead=(f"{OWNER}; a page ({option('html')}) shows texts", _DRAWS),
        footer="dptext compare",
    )


def _units(rows: Sequence[CellRow]) -> Iterator[str]:
    """Yield notes on epsilons in different units and on missing risks."""
    notions = {row.notion for row in rows}
    if {Notion.LDP, Notion.METRIC} <= notions:
        yield (
            "Do not compare epsilons of LDP with those of metric DP (the latter are "
            'per unit of distance): compare "risk" or "worst loss". The table '
            f'"{_COST}" has the guarantee of each row.'
        )
    if any(row.risk is None for row in rows):
        yield "No risk in a row: no upper limit of the best guess is known."
    if any(row.result is not None and row.result.deniability is None for row in rows):
        yield "No N_w and S_w in a row: draws depend on more than the word itself."


def _uncertainty(rows: Sequence[CellRow]) -> Iterator[str]:
    """Yield the error margins of accuracies, by splits and number of texts."""
    tasks = [
        task
        for row in rows
        if row.result
        for task in (*row.result.utility, *row.result.attribute_attacks)
    ]
    if tasks:
        tested = max(1, round(classify.TEST * tasks[0].texts))
        # An accuracy of 50% is the least certain.
        points = 100.0 * _TWO_SIDED * math.sqrt(0.25 / tested)
        spread = ""
        if tasks[0].splits > 1:
            spread = f"±: standard deviation over {tasks[0].splits} splits. "
        yield (
            f"{spread}Each split tests on about {count(tested)} texts: their number "
            f"alone makes an accuracy uncertain by up to {points:.1f} points (95%). "
            "Each row is one draw."
        )


def _table(title: str, values: Sequence[dict[str, Any]], *notes: str) -> Section:
    """Return a section with figures, empty if there are no rows."""
    inside = [each for each in _ROW if each.table == title]
    rows = [
        (value["name"], value["level"], *(_shown(each, value) for each in inside))
        for value in values
    ]
    named = [Column("mechanism"), Column("level"), *(each.column for each in inside)]
    table = Table(named, rows).filled()
    return Section(title, (table, *paragraphs(*notes, kind="note")) if rows else ())


def _whole_text_attackers(
    rows: Sequence[CellRow], values: Sequence[dict[str, Any]]
) -> Section:
    """Return the success of whole-text attackers by mechanism, if measured."""
    results = [row.result for row in rows if row.result]
    readings = [
        (value, reading)
        for result, value in zip(results, values, strict=True)
        for reading in result.in_context
    ]
    table = Table.from_items(_READINGS, readings)
    note = attackers_note(next((each.public_text for each in results), None))
    note += " A mechanism without an output distribution gives them nothing to read."
    shown = (table, Paragraph(note, "note")) if readings else ()
    return Section("Attackers of whole texts", shown)


def _charts(values: Sequence[dict[str, Any]]) -> Iterator[Chart]:
    """Yield a chart of each available measure against risk and loss."""
    for (y, (title, up)), (x, across) in itertools.product(
        _UP.items(), _ACROSS.items()
    ):
        lines: dict[str, list[Point]] = {}
        for value in values:
            if value[x] is not None and value[y] is not None:
                point = Point(value[x], value[y], value["level"])
                lines.setdefault(value["name"], []).append(point)
        ordered = [(n, sorted(line, key=lambda p: p.x)) for n, line in lines.items()]
        if ordered:
            yield Chart(f"{title} by {across.label}", across, up, ordered)


def _examples(
    values: Sequence[dict[str, Any]], rows: Sequence[CellRow], originals: Sequence[str]
) -> list[Block]:
    """Return the first texts as written by each mechanism; pages only."""
    blocks: list[Block] = []
    columns = [Column("mechanism"), Column("level"), Column("text")]
    texts = [originals, *(row.examples for row in rows)]
    heads = [("original", ""), *((value["name"], value["level"]) for value in values)]
    for number, each in enumerate(zip(*texts, strict=False), 1):
        shown = [
            (*head, text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …")
            for head, text in zip(heads, each, strict=True)
        ]
        blocks += [Heading(f"Text {number}"), Table(columns, shown)]
    return [More(blocks)] if rows else []
