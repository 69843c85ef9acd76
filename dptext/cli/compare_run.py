"""What `dptext compare` does with its options."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from rich.console import Console, JustifyMethod
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from dptext import profile, progress, streams
from dptext.cli import screen
from dptext.cli.options import share
from dptext.errors import InputError, UsageError
from dptext.evaluation import OWNER, comparison, rows
from dptext.evaluation.comparison import Cell, Row, Sample
from dptext.evaluation.run import Settings
from dptext.report import figures
from dptext.types import Selection

MECHANISMS = ("rank", "santext", "tem", "laplace", "mahalanobis")
_RISKS = ("10%", "20%", "35%")
_KEPT = ("N_w", "S_w", "PP", "CS", "LOW")
COLUMNS = (
    *("mechanism", "level", "lexicon", "dimensions", "epsilon", "notion"),
    *("worst_loss", "risk", "n_w", "s_w", "pp", "cs", "low"),
    *("utility", "utility_sd", "utility_original", "utility_chance"),
    *("attack", "attack_sd", "attack_original", "attack_chance"),
    *("trade_off", "words_per_second", "megabytes", "reason"),
)


@dataclass(frozen=True, slots=True)
class Options:
    """The options of the command, as given."""

    file: str
    fields: tuple[str, ...]
    format: str | None
    mechanisms: tuple[str, ...]
    risks: tuple[str, ...]
    epsilons: tuple[float, ...]
    lexicons: tuple[str, ...]
    profile: str
    sample: int
    jobs: int
    resume: Path | None
    csv: Path | None
    json: bool
    html: Path | None
    quiet: bool


def run(options: Options, settings: Settings) -> None:
    """Compare and print."""
    progress.on(not options.quiet)
    planned = cells(options)
    sample = _sample(options, settings)
    done = _read(options.resume)
    progress.say(
        f"comparing {len(planned)} cells, each a mechanism at a level, on "
        f"{len(sample.texts):,} texts"
    )
    found: dict[int, Row] = {}
    positions = {id(cell): number for number, cell in enumerate(planned)}
    console = screen.console(stderr=True, quiet=options.quiet)
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task("cells", total=len(planned))
        for cell, row in comparison.run(
            planned,
            sample,
            settings,
            jobs=options.jobs,
            done=done,
            keep=lambda key, row: _keep(options.resume, key, row),
        ):
            found[positions[id(cell)]] = row
            bar.update(task, advance=1)
            told = row.reason or f"epsilon {row.epsilon:g}"
            count = f"{len(found)} of {len(planned)}"
            progress.say(f"{count}: {cell.mechanism}, {cell.level}: {told}")
    table = [found[number] for number in sorted(found)]
    if options.csv is not None:
        with streams.open_output(str(options.csv)) as sink:
            sink.stream.write(as_csv(table, settings).encode())
    if options.html is not None:
        from dptext.evaluation import comparison_page

        comparison_page.write(table, sample.texts, options.html)
    if options.json:
        data = {"audience": OWNER, "texts": len(sample.texts), "rows": table}
        print(msgspec.json.format(msgspec.json.encode(data), indent=2).decode())  # noqa: T201
    else:
        # A table is no use with its columns cut: lines are as long as they need be.
        show(table, settings, screen.console(width=max(screen.console().width, 170)))


def cells(options: Options) -> list[Cell]:
    """Return the grid: mechanisms, then levels, then lexicons."""
    if options.risks and options.epsilons:
        msg = "give --risk or --epsilon, not both"
        raise UsageError(msg)
    levels: list[tuple[str, dict[str, Any]]] = [
        (f"epsilon {value:g}", {"name": "uniform", "epsilon": value, "risk": None})
        for value in options.epsilons
    ]
    for given in () if levels else options.risks or _RISKS:
        value = share(given, "--risk")
        level = {"name": "uniform", "epsilon": None, "risk": value}
        levels.append((f"risk {value:.3g}", level))
    base = profile.load(options.profile)
    named = options.lexicons or (base.lexicon,)
    return [
        Cell(
            mechanism,
            level,
            lexicon,
            options.profile,
            {
                "mechanism": _mechanism(mechanism),
                "mapping": None,
                "budget": budget,
                "lexicon": lexicon,
            },
        )
        for mechanism in options.mechanisms
        for level, budget in levels
        for lexicon in named
    ]


def _mechanism(given: str) -> dict[str, Any]:
    """Read NAME:key=value,key=value."""
    import yaml

    name, _, rest = given.partition(":")
    found: dict[str, Any] = {"name": name}
    for part in filter(None, rest.split(",")):
        key, equals, value = part.partition("=")
        if not equals:
            msg = f"--mechanism {given}: write NAME:key=value,key=value"
            raise UsageError(msg)
        found[key] = yaml.safe_load(value)
    return found


def _sample(options: Options, settings: Settings) -> Sample:
    """Take texts evenly over a file, with all labels and attributes."""
    extra = (*settings.labels, *settings.attributes)
    every = []
    selection = Selection(fields=options.fields, missing="pass")
    for row in rows.records(options.file, selection, extra, options.format):
        if row.text.strip() and None not in row.values:
            every.append((row.text, row.values))
    if not every:
        msg = f"{options.file}: no record has text and all of the fields asked for"
        raise InputError(msg)
    # A fixed choice: the same sample each time, whatever the order of labels.
    order = np.random.default_rng(0).permutation(len(every))[: options.sample]
    chosen = [every[number] for number in sorted(order.tolist())]
    return Sample(tuple(t for t, _ in chosen), tuple(v for _, v in chosen))


def _read(path: Path | None) -> dict[str, Row]:
    """Read the rows of an earlier run; find out now whether rows can be kept."""
    if path is None:
        return {}
    streams.check_ends(path, "--resume")
    with path.open("ab"):
        pass
    found = {}
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        try:
            key, row = msgspec.json.decode(line, type=tuple[str, Row])
        except (msgspec.ValidationError, msgspec.DecodeError):
            msg = f"{path}:{number}: not a file that compare has written"
            raise UsageError(msg) from None
        found[key] = row
    return found


def _keep(path: Path | None, key: str, row: Row) -> None:
    if path is not None and not row.reason:
        with path.open("ab") as file:
            file.write(msgspec.json.encode((key, row)) + b"\n")


def flat(row: Row, settings: Settings) -> dict[str, Any]:
    """Return a row as one value for each column; alphas are further columns."""
    out: dict[str, Any] = {name: getattr(row, name, None) for name in COLUMNS}
    result = row.result
    if result is not None:
        deny, kept = result.deniability, result.kept
        out["n_w"] = deny.n_w if deny else None
        out["s_w"] = deny.s_w if deny else None
        out["pp"], out["cs"], out["low"] = kept.perturbed, kept.similarity, kept.low
        out["trade_off"] = result.trade_off
        for task in result.utility[:1]:
            out["utility"] = task.private.accuracy
            out["utility_sd"] = task.private.accuracy_sd
            out["utility_original"] = task.original.accuracy
            out["utility_chance"] = task.chance
        for task in result.attribute_attacks[:1]:
            out["attack"] = task.private.accuracy
            out["attack_sd"] = task.private.accuracy_sd
            out["attack_original"] = task.original.accuracy
            out["attack_chance"] = task.chance
        for each in result.composite:
            out[f"composite_{each.alpha:g}"] = each.value
    return out


def as_csv(table: Sequence[Row], settings: Settings) -> str:
    """Return the table as CSV."""
    alphas = [f"composite_{alpha:g}" for alpha in settings.alphas]
    out = io.StringIO()
    writer = csv.DictWriter(out, [*COLUMNS, *alphas], lineterminator="\n")
    writer.writeheader()
    for row in table:
        writer.writerow(flat(row, settings))
    return out.getvalue()


def show(table: Sequence[Row], settings: Settings, console: Console) -> None:
    """Print the table, and why cells are missing."""
    shown = Table(box=None, padding=(0, 1))
    lines = [
        tuple(_cells(flat(row, settings), settings)) for row in table if not row.reason
    ]
    for number, name in enumerate(_names(settings)):
        # Headings may break, figures not.
        wide = max((len(line[number]) for line in lines), default=0) if number else 0
        justify: JustifyMethod = "left" if number < 2 else "right"
        shown.add_column(name, justify=justify, min_width=wide)
    for line in lines:
        shown.add_row(*line)
    console.print(shown)
    for row in table:
        if row.reason:
            console.print(Text(f"{row.mechanism}, {row.level}: {row.reason}"))
    tasks = bool(settings.labels or settings.attributes)
    for told in (*figures.legend(("risk", *_KEPT)), *[comparison.ACCURACIES] * tasks):
        console.print(Text(told, style="dim"))
    console.print(Text(OWNER, style="dim"))


def _names(settings: Settings) -> list[str]:
    """Return the names of the columns."""
    names = ["mechanism", "level", "epsilon", "loss", "risk", *_KEPT]
    for name, fields in (("utility", settings.labels), ("attack", settings.attributes)):
        if fields:
            names += [name, f"{name} on originals", f"{name} by chance"]
    return [*names, "words/s", "MB"]


def _cells(row: dict[str, Any], settings: Settings) -> Iterator[str]:
    several = (
        f" ({Path(row['lexicon']).name})" if row["lexicon"] not in ("builtin",) else ""
    )
    yield f"{row['mechanism']}{several}"
    yield row["level"]
    yield f"{row['epsilon']:.4g}"
    yield "none" if row["worst_loss"] is None else f"{row['worst_loss']:.4g}"
    yield figures.share(row["risk"])
    yield figures.share(row["n_w"])
    yield figures.distinct(row["s_w"])
    yield figures.share(row["pp"])
    yield figures.cosine(row["cs"])
    yield figures.share(row["low"])
    for name, fields in (("utility", settings.labels), ("attack", settings.attributes)):
        if fields:
            yield figures.accuracy(row[name], row[f"{name}_sd"])
            yield figures.accuracy(row[f"{name}_original"])
            yield figures.share(row[f"{name}_chance"])
    yield f"{row['words_per_second']:,.0f}"
    yield f"{row['megabytes']:.0f}"
