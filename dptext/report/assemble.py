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
    Private,
    describe,
    layout,
)
from dptext.tokens import kinds
from dptext.tokens.policy import Policy

_COPIED = (kinds.STOP_WORD, kinds.UNKNOWN, kinds.IDENTIFIER, kinds.NUMBER)
_TREATED = {
    "perturb": "replaced",
    "keep": "copied",
    "mask": "masked",
    "drop": "left out",
    "digits": "random digits",
    "restore": "replaced",
}


def promised(pipeline: Pipeline) -> Statement:
    """Return what a run would promise, before any input, layout or key is known."""
    return account.statement(
        pipeline.profile,
        pipeline.mechanism,
        pipeline.budget.description,
        key="system",
        lexicon_is_custom=pipeline.profile.lexicon not in ("builtin", "english"),
        identified=False,
        fields=None,
    )


def stated(
    pipeline: Pipeline, key: str, layout: Layout, measures: PublicMeasures
) -> Document:
    """Draw up all of a report that follows from settings, lexicon and layout alone.

    `sanitize` writes it, `check` compares with it. key is the origin of the run key;
    measures are those of the pipeline.
    """
    if key == "seed":
        measures = measures.seeded()
    return Document(
        report="dptext",
        version=VERSION,
        audience="public",
        success=True,
        run=describe(pipeline, key, layout),
        guarantee=account.statement(
            pipeline.profile,
            pipeline.mechanism,
            pipeline.budget.description,
            key=key,
            lexicon_is_custom=pipeline.lexicon.digest != lexicons.builtin_digest(),
            identified=layout.id_field is not None,
            fields=layout.fields,
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
) -> Document:
    """Return the internal report of finished outputs; of several it names none."""
    shape = layout(job.selection, {each.format for each in written})
    return replace(
        stated(pipeline, key.origin, shape, measures),
        audience="internal",
        output=_output(job, written[0]) if len(written) == 1 else None,
        private=_private(pipeline, job.inputs, tally),
    )


def _output(job: Job, written: Written) -> Output:
    name = Path(job.output).name if job.output else None
    return Output(name, written.bytes, written.sha256, written.copied)


def _shown(path: str) -> str:
    """Return a path as JSON can hold it: what is no UTF-8 is escaped."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


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
    }
    return {name: _TREATED[value] for name, value in settings.items()}


def _private(pipeline: Pipeline, inputs: Sequence[str], tally: Tally) -> Private:
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
    return Private(
        inputs=tuple(map(_shown, inputs)),
        records=tally.records,
        faults=tally.faults,
        texts=tally.texts,
        tokens=named,
        treatment=treated,
        share_copied=copied / wordlike if wordlike else 0.0,
        metrics=tally.meters.results(counted),
        describes=(
            "decoded words" if pipeline.profile.decoder.params.reads else "drawn words"
        ),
        epsilon_per_text=tally.meters.epsilons.result(counted.epsilons),
        seconds=tally.seconds,
        words_per_second=counted.words / tally.seconds if tally.seconds else 0.0,
        fields=dict(tally.fields),
    )
