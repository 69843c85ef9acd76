"""Drawing up a report: all that follows from settings, and what a run counted.

Each section draws up its own figures (dptext.report.document).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dptext import lexicons
from dptext._version import __version__
from dptext.engine.job import Job, Written
from dptext.engine.tally import Tally
from dptext.guarantees import statement
from dptext.guarantees.claims import RunTerms
from dptext.guarantees.statement import Statement
from dptext.measures.public import PublicMeasures
from dptext.pipeline import Pipeline
from dptext.randomness import ALGORITHM, RunKey
from dptext.report import names
from dptext.report.document import (
    VERSION,
    Document,
    Layout,
    Output,
    Private,
    Recorded,
    Run,
    VectorCounts,
    VectorSection,
    WordCounts,
    WordSection,
)
from dptext.settings import digest_of_data
from dptext.types import Selection
from dptext.vectors import Measures

if TYPE_CHECKING:
    from dptext.streams.outputs import OutputFile as File
    from dptext.vectors.columns import VectorWriter
    from dptext.vectors.job import Counts
    from dptext.vectors.release import VectorRelease


def promised(pipeline: Pipeline, key: str = "system", **known: Any) -> Statement:
    """Return what a run promises, known beside the pipeline (see RunTerms) or not."""
    terms = {
        "lexicon_is_custom": pipeline.profile.lexicon not in ("builtin", "english"),
        "adapted": lexicons.adapted_from(pipeline.lexicon),
        **known,
    }
    recipe, budget = pipeline.profile, pipeline.budget.description
    run = RunTerms(key=key, **terms)
    return statement.statement_of(recipe, pipeline.mechanism, budget, run)


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
    recipe, lexicon = pipeline.profile, pipeline.lexicon
    promise = promised(
        pipeline,
        key,
        lexicon_is_custom=lexicon.digest != lexicons.builtin_digest(),
        identified=layout.id_field is not None,
        fields=layout.fields,
        finder=finder,
        dropped=layout.dropped,
        pseudonyms=layout.pseudonyms,
        shuffled=layout.shuffled,
        subjects=None if recorded is None else recorded.limits,
    )
    words = WordSection.from_pipeline(
        pipeline, measures.seeded() if key == "seed" else measures
    )
    run = _run(
        settings=recipe.settings(),
        profile=names.profile_name(recipe),
        lexicon=names.lexicon_name(lexicon),
        lexicon_digest=lexicon.digest,
        key=key,
        layout=layout,
        recorded=recorded,
    )
    parts = run, promise, words, None, None, None, None
    return Document("dptext", VERSION, "public", True, *parts)


def stated_vectors(
    release: VectorRelease,
    key: str,
    layout: Layout,
    *,
    measures: Measures | None = None,
) -> Document:
    """Draw up the same of vectors; measures, where they are known already."""
    from dptext.vectors import statement as vector_statement

    promise = vector_statement.build(
        release,
        key=key,
        identified=layout.id_field is not None,
        lexicon_is_custom=release.base_digest != lexicons.builtin_digest(),
    )
    # Whoever knows the seed needs no guess.
    measured = None if key == "seed" else measures or vector_statement.measured(release)
    section = VectorSection.from_release(release, measured)
    settings = release.settings
    # The table of vectors has a digest of its own, the lexicon that of its words.
    lexicon = replace(release.lexicon, digest=release.base_digest)
    run = _run(
        settings=settings.plain(),
        profile="embed",
        lexicon=names.lexicon_name(lexicon),
        lexicon_digest=release.base_digest,
        key=key,
        layout=layout,
    )
    parts = run, promise, None, section, None, None, None
    return Document("dptext", VERSION, "public", True, *parts)


def _run(
    *,
    settings: dict[str, Any],
    profile: str,
    lexicon: str,
    lexicon_digest: str,
    key: str,
    layout: Layout,
    recorded: Recorded | None = None,
) -> Run:
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


def finished(
    pipeline: Pipeline,
    job: Job,
    key: RunKey,
    tally: Tally,
    written: Sequence[Written],
    measures: PublicMeasures,
    recorded: Recorded | None = None,
) -> Document:
    """Return the internal report of finished outputs; of several it names none."""
    layout = Layout.from_selection(
        job.selection, {each.format for each in written}, shuffled=job.shuffle
    )
    output = None
    if len(written) == 1:
        (one,) = written
        name = Path(job.output).name if job.output else None
        asked = None if one.used is None else one.used.asked
        output = Output(name, one.bytes, one.sha256, one.copied, used=asked)
    document = stated(
        pipeline=pipeline,
        key=key.origin,
        layout=layout,
        measures=measures,
        recorded=recorded,
    )
    words = WordCounts.from_tally(pipeline, tally)
    return _internal(document, Private.from_counts(job.inputs, tally, words), output)


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
    layout = Layout.from_selection(selection, {"text"} if finder else set())
    layout = replace(layout, format=None)
    document = stated(pipeline, key.origin, layout, measures, finder=finder)
    words = WordCounts.from_tally(pipeline, tally)
    return _internal(document, Private.from_counts((), tally, words), None)


def finished_vectors(
    release: VectorRelease,
    key: str,
    job: Job,
    counts: Counts,
    writer: VectorWriter,
    file: File,
) -> Document:
    """Return the internal report of a finished job; key is the run key's origin."""
    from dptext.vectors import statement as vector_statement

    claim = vector_statement.claimed(release, key)
    most = max(counts.subjects.values(), default=None)
    lost = None if most is None or claim.none else claim.together(most)
    assert job.output is not None
    assert file.digest is not None
    name = Path(job.output).name
    vectors = VectorCounts(counts.words, counts.vectors, most, lost)
    document = stated_vectors(
        release, key, Layout.from_selection(job.selection, {counts.format})
    )
    output = Output(
        file=name,
        bytes=file.size,
        sha256=file.digest,
        copied=None,
        columns=writer.names,
        rows=writer.rows,
    )
    return _internal(
        document, Private.from_counts(job.inputs, counts, None, vectors), output
    )


def with_warnings(document: Document, warnings: Sequence[str]) -> Document:
    """Return an internal report that says what its run warned of.

    Its public one does not: a warning, and whether there is none, depends on the
    private text. What stands in unchanged columns `check` finds in the file itself.
    """
    assert document.private is not None
    private = replace(document.private, warnings=tuple(warnings))
    return replace(document, private=private)


def _internal(document: Document, private: Private, output: Output | None) -> Document:
    return replace(document, audience="internal", private=private, output=output)
