"""`dptext sanitize --plan`: promise and cost of a run, before any text is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dptext import progress, streams
from dptext.cli import screen
from dptext.engine import plan
from dptext.engine.folders import Chosen, find_files
from dptext.evaluation.attackers import PublicText, read_by_halves

if TYPE_CHECKING:
    from dptext.engine.plan import Size
    from dptext.guarantees.claims import SubjectLimit
    from dptext.guarantees.statement import Statement
    from dptext.pipeline import Pipeline


def show(
    pipeline: Pipeline,
    promise: Statement,
    size: Size | None,
    public: PublicText | None,
    *,
    limits: SubjectLimit | None = None,
    dropped: Sequence[str] = (),
    pseudonyms: Sequence[str] = (),
    jobs: int,
    bayes_risk: bool | None,
    as_json: bool,
    html: Path | None,
) -> None:
    """Print a plan, with the statement of its run.

    size is that of all inputs, None where it is not known. With a public text, an
    attacker counts one half of it and reads the other half.
    """
    with progress.step("planning"):
        reading = None if public is None else read_by_halves(pipeline, public)
        result = plan.plan(
            pipeline,
            size,
            promise=promise,
            limits=limits,
            jobs=jobs,
            bayes_risk=bayes_risk,
            read=() if reading is None else (reading.attackers,),
            written=()
            if reading is None or not reading.written
            else (reading.written,),
        )
    result = replace(result, dropped=tuple(dropped), pseudonyms=tuple(pseudonyms))
    screen.deliver(result, as_json, plan.view(result), html=html)


def measure_size(
    names: Sequence[str], format: str | None, chosen: Chosen
) -> Size | None:
    """Return the size of files and folders together; None with standard input."""
    if not names or any(map(streams.is_stream, names)):
        return None
    total = packed = 0
    for name in find_files(names, format, chosen):
        size = Path(name).stat().st_size
        total += size
        # Columns of Parquet are compressed in the file, whatever its name.
        if streams.compression(name) or Path(name).suffix.lower() == ".parquet":
            packed += size
    return plan.Size(total, packed)
