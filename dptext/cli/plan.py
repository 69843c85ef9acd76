"""`dptext plan`: what a profile promises and costs, before any text is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from dptext.cli import options, outputs, screen

if TYPE_CHECKING:
    from dptext.report.plan import Size


def command(
    files: Annotated[
        options.Texts, "Files or folders; only their sizes are read."
    ] = None,
    *,
    profile: str = "balanced",
    changes: options.Changes,
    jobs: options.Jobs = 1,
    bayes_risk: bool = True,
    fields: options.FieldOptions,
    public_text: options.Text = None,
    field: options.Texts = None,
    as_json: bool = False,
    html: options.File = None,
    quiet: bool = False,
) -> None:
    """Before a run, show its guarantee, how much it will change and how long it takes.

    No private text is read and no budget is spent. The examples are public sentences.
    With --public-text, a reader counts one half of the file and reads the other half.

    Example: dptext plan tickets.jsonl --risk 10%
    """
    from dptext import api, progress
    from dptext.evaluation.readers import PublicText, read_by_halves
    from dptext.report import plan

    progress.enable(not quiet)
    options.check_public_text(public_text, field)
    total = _of_files(outputs.files_of(files)) if files else None
    pipeline = api.open_pipeline(changes.profile(profile), changes.overrides())
    kind = PublicText.named(public_text, field)
    with progress.step("planning"):
        found = None if kind is None else read_by_halves(pipeline, kind)
        result = plan.plan(
            pipeline,
            total,
            jobs=jobs,
            bayes_risk=bayes_risk,
            read=() if found is None else (found.readers,),
            written=() if found is None or not found.written else (found.written,),
        )
    result = replace(
        result,
        dropped=tuple(fields.drop or ()),
        pseudonyms=tuple(fields.pseudonym or ()),
    )
    screen.deliver(result, as_json, plan.view(result), html=html)


def _of_files(files: Sequence[str]) -> Size:
    """Return the size of files together."""
    from dptext import streams
    from dptext.report.plan import Size

    total = packed = 0
    for name in files:
        size = Path(name).stat().st_size
        total += size
        # Columns of Parquet are compressed in the file, whatever its name.
        if streams.compression(name) or Path(name).suffix.lower() == ".parquet":
            packed += size
    return Size(total, packed)
