"""`dptext calibrate`: the epsilon of a mechanism, or of all, at one risk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dptext.cli import options, screen
from dptext.cli.options import overrides
from dptext.errors import UsageError

if TYPE_CHECKING:
    from dptext.evaluation.readers import PublicText
    from dptext.profile import Profile
    from dptext.types import Lexicon


def command(
    risk: Annotated[str, typer.Option(help=options.RISK)],
    profile: options.ProfileArgument = "balanced",
    mechanism: Annotated[
        str | None,
        typer.Option(help="Mechanism with its default parameters, or all of them."),
    ] = None,
    lexicon: options.Lexicon = None,
    set_: options.Set = None,
    reader: Annotated[
        str | None,
        typer.Option(
            help="With --public-text: the risk is how often this reader of whole texts "
            "finds a word, such as ngram. Default: same-kind, which counts one half of "
            "the public texts and reads the other half."
        ),
    ] = None,
    public_text: options.PublicTextFile = None,
    field: options.Fields = None,
    as_json: options.Json = False,
) -> None:
    """Find the epsilon of a mechanism for a given risk.

    All other settings are those of the profile. With --mechanism all, mechanisms that
    cannot be calibrated are listed with the reason. No text is read, except that of
    --public-text: then the risk is how often a reader of these texts finds a word in
    context, by the upper limit of a 95% interval. A better reader finds more.

    Example: dptext calibrate --risk 25% --public-text old-tickets.jsonl
    """
    from dptext import lexicons, progress
    from dptext import profile as profiles
    from dptext.evaluation.readers import PublicText
    from dptext.measures.context_risk import SAME_KIND
    from dptext.report import calibration

    every = mechanism == "all"
    over = overrides(
        risk=risk,
        mechanism=None if every else mechanism,
        lexicon=lexicon,
        settings=set_,
    )
    recipe = profiles.load(profile, over)
    target = calibration.risk_of(recipe)
    opened = lexicons.find(recipe.lexicon)
    kind = PublicText.named(public_text, field)
    if kind is not None:
        _read(recipe, opened, target, reader or SAME_KIND, kind, as_json)
        return
    if reader is not None:
        raise UsageError("--reader goes with --public-text: what it reads")
    rows = []
    if every:
        for row in calibration.every_mechanism(profile, over, opened):
            progress.say(calibration.line(row))
            rows.append(row)
    else:
        rows.append(calibration.calibrated(recipe, opened))
        progress.say(calibration.line(rows[0]))
    if not as_json:
        screen.show(*calibration.view(recipe, target, rows))
        return
    screen.print_json(
        {
            "profile": recipe.name,
            "target": target,
            "lexicon": opened.name,
            "lexicon_digest": opened.digest,
            "rows": rows,
        }
    )


def _read(
    recipe: Profile,
    opened: Lexicon,
    target: float,
    reader: str,
    public: PublicText,
    as_json: bool,
) -> None:
    """Find the epsilon at which a reader reaches the target, and print it."""
    from dptext import progress
    from dptext.evaluation.readers import calibrated
    from dptext.evaluation.views import readers_table
    from dptext.measures.context_risk import AT_LEAST
    from dptext.report.blocks import Paragraph

    with progress.step(f"looking for the epsilon at which {reader} reaches the risk"):
        epsilon, reading = calibrated(recipe, opened, target, reader, public)
    result = {
        "profile": recipe.name,
        "target": target,
        "lexicon": opened.name,
        "lexicon_digest": opened.digest,
        "text": public.name,
        "text_sha256": public.digest,
        "epsilon": epsilon,
        "reading": reading,
    }
    if as_json:
        screen.print_json(result)
        return
    said = f"epsilon {epsilon:.4g}: {reading.reader} finds in {public.name}"
    table = readers_table(reading)
    screen.show(Paragraph(said), table, Paragraph(AT_LEAST, "note"))
