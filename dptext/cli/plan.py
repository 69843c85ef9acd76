"""`dptext sanitize --plan`: promise and cost of a run, before any text is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dptext import progress, streams
from dptext.cli import screen
from dptext.engine import documents, plan
from dptext.engine.files import find_files
from dptext.engine.request import subject_limit
from dptext.evaluation.attackers import PublicText, read_by_halves

if TYPE_CHECKING:
    from dptext.cli.options import Shown
    from dptext.engine.plan import Size
    from dptext.engine.request import Request
    from dptext.run.files import Outputs
    from dptext.run.work import Keys


def show(
    request: Request,
    keys: Keys,
    public_text: str | None,
    shown: Shown,
    warn: Callable[[str], None],
) -> None:
    """Print a plan, with the statement of its run.

    With a public text, an attacker counts one half of it and reads the other half.
    """
    ready, selection = request.pipeline(warn), request.job.selection
    limits = subject_limit(request.ledger)
    promise = documents.promised(
        ready,
        "system" if keys.key_file is None else "key-file",
        identified=selection.id_field is not None,
        fields=selection.fields or None,
        subjects=limits,
        dropped=selection.dropped,
        pseudonyms=selection.pseudonyms,
    )
    job = request.job
    size = _measure_size(job.inputs, job.format, job.outputs)
    public = PublicText.named(public_text, selection.fields)
    with progress.step("planning"):
        reading = None if public is None else read_by_halves(ready, public)
        result = plan.plan(
            ready,
            size,
            promise=promise,
            limits=limits,
            jobs=job.work.jobs,
            bayes_risk=request.reports.bayes_risk,
            read=() if reading is None else (reading.attackers,),
            written=()
            if reading is None or not reading.written
            else (reading.written,),
        )
    result = replace(result, dropped=selection.dropped, pseudonyms=selection.pseudonyms)
    screen.deliver(result, shown.json, plan.view(result), html=request.reports.html)


def _measure_size(
    names: Sequence[str], format: str | None, chosen: Outputs
) -> Size | None:
    """Return the size of files and folders together; None with standard input."""
    if any(map(streams.is_stream, names)):
        return None
    total = packed = 0
    for name in find_files(names, format, chosen):
        size = Path(name).stat().st_size
        total += size
        # Columns of Parquet are compressed in the file, whatever its name.
        if streams.compression(name) or Path(name).suffix.lower() == ".parquet":
            packed += size
    return plan.Size(total, packed)
