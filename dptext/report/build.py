"""Drawing up a report: all that follows from settings, and what a run counted."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dptext import __version__, lexicons
from dptext.engine.job import Job, Written
from dptext.engine.tally import Tally
from dptext.guarantees import statement
from dptext.guarantees.claims import RunTerms
from dptext.guarantees.statement import Statement
from dptext.measures.public import PublicMeasures
from dptext.pipeline import Pipeline
from dptext.randomness import ALGORITHM, RunKey
from dptext.report.document import (
    VERSION,
    Document,
    Layout,
    Output,
    Private,
    ReaderFigures,
    Recorded,
    Run,
    VectorCounts,
    VectorSection,
    WordCounts,
    WordSection,
)
from dptext.tokens import kinds, lists
from dptext.tokens.policy import Policy
from dptext.types import Selection
from dptext.vectors.figures import Measures

if TYPE_CHECKING:
    from dptext.streams import Output as File
    from dptext.vectors.columns import VectorWriter
    from dptext.vectors.job import Counts
    from dptext.vectors.release import VectorRelease


def layout(selection: Selection, formats: Collection[str]) -> Layout:
    """Say how the records of outputs in these formats were read."""
    return Layout(
        format=next(iter(formats)) if len(formats) == 1 else None,
        fields=None if set(formats) == {"text"} else selection.fields,
        id_field=selection.id_field,
        missing=selection.missing,  # type: ignore[arg-type]
        delimiter=selection.delimiter,
        quoting=selection.quoting,
        header=selection.header,
        encoding=selection.encoding,
    )


def promised(pipeline: Pipeline, key: str = "system") -> Statement:
    """Return what a run would promise, before any input and layout is known."""
    return _promised(
        pipeline,
        key,
        lexicon_is_custom=pipeline.profile.lexicon not in ("builtin", "english"),
    )


def _promised(pipeline: Pipeline, key: str, **known: Any) -> Statement:
    adapted = lexicons.adapted_from(pipeline.lexicon)
    known = {"identified": False, "fields": None, "adapted": adapted, **known}
    recipe, budget = pipeline.profile, pipeline.budget.description
    run = RunTerms(key=key, **known)
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
    if key == "seed":
        measures = measures.seeded()
    promise = _promised(
        pipeline,
        key,
        lexicon_is_custom=lexicon.digest != lexicons.builtin_digest(),
        identified=layout.id_field is not None,
        fields=layout.fields,
        finder=finder,
        detected=layout.detected,
        subjects=None if recorded is None else recorded.limits,
    )
    run = Run(
        dptext=__version__,
        algorithm=ALGORITHM.decode(),
        profile=recipe.name,
        settings=recipe.settings(),
        settings_digest=recipe.digest(),
        lexicon=lexicon.name,
        lexicon_digest=lexicon.digest,
        key=key,  # type: ignore[arg-type]
        layout=layout,
        recorded=recorded,
    )
    words = WordSection(
        risk=measures.risk,
        no_risk=measures.no_risk,
        risk_note=measures.risk_note,
        deniability=measures.deniability,
        readers=ReaderFigures.of(measures.in_context),
        vocabulary=len(lexicon.words),
        dimensions=lexicon.vectors.shape[1],
        prior=str(lexicon.meta.get("prior", "not stated")),
        decoder_files=dict(pipeline.decoder.content),
        list_files=lists.digests(recipe.tokens),
    )
    return _public(run, promise, words=words)


def stated_vectors(
    release: VectorRelease,
    key: str,
    layout: Layout,
    *,
    measures: Measures | None = None,
) -> Document:
    """Draw up the same of vectors; measures, where they are known already."""
    from dptext.vectors import measures as vector_measures
    from dptext.vectors import statement as vector_statement

    settings = release.settings
    promise = vector_statement.build(
        release,
        key=key,
        identified=layout.id_field is not None,
        lexicon_is_custom=release.base_digest != lexicons.builtin_digest(),
    )
    run = Run(
        dptext=__version__,
        algorithm=ALGORITHM.decode(),
        profile=settings.recipe.name,
        settings=settings.plain(),
        settings_digest=settings.digest(),
        lexicon=release.lexicon.name,
        lexicon_digest=release.base_digest,
        key=key,  # type: ignore[arg-type]
        layout=layout,
    )
    # Whoever knows the seed needs no guess.
    measured = None if key == "seed" else measures or vector_measures.of(release)
    section = VectorSection(
        measures=measured,
        dimensions=release.dimensions,
        epsilon_each=release.epsilon,
        step=release.mechanism.step(release.epsilon),
        table_digest=release.lexicon.digest,
    )
    return _public(run, promise, vectors=section)


def _public(
    run: Run,
    promise: Statement,
    words: WordSection | None = None,
    vectors: VectorSection | None = None,
) -> Document:
    return Document(
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
    shape = layout(job.selection, {each.format for each in written})
    output = None
    if len(written) == 1:
        (one,) = written
        name = Path(job.output).name if job.output else None
        output = Output(name, one.bytes, one.sha256, one.copied, used=one.used)
    return replace(
        stated(pipeline, key.origin, shape, measures, recorded),
        audience="internal",
        output=output,
        private=_private(pipeline, job.inputs, tally),
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
        private=_private(pipeline, (), tally),
    )


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
    return replace(
        stated_vectors(release, key, layout(job.selection, {counts.format})),
        audience="internal",
        output=Output(name, file.size, file.digest, None, writer.names, writer.rows),
        private=Private(
            inputs=_shown(job.inputs),
            records=counts.records,
            faults=counts.faults,
            texts=counts.texts,
            seconds=counts.seconds,
            words=None,
            vectors=VectorCounts(counts.words, counts.vectors, most, lost),
        ),
    )


def _shown(paths: Sequence[str]) -> tuple[str, ...]:
    """Return paths as JSON can hold them: what is no UTF-8 is escaped."""
    return tuple(
        path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        for path in paths
    )


_COPIED = (kinds.STOP_WORD, kinds.UNKNOWN, kinds.IDENTIFIER, kinds.NUMBER, kinds.KEPT)
_TREATED = {
    "perturb": "replaced",
    "keep": "copied",
    "mask": "masked",
    "drop": "left out",
    "digits": "random digits",
    "form": "random of its form",
    "restore": "replaced",
}


def treatment(policy: Policy) -> dict[str, str]:
    """Say for each class of token what happens to it."""
    settings = {
        "word": "perturb",
        "number": policy.number,
        "identifier": policy.unknown,
        "punctuation": policy.punctuation,
        "space": policy.punctuation,
        "stop_word": policy.stop_word,
        "unknown": policy.unknown,
        "kept": "keep",
        "masked": "mask",
        "formed": "form",
    }
    return {name: _TREATED[value] for name, value in settings.items()}


def _private(pipeline: Pipeline, inputs: Sequence[str], tally: Tally) -> Private:
    """Return what was counted in the texts of a run."""
    counted = tally.counted
    named = {
        kinds.NAMES[kind]: int(count)
        for kind, count in enumerate(counted.tokens[: len(kinds.NAMES)])
    }
    treated = treatment(pipeline.profile.tokens)
    wordlike = sum(
        count for name, count in named.items() if name not in ("punctuation", "space")
    )
    copied = sum(
        named[kinds.NAMES[kind]]
        for kind in _COPIED
        if treated[kinds.NAMES[kind]] == "copied"
    )
    describes = "decoded words" if pipeline.profile.decoder.params.reads else ""
    if pipeline.rewrites:
        describes = "rewritten texts"
    words = WordCounts(
        tokens=named,
        treatment=treated,
        share_copied=copied / wordlike if wordlike else 0.0,
        metrics={} if pipeline.rewrites else tally.meters.results(counted),
        describes=describes or "drawn words",  # type: ignore[arg-type]
        epsilon_per_text=tally.meters.epsilons.result(counted.epsilons),
        words_per_second=counted.words / tally.seconds if tally.seconds else 0.0,
        fields=dict(tally.fields),
        used=pipeline.decoder.used,
    )
    return Private(
        inputs=_shown(inputs),
        records=tally.records,
        faults=tally.faults,
        texts=tally.texts,
        seconds=tally.seconds,
        words=words,
        vectors=None,
    )
