"""`dptext compare`: compares mechanisms on your own texts at equal risk or epsilon."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from dptext import mechanisms, profile, progress, registry
from dptext.attackers.endpoint import EndpointAttacker
from dptext.cli import faults, options, parser, screen
from dptext.decoders import endpoint
from dptext.engine.files import find_files
from dptext.errors import ComponentError, UsageError
from dptext.evaluation import OWNER, attackers, comparison, comparison_views, run, views
from dptext.evaluation.comparison import Cell, CellRow, Sample, check, read_sample
from dptext.profile import FOR_PROGRAMS, Part
from dptext.run import choices, measures, work
from dptext.run.interface import refuse_both
from dptext.run.marks import (
    GUARANTEE,
    INPUT,
    MOST_JOBS,
    OUTPUT,
    ByFile,
    Number,
    Option,
    Writes,
)
from dptext.run.selection import FILE_LAYOUT, Selection
from dptext.settings import share
from dptext.types import JsonObject

MECHANISMS = ("rank", "santext", "tem", "laplace", "mahalanobis")
_RISKS = ("10%", "20%", "35%")


EXAMPLES = (
    "dptext compare reviews.jsonl --label stars --risk 10% --risk 20%",
    "dptext compare reviews.jsonl -m rank -m tem --csv table.csv",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """The settings to compare on a sample: mechanisms x levels x lexicons."""

    sample: Annotated[
        int, Option("Number of texts to sample.", INPUT, parse=Number(kind=int, low=1))
    ] = 2000
    profile: Annotated[
        str,
        Option(
            "Profile of `dptext list`, or a .yaml file.",
            GUARANTEE,
            metavar="NAME",
            short="-p",
        ),
        ByFile(choices.is_yaml),
    ] = FOR_PROGRAMS  # mechanisms differ in the words that they replace
    mechanism: Annotated[
        list[str] | None,
        Option(
            "Mechanism with its default parameters, or NAME:key=value,... to set "
            "them; repeatable. That of --profile keeps the profile's parameters. "
            f"Default: the profile's mechanism, then {', '.join(MECHANISMS)}.",
            GUARANTEE,
            metavar="NAME",
            short="-m",
        ),
    ] = None
    risk: Annotated[
        list[str] | None,
        Option(
            "Epsilon for a share of right guesses: 10%. Repeatable. "
            f"Default: {', '.join(_RISKS)}.",
            GUARANTEE,
            metavar="SHARE",
        ),
    ] = None
    epsilon: Annotated[
        list[float] | None,
        Option(
            "Epsilon per word. Repeatable.",
            GUARANTEE,
            parse=Number(kind=float, low=0, above=True),
        ),
    ] = None
    lexicon: Annotated[
        list[str] | None,
        Option(
            "Lexicon of `dptext lexicon list`, or file. Repeatable, to compare "
            "lexicons.",
            GUARANTEE,
            metavar="NAME",
            hidden=True,
        ),
    ] = None
    set_: Annotated[
        list[str] | None,
        Option(
            "Set a key: tokens.number=mask; repeatable. Here keys of decoder for "
            "--attacker endpoint: decoder.url=URL.",
            GUARANTEE,
            metavar="KEY=VALUE",
            hidden=True,
        ),
    ] = None
    seed: Annotated[
        int | None,
        Option(
            "Seed for tests and papers: draws repeat, without any privacy.",
            GUARANTEE,
            parse=Number(kind=int),
            hidden=True,
        ),
    ] = None

    def __post_init__(self) -> None:
        """Raise UsageError if two kinds of levels are given."""
        refuse_both("risk", self.risk, "epsilon", self.epsilon)

    def cells(self, attacker: str | None = None) -> list[Cell]:
        """Return the grid's cells; `attacker` is a server. Raises UsageError."""
        budget = {"name": "uniform", "epsilon": None, "risk": None}
        shares = [share(value, "--risk") for value in self.risk or _RISKS]
        levels = [(f"risk {each:.3g}", {**budget, "risk": each}) for each in shares]
        if self.epsilon:
            levels = [
                (f"epsilon {each:g}", {**budget, "epsilon": each})
                for each in self.epsilon
            ]
        base = profile.load(self.profile, {"budget": levels[0][1]}).mechanism
        named = self.mechanism or (base.name, *MECHANISMS)
        mechanisms = {_row_name(each, base): _mechanism(each) for each in named}
        parts = {"mapping": None, "decoder": self._decoder(attacker)}
        return [
            Cell(
                mechanism=name,
                level=level,
                lexicon=lexicon,
                profile=self.profile,
                over={**parts, "mechanism": each, "budget": budget, "lexicon": lexicon},
                seed=self.seed,
            )
            for name, each in mechanisms.items()
            for level, budget in levels
            for lexicon in self.lexicon or (profile.load(self.profile).lexicon,)
        ]

    def _decoder(self, attacker: str | None) -> JsonObject:
        """Return decoder settings that use the attacker's server."""
        keys = choices.read_keys(self.set_ or ())
        over = keys.pop("decoder", {})
        if keys or not isinstance(over, dict) or (over and attacker is None):
            msg = "--set: compare accepts decoder.KEY=VALUE, with --attacker endpoint"
            raise UsageError(msg)
        if attacker is None:
            return {"name": "none"}
        if attacker != EndpointAttacker.name:
            raise UsageError(f"--attacker {attacker}: compare takes endpoint")
        over = {"decoder": {**over, "name": attacker}}
        params = profile.load(self.profile, over).decoder.params
        assert isinstance(params, endpoint.Params)
        params.server()
        return {"name": attacker, **msgspec.to_builtins(params)}


def _mechanism(text: str) -> JsonObject:
    """Parse NAME:key=value,key=value."""
    name, _, rest = text.partition(":")
    registry.find("mechanisms", name)
    keys = choices.read_keys(
        filter(None, rest.split(",")), f"mechanism {name}:", "k=20"
    )
    return {"name": name, **keys}


def _row_name(text: str, base: Part[mechanisms.Params]) -> str:
    """Name a mechanism and its settings, including those of the profile.

    For example custext:k=50, where the profile uses the same mechanism.
    """
    chosen = _mechanism(text)
    if chosen["name"] != base.name:
        return text
    default = msgspec.to_builtins(type(base.params)())
    inherited = [
        f"{key}={value if isinstance(value, str) else json.dumps(value)}"
        for key, value in msgspec.to_builtins(base.params).items()
        if key not in chosen and value != default[key]
    ]
    name, _, rest = text.partition(":")
    settings = ",".join([*filter(None, [rest]), *inherited])
    return f"{name}:{settings}" if settings else name


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultTable:
    """Computes the comparison table and writes its files."""

    jobs: Annotated[
        int | None,
        Option(
            "Number of cells to compute at once. Default: one per processor, at most "
            "4. Use 1 to compare speeds.",
            OUTPUT,
            parse=Number(kind=int, low=1, high=MOST_JOBS),
            short="-j",
            hidden=True,
        ),
    ] = None
    resume: Annotated[
        Path | None,
        Option(
            "Save finished rows to this file, and continue from it.",
            OUTPUT,
            metavar="FILE",
            hidden=True,
        ),
        Writes(),
    ] = None
    csv: Annotated[
        Path | None, Option("Write the table as CSV.", OUTPUT, metavar="FILE"), Writes()
    ] = None
    latex: Annotated[
        Path | None,
        Option("Write the table for LaTeX (booktabs).", OUTPUT, metavar="FILE"),
        Writes(),
    ] = None
    figure: Annotated[
        Path | None,
        Option(
            "Write a chart of utility (or meaning) by risk to this .svg file.",
            OUTPUT,
            metavar="FILE",
            hidden=True,
        ),
        Writes(),
    ] = None

    def __post_init__(self) -> None:
        """Raise UsageError unless the chart is SVG."""
        if self.figure is not None and self.figure.suffix.lower() not in ("", ".svg"):
            raise UsageError(
                f"--figure {self.figure}: only SVG is supported; use a file name "
                "ending in .svg (Inkscape or rsvg-convert converts it to PDF or PNG)"
            )

    def compute(
        self, cells: Sequence[Cell], sample: Sample, settings: run.EvaluationSettings
    ) -> list[CellRow]:
        """Compute and print all cells; return their rows in order."""
        jobs = self.jobs or min(4, os.cpu_count() or 1)
        if settings.attacker is not None:
            # One process bounds the requests under way.
            jobs = 1
            faults.print_line(
                f"--attacker {settings.attacker} sends new draws of "
                f"{len(sample.texts):,} texts to a server, for up to {len(cells)} "
                "cells: each cell is one more release to it, and losses add up"
            )
        progress.say(
            f"comparing cells, each a mechanism at a level: {len(cells)}; "
            f"texts: {len(sample.texts):,}"
        )
        began = time.monotonic()
        rows: dict[int, CellRow] = {}
        for cell, row in comparison.run(
            cells, sample, settings, jobs=jobs, resume=self.resume
        ):
            rows[id(cell)] = row
            count = f"{len(rows)} of {len(cells)}"
            outcome = row.reason or comparison_views.line(row)
            if left := len(cells) - len(rows):
                pace = (time.monotonic() - began) / len(rows)
                count += f", about {progress.duration(pace * left)} left"
            progress.say(f"{count}: {cell.mechanism}, {cell.level}: {outcome}")
        return [rows[id(cell)] for cell in cells]

    def files(self, rows: Sequence[CellRow]) -> dict[Path | None, str]:
        """Map each output path, or None for standard output, to its text."""
        return {
            self.csv: comparison_views.as_csv(rows),
            self.latex: comparison_views.as_latex(rows),
            self.figure: comparison_views.as_svg(rows),
        }


def command(
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="File or folder of texts to compare on."),
    ],
    *,
    selection: Annotated[Selection, parser.Take(f"fields {FILE_LAYOUT}")],
    grid: Grid,
    measured: Annotated[
        measures.Measures,
        parser.Take(
            "labels attributes classifier splits alphas encoder masked_model attacker"
        ),
    ],
    public_text: options.PublicText = None,
    table: ResultTable,
    as_json: options.AsJson = False,
    pages: Annotated[work.Reports, parser.Take("html")],
    quiet: options.Quiet = False,
) -> None:
    """Compare mechanisms on a sample of your texts: utility, attacks.

    Draws are compared: no decoder writes other words. All figures are computed from
    the private text: keep them to yourself.
    """
    progress.enable(not quiet)
    # The Bayes attack and attackers of whole texts need tables of all words, minutes
    # for each cell: the risk is the success of the first, `dptext evaluate` has both.
    # With --public-text the strongest of them reads, for users who wait for it.
    settings = run.EvaluationSettings.begin(
        measured,
        bayes=False,
        attackers=False,
        public_text=attackers.PublicText.named(public_text, selection.fields),
    )
    settings.check()
    cells = grid.cells(settings.attacker)
    check(cells)
    texts = read_sample(
        paths=find_files([file], selection.format),
        selection=replace(
            selection, fields=selection.fields or ("text",), missing="pass"
        ),
        settings=settings,
        size=grid.sample,
    )
    rows = table.compute(cells, texts, settings)
    results = [row.result for row in rows if row.result is not None]
    if not results:
        raise ComponentError(
            f"nothing could be compared; {rows[0].mechanism}, {rows[0].level}: "
            f"{rows[0].reason}"
        )
    for line in views.warnings(results[0]):
        faults.print_line(line)
    screen.deliver(
        {"audience": OWNER, "texts": len(texts.texts), "rows": rows},
        as_json,
        comparison_views.comparison(rows, texts.texts),
        html=pages.html,
        extra_files=table.files(rows),
        # A table is no use with its columns cut: lines are as long as they need be.
        width=110,
    )
