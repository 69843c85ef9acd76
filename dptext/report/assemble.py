"""From a finished run to its report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from dptext import lexicons
from dptext.engines.serial import Job, Written
from dptext.engines.tally import Tally
from dptext.guarantees import account
from dptext.guarantees.statement import Statement
from dptext.measures.public import PublicMeasures
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.report.document import (
    VERSION,
    Document,
    Layout,
    Output,
    Recorded,
    describe,
    layout,
)
from dptext.report.internal import private
from dptext.types import Selection


def promised(pipeline: Pipeline, key: str = "system") -> Statement:
    """Return what a run would promise, before any input and layout is known."""
    return account.statement(
        pipeline.profile,
        pipeline.mechanism,
        pipeline.budget.description,
        key=key,
        lexicon_is_custom=pipeline.profile.lexicon not in ("builtin", "english"),
        identified=False,
        fields=None,
    )


def stated(
    pipeline: Pipeline,
    key: str,
    layout: Layout,
    measures: PublicMeasures,
    recorded: Recorded | None = None,
    *,
    finder: str = "",
) -> Document:
    """Draw up all of a report that follows from settings, lexicon and layout alone.

    `sanitize` writes it, `check` compares with it. key is the origin of the run key;
    measures are those of the pipeline; recorded, the ledger that was used, if one was;
    finder, what chose the private parts of texts.
    """
    if key == "seed":
        measures = measures.seeded()
    return Document(
        report="dptext",
        version=VERSION,
        audience="public",
        success=True,
        run=describe(pipeline, key, layout, recorded),
        guarantee=account.statement(
            pipeline.profile,
            pipeline.mechanism,
            pipeline.budget.description,
            key=key,
            lexicon_is_custom=pipeline.lexicon.digest != lexicons.builtin_digest(),
            identified=layout.id_field is not None,
            fields=layout.fields,
            finder=finder,
            detected=layout.detected,
            subjects=None if recorded is None else recorded.limits,
        ),
        risk=measures.risk,
        no_risk=measures.no_risk,
        risk_note=measures.risk_note,
        deniability=measures.deniability,
        in_context=measures.in_context,
        output=None,
        private=None,
    )


def document(
    pipeline: Pipeline,
    job: Job,
    key: RunKey,
    tally: Tally,
    written: Sequence[Written],
    measures: PublicMeasures,
    recorded: Recorded | None = None,
) -> Document:
    """Return the internal report of finished outputs; of several it names none."""
    shape = layout(job.selection, {each.format for each in written})
    return replace(
        stated(pipeline, key.origin, shape, measures, recorded),
        audience="internal",
        output=_output(job, written[0]) if len(written) == 1 else None,
        private=private(pipeline, job.inputs, tally),
    )


def called(
    pipeline: Pipeline,
    key: RunKey,
    tally: Tally,
    measures: PublicMeasures,
    selection: Selection,
    *,
    finder: str = "",
) -> Document:
    """Return the internal report of texts that a program gave and took back.

    finder names what chose the parts of the texts that are private, if anything did.
    """
    shape = layout(selection, {"text"} if finder else set())
    if finder:
        shape = replace(shape, format=None)
    return replace(
        stated(pipeline, key.origin, shape, measures, finder=finder),
        audience="internal",
        private=private(pipeline, (), tally),
    )


def _output(job: Job, written: Written) -> Output:
    name = Path(job.output).name if job.output else None
    return Output(name, written.bytes, written.sha256, written.copied)
