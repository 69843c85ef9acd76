"""`dptext evaluate`: measures the utility of a sanitized file and attacks it."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from dptext import api, formats, lexicons, pipeline, profile, progress, streams
from dptext._version import __version__
from dptext.cli import faults, options, parser, screen
from dptext.engine import source
from dptext.errors import UsageError
from dptext.evaluation import attackers, rows, views
from dptext.evaluation import run as evaluation
from dptext.evaluation.identities import IdentityFile, IdentityMeter
from dptext.evaluation.run import EvaluationSettings
from dptext.lexicons import topics
from dptext.pipeline import Pipeline
from dptext.report import document
from dptext.run import measures, work
from dptext.run.choices import Choices
from dptext.run.marks import GUARANTEE, MEASURES, Option
from dptext.run.selection import FILE_LAYOUT, Selection
from dptext.types import Lexicon

EXAMPLES = ("dptext evaluate reviews.jsonl reviews.private.jsonl --label stars",)


#: The profile that wrote the private file.
WritingProfile = Annotated[
    str | None,
    Option(
        "Profile of `dptext list`, or a .yaml file: the one that made the private "
        "file. Or its public report.",
        GUARANTEE,
        metavar="NAME",
        short="-p",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """Sensitive values to search for in private texts."""

    identities: Annotated[
        str | None,
        Option("Values that must not appear, such as names.", MEASURES, metavar="FILE"),
    ] = None
    identities_field: Annotated[
        str | None,
        Option(
            "Field or column of --identities that holds the values. Default: text.",
            MEASURES,
            metavar="NAME",
            hidden=True,
        ),
    ] = None

    def __post_init__(self) -> None:
        """Raise UsageError for a field given without a file."""
        if self.identities is None and self.identities_field is not None:
            raise UsageError("--identities-field needs --identities FILE: give both")

    @property
    def file(self) -> IdentityFile | None:
        """Return the file of values, or None. Raises OSError and UsageError."""
        if self.identities is None:
            return None
        return IdentityFile(self.identities, self.identities_field)


def command(
    original: Annotated[
        str, typer.Argument(metavar="ORIGINAL", help="The original file.")
    ],
    private: Annotated[
        str, typer.Argument(metavar="PRIVATE", help="The private file made from it.")
    ],
    *,
    selection: Annotated[
        Selection, parser.Take(f"fields {FILE_LAYOUT} id_field missing")
    ],
    profile: WritingProfile = None,
    choices: Annotated[
        Choices,
        parser.Take(
            "risk epsilon mechanism decode lexicon topics overrides", is_typed=True
        ),
    ],
    measured: measures.Measures,
    public_text: options.PublicText = None,
    values: Values,
    as_json: options.AsJson = False,
    reports: Annotated[work.Reports, parser.Take("report html")],
) -> None:
    """Compare a private file with its original: utility, attacks.

    All figures are computed from the private text: keep them to yourself. Texts are
    held in memory with --label, --attribute, --id and --masked-model.
    """
    over = choices.keys
    public = attackers.PublicText.named(public_text, selection.fields)
    settings = EvaluationSettings.begin(measured, public_text=public)
    alone = set(over) <= {"lexicon"} and settings.attacker is None and public is None
    if profile is None and not alone:
        raise UsageError(
            "settings, --attacker and --public-text need the profile that wrote the "
            "private file: give --profile"
        )
    settings.check()
    listed = values.file
    writer = None if profile is None else _writer(profile, over)
    words = _lexicon_of_words(writer, over)
    meter = None if listed is None else IdentityMeter.from_file(listed, words)
    _warn_of_sending(writer, settings.attacker)
    with progress.step("evaluating"):
        result = evaluation.evaluate(
            pairs=rows.pairs(
                original=original,
                private=private,
                selection=_with_fields(original, selection),
                values={"label": settings.labels, "attribute": settings.attributes},
            ),
            lexicon=words,
            settings=settings,
            writer=writer,
            identities=meter,
        )
    for line in views.warnings(result, meter):
        faults.print_line(line)
    data = {
        "report": "dptext-evaluation",
        "version": 1,
        "dptext": __version__,
        "original": Path(original).name,
        "private": Path(private).name,
        "lexicon": words.name,
        "lexicon_digest": words.digest,
        "profile": writer and writer.profile.name,
        "settings": writer and writer.profile.settings(),
        **msgspec.to_builtins(result),
    }
    page, text = views.evaluation(result), f"{screen.to_json(data)}\n"
    more = {reports.report: text}
    screen.deliver(data, as_json, page, html=reports.html, extra_files=more)


def _with_fields(original: str, selection: Selection) -> Selection:
    """Return the selection, by default JSON strings or the field `text`."""
    if not selection.fields:
        module = formats.find(original, selection.format)
        with contextlib.suppress(UsageError):  # for records with fields
            with streams.open_input(original, selection.encoding) as stream:
                chosen, _ = source.check_fields(module, selection, stream, original)
            if chosen.strings:
                return chosen
    return replace(selection, fields=selection.fields or ("text",))


def _writer(profile: str, over: Mapping[str, object]) -> Pipeline:
    """Prepare the settings of a profile or report."""
    if profile.endswith(work.SIDECAR):
        return _pipeline_from_report(profile, over)
    return api.open_pipeline(profile, over)


def _warn_of_sending(writer: Pipeline | None, attacker: str | None) -> None:
    """Warn that an attacker sends draws to the decoder's server."""
    sending = writer.decoder.server_attacker if writer and attacker else None
    if sending is not None and sending.name == attacker:
        faults.print_line(
            f"--attacker {attacker} sends new draws of the originals to a server: that "
            "is one more release to it, and its losses add up"
        )


def _lexicon_of_words(writer: Pipeline | None, over: Mapping[str, object]) -> Lexicon:
    """Return the word lexicon, also for texts replaced by topics."""
    if writer is not None and topics.topic_meta(writer.lexicon) is None:
        return writer.lexicon
    return lexicons.find("builtin" if writer else str(over.get("lexicon", "builtin")))


def _pipeline_from_report(path: str, over: Mapping[str, object]) -> Pipeline:
    """Prepare the settings stored in a report on words.

    Raises OSError, and UsageError for a report of vectors, for overridden settings, or
    a missing lexicon.
    """
    if over:
        raise UsageError(
            "--profile is a report, which contains all settings: leave "
            "other settings out"
        )
    run = document.decode(streams.read_small(path, "report"), path).run
    recipe = profile.resolved(run.settings, run.profile, run.lexicon)
    lexicon = lexicons.by_digest(run.lexicon_digest)
    if lexicon is None:
        raise UsageError(
            f"{path}: its lexicon (digest {run.lexicon_digest[:12]}...) is not on this "
            "machine; import it (dptext lexicon import)"
        )
    return pipeline.build(recipe, lexicon)
