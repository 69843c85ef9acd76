"""`dptext evaluate`: utility of a private file, and attacks on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dptext import progress
from dptext._version import __version__
from dptext.cli import faults, options, screen
from dptext.cli.parser import Take
from dptext.errors import UsageError
from dptext.run.choices import Choices
from dptext.run.files import Reports
from dptext.run.marks import GUARANTEE, MEASURES, Option
from dptext.run.measures import Measures
from dptext.run.selection import FILE_LAYOUT, Selection

if TYPE_CHECKING:
    from dptext.pipeline import Pipeline


EXAMPLES = ("dptext evaluate reviews.jsonl reviews.private.jsonl --label stars",)


def command(
    original: Annotated[
        str, typer.Argument(metavar="ORIGINAL", help="The original file.")
    ],
    private: Annotated[
        str,
        typer.Argument(metavar="PRIVATE", help="The private file made from it."),
    ],
    *,
    selection: Annotated[Selection, Take(f"fields {FILE_LAYOUT} id_field")],
    profile: Annotated[
        str | None,
        Option(
            "Profile of `dptext list`, or a .yaml file. The one that made the "
            "private file; or its public report.",
            GUARANTEE,
            metavar="NAME",
            short="-p",
        ),
    ] = None,
    choices: Annotated[
        Choices,
        Take("risk epsilon mechanism decode lexicon topics overrides", is_typed=True),
    ],
    measured: Measures,
    public_text: options.PublicText = None,
    identities: Annotated[
        str | None,
        Option("Values that must not appear, such as names.", MEASURES, metavar="FILE"),
    ] = None,
    identities_field: Annotated[
        str | None,
        Option(
            "Field or column of --identities with the values. Default: text.",
            MEASURES,
            metavar="NAME",
            hidden=True,
        ),
    ] = None,
    as_json: options.AsJson = False,
    reports: Annotated[Reports, Take("report html")],
) -> None:
    """Compare a private file with its original: utility, attacks.

    All figures are computed from the private text: keep them to yourself. Texts are
    held in memory with --label, --attribute, --id and --masked-model.
    """
    import msgspec

    from dptext import calls, lexicons
    from dptext.evaluation import rows, views
    from dptext.evaluation import run as evaluation
    from dptext.evaluation.attackers import PublicText
    from dptext.evaluation.identities import IdentityFile, IdentityMeter
    from dptext.evaluation.settings import EvaluationSettings
    from dptext.lexicons import topics
    from dptext.run.files import SIDECAR

    over = choices.keys
    public = PublicText.named(public_text, selection.fields)
    settings = EvaluationSettings.begin(measured, public_text=public)
    attacker = settings.attacker
    selection = replace(selection, fields=selection.fields or ("text",))
    alone = set(over) <= {"lexicon"} and attacker is None and public is None
    if profile is None and not alone:
        raise UsageError(
            "settings, --attacker and --public-text go with the profile that wrote the "
            "private file: give --profile, too"
        )
    settings.check()
    if identities is None and identities_field is not None:
        raise UsageError("--identities-field goes with --identities FILE")
    values = None if identities is None else IdentityFile(identities, identities_field)
    writer = None
    if profile is not None:
        is_report = profile.endswith(SIDECAR)
        writer = (
            _pipeline_from_report(profile, over)
            if is_report
            else calls.open_pipeline(profile, over)
        )
    if writer is None or topics.topic_meta(writer.lexicon) is not None:
        # Texts are read by words, also where whole ones became topics.
        named = "builtin" if writer else str(over.get("lexicon", "builtin"))
        words = lexicons.find(named)
    else:
        words = writer.lexicon
    pairs = rows.pairs(
        original=original,
        private=private,
        selection=selection,
        values={"label": settings.labels, "attribute": settings.attributes},
        format=selection.format,
    )
    meter = None if values is None else IdentityMeter.from_file(values, words)
    sending = writer.decoder.server_attacker if writer and attacker else None
    if sending is not None and sending.name == attacker:
        faults.print_line(
            f"--attacker {attacker} sends new draws of the originals to a server: that "
            "is one more release to it, and its losses add up"
        )
    with progress.step("evaluating"):
        result = evaluation.evaluate(
            pairs=pairs,
            lexicon=words,
            settings=settings,
            writer=writer,
            identities=meter,
        )
    if result.public_text is not None and result.public_text.repeated:
        faults.print_line(views.repeated_share(result.public_text))
    for line in views.identity_records(meter) if meter else ():
        faults.print_line(line)
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
    files = {reports.report: f"{screen.to_json(data)}\n"}
    screen.deliver(
        data, as_json, views.evaluation(result), html=reports.html, extra_files=files
    )


def _pipeline_from_report(path: str, over: Mapping[str, object]) -> Pipeline:
    """Make the settings ready that a report of words carries.

    Raises OSError, and UsageError for a report of vectors, for changes of it, or a
    lexicon that is not here.
    """
    from dptext import lexicons, pipeline, profile
    from dptext.report import document
    from dptext.streams import read_small

    if over:
        raise UsageError("--profile is a report: leave out settings, it has them all")
    run = document.decode(read_small(path, "report"), path).run
    recipe = profile.resolved(run.settings, run.profile, run.lexicon)
    lexicon = lexicons.by_digest(run.lexicon_digest)
    if lexicon is None:
        raise UsageError(
            f"{path}: its lexicon (digest {run.lexicon_digest[:12]}...) is not on this "
            "machine; import it (dptext lexicon import)"
        )
    return pipeline.build(recipe, lexicon)
