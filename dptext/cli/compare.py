"""`dptext compare`: mechanisms at equal risk or epsilon on the user's own texts."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dptext import progress, registry
from dptext.cli import faults, options, screen
from dptext.cli.parser import Take
from dptext.errors import ComponentError, UsageError
from dptext.run.choices import is_yaml, read_keys
from dptext.run.files import Reports
from dptext.run.interface import refuse_both
from dptext.run.marks import GUARANTEE, INPUT, OUTPUT, ByFile, Option, Writes
from dptext.run.measures import Measures
from dptext.run.selection import FILE_LAYOUT, Selection
from dptext.run.values import MOST_JOBS, Number
from dptext.settings import share

if TYPE_CHECKING:
    from dptext import mechanisms
    from dptext.evaluation.comparison import Cell, CellRow, Sample
    from dptext.evaluation.settings import EvaluationSettings
    from dptext.profile import Part
    from dptext.types import JsonObject

MECHANISMS = ("rank", "santext", "tem", "laplace", "mahalanobis")
_RISKS = ("10%", "20%", "35%")


EXAMPLES = (
    "dptext compare reviews.jsonl --label stars --risk 10% --risk 20%",
    "dptext compare reviews.jsonl -m rank -m tem --csv table.csv",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """The cells to compute: mechanisms, then levels, then lexicons."""

    profile: Annotated[
        str,
        Option(
            "Profile of `dptext list`, or a .yaml file.",
            GUARANTEE,
            metavar="NAME",
            short="-p",
        ),
        ByFile(is_yaml),
    ] = "balanced"
    mechanism: Annotated[
        list[str] | None,
        Option(
            "Mechanism with its default parameters (that of --profile: with those "
            "of the profile), or NAME:key=value,... for others; repeatable. Default: "
            f"that of the profile, then {', '.join(MECHANISMS)}.",
            GUARANTEE,
            metavar="NAME",
            short="-m",
        ),
    ] = None
    risk: Annotated[
        list[str] | None,
        Option(
            "Choose epsilon so that the best guess of a word is right at most "
            f"this often, as in 10%. Repeatable. Default: {', '.join(_RISKS)}.",
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
            metavar="NUMBER",
        ),
    ] = None
    lexicon: Annotated[
        list[str] | None,
        Option(
            "Lexicon of `dptext lexicon list`, or a file. Repeatable, to compare "
            "lexicons.",
            GUARANTEE,
            metavar="NAME",
            hidden=True,
        ),
    ] = None
    set_: Annotated[
        list[str] | None,
        Option(
            "Override one key of the profile or policy, as in "
            "tokens.number=mask; repeatable. Here keys of decoder, for --attacker "
            "endpoint.",
            GUARANTEE,
            metavar="KEY=VALUE",
            hidden=True,
        ),
    ] = None
    seed: Annotated[
        int | None,
        Option(
            "For tests and papers: repeatable draws, without any privacy.",
            GUARANTEE,
            parse=Number(kind=int),
            metavar="NUMBER",
            hidden=True,
        ),
    ] = None

    def __post_init__(self) -> None:
        """Raise UsageError for two kinds of levels."""
        refuse_both("risk", self.risk, "epsilon", self.epsilon)

    def cells(self, attacker: str | None = None) -> list[Cell]:
        """Return the cells; attacker: the server that attacks. Raises UsageError."""
        from dptext import profile
        from dptext.evaluation.comparison import Cell

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
        """Return the settings of the decoder: those of the attacker's server."""
        import msgspec

        from dptext import profile
        from dptext.attackers.endpoint import EndpointAttacker
        from dptext.decoders import endpoint

        keys = read_keys(self.set_ or ())
        over = keys.pop("decoder", {})
        if keys or not isinstance(over, dict) or (over and attacker is None):
            msg = "--set: compare takes decoder.KEY=VALUE, with --attacker endpoint"
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
    """Read NAME:key=value,key=value."""
    name, _, rest = text.partition(":")
    registry.find("mechanisms", name)
    keys = read_keys(filter(None, rest.split(",")), f"mechanism {name}:", "k=20")
    return {"name": name, **keys}


def _row_name(text: str, base: Part[mechanisms.Params]) -> str:
    """Name a mechanism with its settings, those of the profile among them.

    A mechanism of the same name takes them from the profile: as custext:k=50.
    """
    import msgspec

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


def command(
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="File or folder of texts to compare on."),
    ],
    *,
    selection: Annotated[Selection, Take(f"fields {FILE_LAYOUT}")],
    sample: Annotated[
        int,
        Option(
            "Number of texts to sample.",
            INPUT,
            parse=Number(kind=int, low=1),
            metavar="NUMBER",
        ),
    ] = 2000,
    grid: Grid,
    measured: Annotated[
        Measures,
        Take(
            "labels attributes classifier splits alphas encoder masked_model attacker"
        ),
    ],
    public_text: options.PublicText = None,
    jobs: Annotated[
        int | None,
        Option(
            "Cells to compute at once. Default: one per processor, at most 4. "
            "With 1, no cell slows another and speeds are comparable.",
            OUTPUT,
            parse=Number(kind=int, low=1, high=MOST_JOBS),
            metavar="NUMBER",
            short="-j",
            hidden=True,
        ),
    ] = None,
    resume: Annotated[
        Path | None,
        Option(
            "Save finished rows to this file, and continue from it.",
            OUTPUT,
            metavar="FILE",
            hidden=True,
        ),
        Writes(),
    ] = None,
    csv: Annotated[
        Path | None,
        Option("Write the table as CSV.", OUTPUT, metavar="FILE"),
        Writes(),
    ] = None,
    latex: Annotated[
        Path | None,
        Option("Write the table for LaTeX (booktabs).", OUTPUT, metavar="FILE"),
        Writes(),
    ] = None,
    figure: Annotated[
        Path | None,
        Option(
            "Write utility, or meaning, by risk as a picture: a file .svg.",
            OUTPUT,
            metavar="FILE",
            hidden=True,
        ),
        Writes(),
    ] = None,
    as_json: options.AsJson = False,
    pages: Annotated[Reports, Take("html")],
    quiet: options.Quiet = False,
) -> None:
    """Compare mechanisms on a sample of your texts: utility, attacks.

    Draws are compared: no decoder writes other words. All figures are computed from
    the private text: keep them to yourself.
    """
    from dptext.evaluation import OWNER, comparison_views, views
    from dptext.evaluation.attackers import PublicText
    from dptext.evaluation.comparison import check, read_sample
    from dptext.evaluation.settings import EvaluationSettings

    progress.enable(not quiet)
    if figure is not None and figure.suffix.lower() not in ("", ".svg"):
        raise UsageError(
            f"--figure {figure}: pictures are SVG; name a file that ends in .svg "
            "(Inkscape or rsvg-convert make PDF or PNG from it)"
        )
    # The Bayes attack and attackers of whole texts need tables of all words, minutes
    # for each cell: the risk is the success of the first, `dptext evaluate` has both.
    # With --public-text the strongest of them reads, for users who wait for it.
    settings = EvaluationSettings.begin(
        measured,
        bayes=False,
        attackers=False,
        public_text=PublicText.named(public_text, selection.fields),
    )
    settings.check()
    fields = selection.fields or ("text",)
    selection = replace(selection, fields=fields, missing="pass")
    cells = grid.cells(settings.attacker)
    from dptext.engine.files import find_files

    check(cells)
    files = find_files([file], selection.format)
    texts = read_sample(
        paths=files,
        selection=selection,
        settings=settings,
        size=sample,
        format=selection.format,
    )
    at_once = jobs or min(4, os.cpu_count() or 1)
    if settings.attacker is not None:
        # One process bounds the requests under way.
        at_once = 1
        faults.print_line(
            f"--attacker {settings.attacker} sends new draws of {len(texts.texts):,} "
            f"texts to a server, for up to {len(cells)} cells: each cell is one more "
            "release to it, and losses add up"
        )
    table = _computed(
        cells=cells, sample=texts, settings=settings, jobs=at_once, resume=resume
    )
    results = [row.result for row in table if row.result is not None]
    if not results:
        row = table[0]
        raise ComponentError(
            f"nothing could be compared; {row.mechanism}, {row.level}: {row.reason}"
        )
    known = results[0].public_text
    if known is not None and known.repeated:
        faults.print_line(views.repeated_share(known))
    page = comparison_views.comparison(table, texts.texts)
    tables = {csv: comparison_views.as_csv(table)}
    tables |= {
        latex: comparison_views.as_latex(table),
        figure: comparison_views.as_svg(table),
    }
    data = {"audience": OWNER, "texts": len(texts.texts), "rows": table}
    # A table is no use with its columns cut: lines are as long as they need be.
    screen.deliver(data, as_json, page, html=pages.html, extra_files=tables, width=110)


def _computed(
    cells: Sequence[Cell],
    sample: Sample,
    settings: EvaluationSettings,
    jobs: int,
    resume: Path | None,
) -> list[CellRow]:
    """Compute all cells, and print each; return rows in the order of the cells."""
    from dptext.evaluation import comparison, comparison_views

    progress.say(
        f"comparing cells, each a mechanism at a level: {len(cells)}; "
        f"texts: {len(sample.texts):,}"
    )
    began = time.monotonic()
    rows: dict[int, CellRow] = {}
    for cell, row in comparison.run(cells, sample, settings, jobs=jobs, resume=resume):
        rows[id(cell)] = row
        count = f"{len(rows)} of {len(cells)}"
        outcome = row.reason or comparison_views.line(row)
        if left := len(cells) - len(rows):
            pace = (time.monotonic() - began) / len(rows)
            count += f", about {progress.duration(pace * left)} left"
        progress.say(f"{count}: {cell.mechanism}, {cell.level}: {outcome}")
    return [rows[id(cell)] for cell in cells]
