"""Builds reports from settings, public measurements and the counts of a run.

Each section computes its own figures (dptext.report.sections).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from dptext import lexicons
from dptext._version import __version__
from dptext.engine.job import Job, Written
from dptext.engine.tally import Tally
from dptext.guarantees import statement
from dptext.guarantees.claims import RunTerms
from dptext.guarantees.statement import Statement
from dptext.measures.public import PublicMeasures, measure_deniability
from dptext.pipeline import Pipeline
from dptext.randomness import ALGORITHM, RunKey
from dptext.report import names
from dptext.report.document import VERSION, Document
from dptext.report.layout import Layout
from dptext.report.notebook import Report
from dptext.report.sections import (
    Output,
    Private,
    Recorded,
    Run,
    VectorSection,
    WordCounts,
    WordSection,
)
from dptext.run.selection import Selection
from dptext.settings import digest_of_data
from dptext.types import JsonObject

Internal = TypeVar("Internal", bound=Document)
_NO_FIELDS = Layout(format=None, fields=None)


def promised(
    pipeline: Pipeline,
    key: str = "system",
    layout: Layout = _NO_FIELDS,
    **known: Any,
) -> Statement:
    """Return the statement of a run.

    known: terms that follow neither from the pipeline nor from the layout of records
    (see RunTerms).
    """
    terms = {
        "lexicon_is_custom": pipeline.profile.lexicon not in ("builtin", "english"),
        "adapted": lexicons.adapted_from(pipeline.lexicon),
        **known,
    }
    recipe, budget = pipeline.profile, pipeline.budget.description
    run = RunTerms(
        key=key,
        identified=layout.id_field is not None,
        fields=layout.fields,
        dropped=layout.dropped,
        replaced=layout.replaced,
        shuffled=layout.shuffled,
        **terms,
    )
    return statement.run_statement(recipe, pipeline.mechanism, budget, run)


def stated(
    pipeline: Pipeline,
    key: str,
    layout: Layout,
    measures: PublicMeasures,
    recorded: Recorded | None = None,
    *,
    finder: str = "",
) -> Report:
    """Build the report sections that depend only on settings, lexicon and layout.

    `sanitize` writes them, `check` compares with them. key: origin of the run key;
    measures: of the pipeline; recorded: the ledger, if there is one; finder: name
    of the component that chose the private parts of texts.
    """
    recipe, lexicon = pipeline.profile, pipeline.lexicon
    promise = promised(
        pipeline,
        key,
        layout,
        lexicon_is_custom=lexicon.digest != lexicons.builtin_digest(),
        finder=finder,
        subjects=None if recorded is None else recorded.limits,
    )
    words = WordSection.from_pipeline(
        pipeline, measures.seeded() if key == "seed" else measures
    )
    run = run_section(
        settings=recipe.settings(),
        profile=names.profile_name(recipe),
        lexicon=names.lexicon_name(lexicon),
        lexicon_digest=lexicon.digest,
        key=key,
        layout=layout,
        recorded=recorded,
    )
    return public_report(run, promise, words=words)


def public_report(
    run: Run,
    promise: Statement,
    *,
    words: WordSection | None = None,
    vectors: VectorSection | None = None,
) -> Report:
    """Return a public report of words or of vectors, without its output."""
    return Report(
        report="dptext",
        version=VERSION,
        audience="public",
        success=True,
        run=run,
        guarantee=promise,
        words=words,
        vectors=vectors,
        output=None,
        private=None,
        signature=None,
    )


def run_section(
    *,
    settings: JsonObject,
    profile: str,
    lexicon: str,
    lexicon_digest: str,
    key: str,
    layout: Layout,
    recorded: Recorded | None = None,
) -> Run:
    """Return the report section on the run, with the versions of dptext."""
    return Run(
        dptext=__version__,
        algorithm=ALGORITHM.decode(),
        profile=profile,
        settings=settings,
        settings_digest=digest_of_data(settings),
        lexicon=lexicon,
        lexicon_digest=lexicon_digest,
        key=key,  # type: ignore[arg-type]
        layout=layout,
        recorded=recorded,
    )


def released(
    pipeline: Pipeline,
    job: Job,
    key: RunKey,
    written: Sequence[Written],
    measures: PublicMeasures,
    recorded: Recorded | None = None,
) -> Report:
    """Return the report of outputs without counts; it names a single one only."""
    layout = Layout.from_selection(
        job.selection, {each.format for each in written}, shuffled=job.outputs.shuffle
    )
    document = stated(
        pipeline=pipeline,
        key=key.origin,
        layout=layout,
        measures=measures,
        recorded=recorded,
    )
    return replace(document, output=only_output(job, written))


def counted(
    document: Report, pipeline: Pipeline, tally: Tally, inputs: Sequence[str] = ()
) -> Report:
    """Return the internal report of a run: with its counts, and with N_w and S_w."""
    assert document.words is not None
    return replace(
        document,
        audience="internal",
        words=replace(document.words, deniability=measure_deniability(pipeline)),
        private=Private.from_counts(
            inputs, tally, WordCounts.from_tally(pipeline, tally)
        ),
    )


def only_output(job: Job, written: Sequence[Written]) -> Output | None:
    """Return the section on the output, None if there are several."""
    if len(written) != 1:
        return None
    (one,) = written
    return Output(
        file=Path(job.output).name if job.output else None,
        bytes=one.bytes,
        sha256=one.sha256,
        copied=one.copied,
        sheets=one.sheets,
        columns=one.columns,
        rows=one.rows,
        used=None if one.used is None else one.used.asked,
    )


def called(
    pipeline: Pipeline,
    key: RunKey,
    tally: Tally,
    measures: PublicMeasures,
    selection: Selection | None = None,
    *,
    finder: str = "",
) -> Report:
    """Return the internal report on texts passed in memory by a program.

    selection: the columns of a table, None for texts without one; finder: name of the
    component that chose the private parts of texts, or "".
    """
    formats = {"text"} if selection is None else set()
    layout = Layout.from_selection(selection or Selection(), formats)
    layout = replace(layout, format=None)
    document = stated(pipeline, key.origin, layout, measures, finder=finder)
    return counted(document, pipeline, tally)


def with_warnings(document: Internal, warnings: Sequence[str]) -> Internal:
    """Return an internal report with the warnings of its run.

    The public report has no warnings, as even their absence depends on the private
    text. `check` looks at unchanged columns in the file itself.
    """
    assert document.private is not None
    private = replace(document.private, warnings=tuple(warnings))
    return replace(document, private=private)
