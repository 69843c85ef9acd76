"""`dptext compare`: mechanisms at equal risk or epsilon on the user's own texts."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from dptext.cli import faults, options, outputs, screen
from dptext.cli.options import HIDDEN, Number, Text, Texts
from dptext.errors import ComponentError, UsageError

if TYPE_CHECKING:
    from dptext.evaluation.comparison import Cell, CellRow, Sample
    from dptext.evaluation.run import EvaluationSettings
    from dptext.types import JsonObject

MECHANISMS = ("rank", "santext", "tem", "laplace", "mahalanobis")
_RISKS = ("10%", "20%", "35%")


@dataclass(frozen=True, slots=True)
class Grid:
    """The cells to compute: mechanisms, then levels, then lexicons."""

    profile: str = "balanced"
    mechanism: Annotated[
        Texts,
        "-m",
        "Mechanism with its default parameters, or NAME:key=value,... for others; "
        "repeatable.",
    ] = None
    risk: Annotated[Texts, f"{options.RISK} Repeatable."] = None
    epsilon: Annotated[
        list[float] | None,
        Number(float, 0, above=True),
        f"{options.EPSILON} Repeatable.",
    ] = None
    lexicon: Annotated[
        Texts, HIDDEN, f"{options.LEXICON} Repeatable, to compare lexicons."
    ] = None
    set_: Annotated[
        Texts, HIDDEN, f"{options.SET} Here keys of decoder, for --attacker endpoint."
    ] = None
    seed: Annotated[int | None, HIDDEN, Number(int)] = None

    def cells(self, attacker: str | None = None) -> list[Cell]:
        """Return the cells; attacker: whose server attacks. Raises UsageError."""
        from dptext import profile
        from dptext.evaluation.comparison import Cell
        from dptext.settings import share

        if self.risk and self.epsilon:
            raise UsageError("give --risk or --epsilon, not both")
        mechanisms = [(each, _mechanism(each)) for each in self.mechanism or MECHANISMS]
        budget = {"name": "uniform", "epsilon": None, "risk": None}
        shares = [share(value, "--risk") for value in self.risk or _RISKS]
        levels = [(f"risk {each:.3g}", {**budget, "risk": each}) for each in shares]
        if self.epsilon:
            levels = [
                (f"epsilon {each:g}", {**budget, "epsilon": each})
                for each in self.epsilon
            ]
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
            for name, each in mechanisms
            for level, budget in levels
            for lexicon in self.lexicon or (profile.load(self.profile).lexicon,)
        ]

    def _decoder(self, attacker: str | None) -> JsonObject:
        """Return the settings of the decoder: those of the attacker's server."""
        import msgspec

        from dptext import profile
        from dptext.attackers.endpoint import EndpointAttacker
        from dptext.decoders import endpoint

        keys = options.parse_settings(self.set_)
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
    from dptext import registry

    name, _, rest = text.partition(":")
    registry.find("mechanisms", name)
    keys = options.parse_settings(
        filter(None, rest.split(",")), f"--mechanism {name}:", "k=20"
    )
    return {"name": name, **keys}


def command(
    file: Annotated[str, "File or folder of texts to compare on."],
    *,
    layout: options.LayoutOptions,
    sample: Annotated[int, Number(int, 1)] = 2000,
    grid: Grid,
    measured: options.Measured,
    public_text: Text = None,
    jobs: Annotated[
        int | None,
        HIDDEN,
        Number(int, 1, options.MOST_JOBS),
        "Cells to compute at once. Default: one per processor, at most 4. With 1, no "
        "cell slows another and speeds are comparable.",
    ] = None,
    resume: Annotated[
        options.File, HIDDEN, "Save finished rows to this file, and continue from it."
    ] = None,
    csv: options.File = None,
    latex: Annotated[options.File, "Write the table for LaTeX (booktabs)."] = None,
    figure: Annotated[
        options.File, HIDDEN, "Write utility, or meaning, by risk as a picture (SVG)."
    ] = None,
    as_json: bool = False,
    html: options.File = None,
    quiet: bool = False,
) -> None:
    """Compare mechanisms on a sample of your texts: quality, utility and attacks.

    Draws are compared: no decoder writes other words. All figures are computed from
    the private text: keep them to yourself.

    Example: dptext compare reviews.jsonl --label stars --risk 10% --risk 20%
    """
    from dptext import progress
    from dptext.evaluation import OWNER, comparison_views, views
    from dptext.evaluation.attackers import PublicText
    from dptext.evaluation.comparison import check, read_sample

    progress.enable(not quiet)
    # The Bayes attack and attackers of whole texts need tables of all words, minutes
    # for each cell: the risk says what the first finds, `dptext evaluate` has both.
    # With --public-text the strongest of them reads, for users who wait for it.
    settings = measured.settings(
        bayes=False,
        attackers=False,
        public_text=PublicText.named(public_text, layout.field),
    )
    settings.check()
    selection = layout.selection("text", missing="pass")
    cells = grid.cells(settings.attacker)
    check(cells)
    files = outputs.find_files([file], layout.format)
    texts = read_sample(
        paths=files,
        selection=selection,
        settings=settings,
        size=sample,
        format=layout.format,
    )
    at_once = jobs or min(4, os.cpu_count() or 1)
    if settings.attacker is not None:
        # One process bounds the requests under way.
        at_once = 1
        faults.say(
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
        faults.say(views.repeated_share(known))
    page = comparison_views.comparison(table, texts.texts)
    beside = {csv: comparison_views.as_csv(table)}
    beside |= {
        latex: comparison_views.as_latex(table),
        figure: comparison_views.as_svg(table),
    }
    data = {"audience": OWNER, "texts": len(texts.texts), "rows": table}
    # A table is no use with its columns cut: lines are as long as they need be.
    screen.deliver(data, as_json, page, html=html, beside=beside, width=110)


def _computed(
    cells: Sequence[Cell],
    sample: Sample,
    settings: EvaluationSettings,
    jobs: int,
    resume: Path | None,
) -> list[CellRow]:
    """Compute all cells, each said with its row; rows are in the order of the cells."""
    from dptext import progress
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
