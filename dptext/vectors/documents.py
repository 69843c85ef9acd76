"""Builds reports of vectors, as dptext.engine.documents does those of words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from dptext import lexicons
from dptext.engine import documents
from dptext.engine.job import Job
from dptext.measures.vector_figures import VectorMeasures
from dptext.report import names
from dptext.report.layout import Layout
from dptext.report.notebook import Report
from dptext.report.sections import Output, Private, VectorCounts, VectorSection
from dptext.streams.outputs import OutputFile
from dptext.vectors import statement
from dptext.vectors.columns import VectorWriter
from dptext.vectors.counts import Counts
from dptext.vectors.release import VectorRelease


def stated(
    release: VectorRelease,
    key: str,
    layout: Layout,
    *,
    measures: VectorMeasures | None = None,
) -> Report:
    """Build the part of a report that follows from settings, lexicon and layout alone.

    Measures are computed unless they are given.
    """
    promise = statement.build(
        release,
        key=key,
        identified=layout.id_field is not None,
        lexicon_is_custom=release.base_digest != lexicons.builtin_digest(),
    )
    # With the seed every draw can be repeated: there is nothing left to guess.
    measured = None if key == "seed" else measures or statement.measure(release)
    section = VectorSection.from_release(release, measured)
    settings = release.settings
    # A report names the lexicon by its words; the section holds the digest of vectors.
    lexicon = replace(release.lexicon, digest=release.base_digest)
    run = documents.run_section(
        settings=settings.plain(),
        profile="embed",
        lexicon=names.lexicon_name(lexicon),
        lexicon_digest=release.base_digest,
        key=key,
        layout=layout,
    )
    return documents.public_report(run, promise, vectors=section)


def finished(
    release: VectorRelease,
    key: str,
    job: Job,
    counts: Counts,
    writer: VectorWriter,
    file: OutputFile,
) -> Report:
    """Return the internal report of a finished job; key is the run key's origin."""
    claim = statement.make_claim(release, key)
    most = max(counts.subjects.values(), default=None)
    total = None if most is None or claim.none else claim.together(most)
    assert job.output is not None
    assert file.digest is not None
    name = Path(job.output).name
    vectors = VectorCounts(counts.words, counts.vectors, most, total)
    document = stated(
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
    return documents.internal(
        document, Private.from_counts(job.inputs, counts, None, vectors), output
    )
