"""`dptext compare`: mechanisms at equal risk or epsilon on the user's own texts."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
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


def command(
    file: Annotated[str, "File or folder of texts to compare on."],
    *,
    layout: options.LayoutOptions,
    sample: Annotated[int, Number(int, 1)] = 2000,
    profile: str = "balanced",
    mechanism: Annotated[
        Texts,
        "-m",
        "Mechanism with its default parameters, or NAME:key=value,... for others; "
        "repeatable.",
    ] = None,
    risk: Annotated[Texts, f"{options.RISK} Repeatable."] = None,
    epsilon: Annotated[
        list[float] | None,
        Number(float, 0, above=True),
        f"{options.EPSILON} Repeatable.",
    ] = None,
    lexicon: Annotated[
        Texts, HIDDEN, f"{options.LEXICON} Repeatable, to compare lexicons."
    ] = None,
    set_: Annotated[
        Texts, HIDDEN, f"{options.SET} Here keys of decoder, for --reader endpoint."
    ] = None,
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
    as_json: bool = False,
    html: options.File = None,
    quiet: bool = False,
) -> None:
    """Compare mechanisms on a sample of your texts: quality, utility and attacks.

    Words are written as drawn. All figures are computed from the private text: keep
    them to yourself.

    Example: dptext compare reviews.jsonl --label stars --risk 10% --risk 20%
    """
    from dptext import progress
    from dptext.evaluation import OWNER, views
    from dptext.evaluation.comparison import read_sample
    from dptext.evaluation.readers import PublicText

    progress.on(not quiet)
    # The Bayes attack and readers of whole texts need tables of all words, minutes for
    # each cell: the risk says what the first finds, `dptext evaluate` has both. With
    # --public-text the strongest of them reads, for users who wait for it.
    settings = measured.settings(
        bayes=False,
        readers=False,
        public_text=PublicText.named(public_text, layout.field),
    )
    settings.check()
    selection = layout.selection("text", missing="pass")
    levels = _levels(risk or (), epsilon or ())
    decoder = _decoder(profile, settings.reader, set_)
    grid = cells(profile, mechanism or MECHANISMS, levels, lexicon or (), decoder)
    files = outputs.files_of([file], layout.format)
    texts = read_sample(files, selection, settings, sample, layout.format)
    at_once = jobs or min(4, os.cpu_count() or 1)
    if settings.reader is not None:
        # One process bounds the requests under way.
        at_once = 1
        faults.say(
            f"--reader {settings.reader} sends new draws of {len(texts.texts):,} texts "
            f"to a server, for up to {len(grid)} cells: each cell is one more release "
            "to it, and losses add up"
        )
    table = _computed(grid, texts, settings, at_once, resume)
    results = [row.result for row in table if row.result is not None]
    if not results:
        row = table[0]
        raise ComponentError(
            f"nothing could be compared; {row.mechanism}, {row.level}: {row.reason}"
        )
    known = results[0].public_text
    if known is not None and known.repeated:
        faults.say(views.repeated(known))
    page = views.comparison(table, texts.texts)
    if csv is not None:
        screen.write_file(csv, views.as_csv(table).encode())
    data = {"audience": OWNER, "texts": len(texts.texts), "rows": table}
    # A table is no use with its columns cut: lines are as long as they need be.
    screen.deliver(data, as_json, page, html=html, width=110)


def _levels(
    risks: Sequence[str], epsilons: Sequence[float]
) -> list[tuple[str, JsonObject]]:
    """Return the name and the budget of each level."""
    if risks and epsilons:
        raise UsageError("give --risk or --epsilon, not both")
    budget = {"name": "uniform", "epsilon": None, "risk": None}
    if epsilons:
        return [(f"epsilon {each:g}", {**budget, "epsilon": each}) for each in epsilons]
    from dptext.settings import share

    shares = [share(value, "--risk") for value in risks or _RISKS]
    return [(f"risk {each:.3g}", {**budget, "risk": each}) for each in shares]


def _decoder(
    name: str, reader: str | None, changes: Sequence[str] | None
) -> JsonObject | None:
    """Return the settings of the decoder whose server attacks, None without --reader.

    name: the profile's, over which changes of its decoder are laid. Raises UsageError
    and MissingExtra before anything is read.
    """
    import msgspec

    from dptext import profile
    from dptext.decoders import endpoint
    from dptext.readers.endpoint import EndpointReader

    keys = options.keys_of(changes)
    over = keys.pop("decoder", {})
    if keys or not isinstance(over, dict) or (over and reader is None):
        msg = "--set: compare takes decoder.KEY=VALUE, with --reader endpoint"
        raise UsageError(msg)
    if reader is None:
        return None
    if reader != EndpointReader.name:
        raise UsageError(f"--reader {reader}: compare takes endpoint")
    over = {"decoder": {**over, "name": reader}}
    params = profile.load(name, over).decoder.params
    assert isinstance(params, endpoint.Params)
    params.server()
    return {"name": reader, **msgspec.to_builtins(params)}


def cells(
    name: str,
    mechanisms: Sequence[str],
    levels: Sequence[tuple[str, JsonObject]],
    lexicons: Sequence[str],
    decoder: JsonObject | None = None,
) -> list[Cell]:
    """Return the grid: mechanisms, then levels, then lexicons; name: the profile's.

    decoder: whose server attacks, not one that writes.
    """
    from dptext import profile
    from dptext.evaluation.comparison import Cell

    parts = {"mapping": None, "decoder": decoder or {"name": "none"}}
    names = lexicons or (profile.load(name).lexicon,)
    return [
        Cell(
            *(each, level, lexicon, name),
            {**parts, **_mechanism(each), "budget": budget, "lexicon": lexicon},
        )
        for each in mechanisms
        for level, budget in levels
        for lexicon in names
    ]


def _mechanism(text: str) -> JsonObject:
    """Read NAME:key=value,key=value."""
    from dptext.settings import read_value

    name, _, rest = text.partition(":")
    settings: JsonObject = {"name": name}
    for part in filter(None, rest.split(",")):
        key, equals, value = part.partition("=")
        if not equals:
            raise UsageError(f"--mechanism {text}: write NAME:key=value,key=value")
        settings[key] = read_value(value)
    return {"mechanism": settings}


def _computed(
    grid: Sequence[Cell],
    sample: Sample,
    settings: EvaluationSettings,
    jobs: int,
    resume: Path | None,
) -> list[CellRow]:
    """Compute all cells, each said with its row; rows are in the order of the cells."""
    from dptext import progress
    from dptext.evaluation import comparison, views

    progress.say(
        f"comparing cells, each a mechanism at a level: {len(grid)}; "
        f"texts: {len(sample.texts):,}"
    )
    began = time.monotonic()
    rows: dict[int, CellRow] = {}
    for cell, row in comparison.run(grid, sample, settings, jobs=jobs, resume=resume):
        rows[id(cell)] = row
        count = f"{len(rows)} of {len(grid)}"
        outcome = row.reason or views.line(row)
        if left := len(grid) - len(rows):
            pace = (time.monotonic() - began) / len(rows)
            count += f", about {progress.duration(pace * left)} left"
        progress.say(f"{count}: {cell.mechanism}, {cell.level}: {outcome}")
    return [rows[id(cell)] for cell in grid]
